package interleave

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Waits of the scheduler between two looks at who waits for whom.
const (
	firstLook = 100 * time.Microsecond
	lastLook  = 2 * time.Millisecond
	idleLook  = 20 * time.Millisecond // where nobody is known to hold a lock
)

// wake settles those who waited, for as long as somebody lets locks go.
func (p *player) wake(ctx context.Context) error {
	for p.freed {
		p.freed = false
		var waiters mask
		for j, s := range p.state {
			if s == waiting {
				waiters |= bit(j)
				p.state[j] = moving
			}
		}
		if err := p.settle(ctx, waiters); err != nil {
			return err
		}
	}
	return nil
}

// settle returns when each of the sessions stands at the gate, has ended, or is
// seen waiting for another one.
func (p *player) settle(ctx context.Context, who mask) error {
	pause := firstLook
	if !p.mayWait(who) {
		pause = idleLook
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for p.open(who) {
		select {
		case e := <-p.events:
			p.take(e)
		case <-timer.C:
			if err := p.lookWhoWaits(ctx); err != nil {
				return err
			}
			pause = min(2*pause, max(lastLook, pause))
			timer.Reset(pause)
		case <-ctx.Done():
			return fmt.Errorf("a statement neither ended nor waited for a lock: %w", context.Cause(ctx))
		}
	}
	return nil
}

// open reports whether one of the sessions is still under way. When all wait, a
// deadlock is being resolved, and that is under way too.
func (p *player) open(who mask) bool {
	stuck := p.standing() == 0 && slices.Contains(p.state, waiting)
	under := false
	who.each(func(i int) {
		if i < len(p.state) && (p.state[i] == moving || stuck && p.state[i] == waiting) {
			under = true
		}
	})
	return under || p.circle() != 0
}

// mayWait reports whether one of them may be waiting for a lock: somebody else
// holds one.
func (p *player) mayWait(who mask) bool {
	may := false
	who.each(func(i int) {
		if i < len(p.state) && p.state[i] == moving && p.holds&^bit(i) != 0 {
			may = true
		}
	})
	return may
}

// circle returns the waiting sessions that wait for each other.
func (p *player) circle() mask {
	for i, s := range p.state {
		reach := p.behind[i]
		for range p.state {
			reach.each(func(j int) {
				if p.state[j] == waiting {
					reach |= p.behind[j]
				}
			})
		}
		if s == waiting && reach.has(i) {
			return reach
		}
	}
	return 0
}

// lookWhoWaits asks PostgreSQL for whom each statement under way waits.
func (p *player) lookWhoWaits(ctx context.Context) error {
	var pids []int32
	for i, s := range p.state {
		if s == moving || s == waiting {
			pids = append(pids, int32(p.next[i].pid))
		}
	}
	rows, err := p.lane.look.Query(ctx, `SELECT pid, pg_blocking_pids(pid) FROM unnest($1::int[]) AS pid`, pids)
	if err != nil {
		return fmt.Errorf("ask who waits: %w", err)
	}
	var pid int32
	var for1 []int32
	_, err = pgx.ForEachRow(rows, []any{&pid, &for1}, func() error {
		var behind mask
		for j := range p.next {
			if slices.Contains(for1, int32(p.next[j].pid)) {
				behind |= bit(j)
			}
		}
		for i := range p.state {
			if int32(p.next[i].pid) != pid || p.state[i] != moving && p.state[i] != waiting {
				continue
			}
			if p.behind[i] = behind; behind == 0 {
				continue
			}
			if p.state[i] == moving {
				p.state[i] = waiting
				p.note(i)
			}
		}
		return nil
	})
	return err
}
