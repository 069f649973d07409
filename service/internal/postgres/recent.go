package postgres

import (
	"context"
	"sync"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// recentKeys are idempotency keys that this process has lately seen stored. A key
// that is taken stays taken, so a submit of one of them need not try to insert: it
// reads what is there. It is a hint only; what it forgets costs an insert that
// does nothing.
type recentKeys struct {
	mu         sync.Mutex
	young, old map[ownedKey]struct{}
}

type ownedKey struct {
	owner job.Owner
	key   job.Key
}

// generation is how many keys are remembered at least, and half of the most.
const generation = 4096

func (r *recentKeys) has(owner job.Owner, key job.Key) bool {
	k := ownedKey{owner, key}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.young[k]; ok {
		return true
	}
	_, ok := r.old[k]
	return ok
}

func (r *recentKeys) note(owner job.Owner, key job.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young) >= generation {
		r.young, r.old = make(map[ownedKey]struct{}, generation), r.young
	}
	r.young[ownedKey{owner, key}] = struct{}{}
}

// lookUpRecent reads the job of a key that was lately seen stored. It finds nothing
// where the database has lost it since, or was put back: then the submit goes on.
func (s *Store) lookUpRecent(ctx context.Context, in job.Submission) (*look, error) {
	if !s.recent.has(in.Owner, in.Key) {
		return nil, nil
	}
	jobs, err := s.readByKey(ctx, ownedKey{in.Owner, in.Key})
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	return &look{&jobs[0]}, nil
}
