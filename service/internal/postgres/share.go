package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// sharedReads are reads of one key each that several submits wait for. Who comes
// while a read of the key is in the air does not take its answer, which may be older
// than the question: all who came meanwhile share the next read.
type sharedReads struct {
	mu  sync.Mutex
	air map[ownedKey]*sharedRead // the keys that are being read, each with the read that comes next, or nil
}

// sharedRead is a read that has not begun. done is closed when the fields below it
// are filled.
type sharedRead struct {
	done chan struct{}
	jobs []stored
	err  error
}

// readByKey reads the job of a key; none where there is no such job.
//
// Nobody is held up for longer than toShareAWait: after that the next read begins
// beside one that is still in the air. A shared read that failed says nothing to
// those who waited for it, and each reads for itself.
func (s *Store) readByKey(ctx context.Context, k ownedKey) ([]stored, error) {
	if s.options.Tracer != nil {
		return s.readAlone(ctx, k)
	}
	next, first := s.reads.join(k)
	if first {
		defer s.onRead(k)()
		return s.readAlone(ctx, k)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-next.done:
	}
	if next.err != nil {
		return s.readAlone(ctx, k)
	}
	return next.jobs, nil
}

func (s *Store) readAlone(ctx context.Context, k ownedKey) (jobs []stored, err error) {
	err = s.read(ctx, &query{sql: jobByKey, args: pgx.NamedArgs{"owner": k.owner, "key": k.key}, read: readJobs(&jobs)})
	return jobs, err
}

// join returns the read to wait for, or that the caller is first and reads itself.
func (r *sharedReads) join(k ownedKey) (next *sharedRead, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, inAir := r.air[k]
	switch {
	case !inAir:
		if r.air == nil {
			r.air = map[ownedKey]*sharedRead{}
		}
		r.air[k] = nil
		return nil, true
	case next == nil:
		next = &sharedRead{done: make(chan struct{})}
		r.air[k] = next
	}
	return next, false
}

// landed takes the read that begins now, nil when nobody waits for one.
func (r *sharedReads) landed(k ownedKey) *sharedRead {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.air[k]
	if next == nil {
		delete(r.air, k)
		return nil
	}
	r.air[k] = nil
	return next
}

// onRead returns what is to be called when a read of k has ended: the next begins.
func (s *Store) onRead(k ownedKey) func() {
	return turn(func() func() {
		next := s.reads.landed(k)
		if next == nil {
			return nil
		}
		return func() {
			ctx, cancel := context.WithTimeout(context.Background(), s.options.Patience)
			defer cancel()
			next.jobs, next.err = s.readAlone(ctx, k)
			close(next.done)
		}
	})
}
