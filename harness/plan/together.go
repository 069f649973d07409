package plan

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/stage"
)

// together runs f for clients 1 to n from one barrier. Where a COMMIT is to be
// held the order is fixed: client 1 goes ahead until its COMMIT is held, the
// others come after that, and it is let go when they are back or wait for it.
func (y *play) together(ctx context.Context, j *job, n int, f func(ctx context.Context, i int)) {
	held := j.commit
	j.commit = nil
	if held == nil {
		all(1, n, func(i int) { f(ctx, i) })
		return
	}
	var first sync.WaitGroup
	alone, back := context.WithCancel(ctx)
	first.Go(func() {
		defer back() // it never came to a COMMIT
		f(ctx, 1)
	})
	_ = held.Await(alone)
	var gate sync.WaitGroup
	var others atomic.Int64
	gate.Go(func() { y.letGo(alone, held, n-1, &others) })
	all(2, n, func(i int) {
		defer others.Add(1)
		f(ctx, i)
	})
	gate.Wait()
	first.Wait()
}

// all runs f for from to n at once.
func all(from, n int, f func(i int)) {
	barrier := make(chan struct{})
	var clients sync.WaitGroup
	for i := from; i <= n; i++ {
		clients.Go(func() {
			<-barrier
			f(i)
		})
	}
	close(barrier)
	clients.Wait()
}

// behind counts who waits for a backend, directly or behind others.
const behind = `
	WITH RECURSIVE behind(pid) AS (
		SELECT pid FROM pg_stat_activity
		WHERE  wait_event_type = 'Lock' AND $1::int = ANY (pg_blocking_pids(pid))
		UNION
		SELECT a.pid FROM pg_stat_activity a, behind b
		WHERE  a.wait_event_type = 'Lock' AND b.pid = ANY (pg_blocking_pids(a.pid))
	)
	SELECT count(*) FROM behind`

// letGo lets a held COMMIT go when n others are back or wait for it.
func (y *play) letGo(ctx context.Context, held *fault.Transaction, n int, back *atomic.Int64) {
	defer held.Release()
	if !held.Fired() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, toCome)
	defer cancel()
	rows := y.w.Rows().Reader()
	defer rows.Close(ctx)
	_ = stage.Until(ctx, "the other clients are back or wait for a lock", func(ctx context.Context) (bool, error) {
		waiting, err := rows.Count(ctx, behind, held.Backend())
		return int(back.Load())+waiting >= n, err
	})
}
