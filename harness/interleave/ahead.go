package interleave

import (
	"context"
	"errors"
	"sync"
)

// scenes prepares the jobs of one set ahead: to wait for a deadline takes longer than
// to play a schedule.
type scenes struct {
	e      *explorer
	stop   context.CancelFunc
	ready  chan *scene
	failed chan error
	makers sync.WaitGroup
}

func (e *explorer) ahead(ctx context.Context, set Set) *scenes {
	ctx, stop := context.WithCancel(ctx)
	n := max(1, e.o.Ahead)
	s := &scenes{e: e, stop: stop, ready: make(chan *scene), failed: make(chan error, n)}
	for range n {
		s.makers.Go(func() { s.make(ctx, set) })
	}
	return s
}

func (s *scenes) make(ctx context.Context, set Set) {
	for ctx.Err() == nil {
		sc, err := prepare(ctx, s.e.o.Stage, set)
		if err != nil {
			if ctx.Err() == nil {
				s.failed <- err
			}
			return
		}
		g := s.e.gate
		g.mu.Lock()
		g.resting[sc] = namesOf(sc.names)
		g.mu.Unlock()
		select {
		case s.ready <- sc:
		case <-ctx.Done():
			g.mu.Lock()
			delete(g.resting, sc)
			g.mu.Unlock()
			if err := sc.leave(); err != nil {
				s.failed <- err
			}
			return
		}
	}
}

// take returns a job that is ready.
func (s *scenes) take(ctx context.Context) (*scene, error) {
	select {
	case sc := <-s.ready:
		return sc, nil
	case err := <-s.failed:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// close leaves the jobs that nobody took.
func (s *scenes) close() error {
	s.stop()
	s.makers.Wait()
	close(s.failed)
	var failed error
	for err := range s.failed {
		failed = errors.Join(failed, err)
	}
	return failed
}
