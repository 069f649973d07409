package interleave

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Waits of the scheduler until it looks who waits for whom. They cost time where
// they are too long, and questions where they are too short; what is found does
// not depend on them.
const (
	firstLook = 100 * time.Microsecond // where a statement probably waits
	lastLook  = 2 * time.Millisecond
	idleLook  = 20 * time.Millisecond // where none probably does
)

// wake settles those who wait, for as long as somebody lets locks go. before is
// p.behind as it was when the last statement was let go: one of those who waited
// then may have gone on before that statement was seen to return.
func (p *player) wake(ctx context.Context, before []mask) error {
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
		p.inTurn(before)
	}
	return nil
}

// inTurn looks whether the sessions that waited for the same, one behind the other
// or all behind a third, went on in the order in which they came. Where an update
// moves the row that two wait for, the first one lets its place go before it has
// the new row, and the second may overtake it, seldom and by chance. As an order it
// is one that is played anyway (the second came first); here it would hide the
// orders that follow the usual way. So it counts as diverged and is played again.
func (p *player) inTurn(before []mask) {
	for i, first := range before {
		if first == 0 || p.state[i] != waiting {
			continue
		}
		p.behind[i].each(func(j int) {
			same := before[j].has(i) || before[j]&first != 0
			if same && p.state[j] != waiting && p.came[i] < p.came[j] && p.result.diverged == "" {
				p.result.diverged = fmt.Sprintf("statement %d: %d %s overtook %d %s in the queue for a row",
					len(p.result.steps), j, p.result.outcomes[j].tx, i, p.result.outcomes[i].tx)
			}
		})
	}
}

// settle returns when each of the sessions stands at the gate, has ended, or is
// seen waiting for another one.
func (p *player) settle(ctx context.Context, who mask) error {
	if !p.open(who) {
		return nil
	}
	looks := 0
	timer := time.NewTimer(p.patience(looks))
	defer timer.Stop()
	for p.open(who) {
		select {
		case e := <-p.events:
			p.take(e)
		case <-timer.C:
			looks++
			if err := p.lookWhoWaits(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("a statement neither ended nor waited for a lock: %w", context.Cause(ctx))
		}
		timer.Reset(p.patience(looks))
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

// patience is how long to wait for an event before the next look.
func (p *player) patience(looks int) time.Duration {
	if !p.allProbablyWait() {
		return idleLook
	}
	return min(firstLook<<min(looks, 8), lastLook)
}

// allProbablyWait reports whether every statement under way has reason to wait: a
// transaction takes the lock of its job first, and somebody else has it.
func (p *player) allProbablyWait() bool {
	for i, s := range p.state {
		if s == moving && (p.next[i].class != change || p.holds.has(i) || p.holds == 0 || strings.Contains(p.next[i].sql, "SKIP LOCKED")) {
			return false
		}
	}
	return true
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

// Asked as often as there are statements under way, in one query: while a
// session that blocks another one is itself asked as blocked, it keeps what it
// holds, so the last answers that are the same each time all hold at once.
const whoWaits = `
	SELECT pid, pg_blocking_pids(pid)
	FROM   generate_series(1, cardinality($1::int[])) AS round, unnest($1::int[]) AS pid`

// blockers asks PostgreSQL for whom each of the sessions waits, and tells each
// answer.
func (l *lane) blockers(ctx context.Context, pids []int32, each func(pid int32, by []int32)) error {
	rows, err := l.look.Query(ctx, whoWaits, pids)
	if err == nil {
		var pid int32
		var by []int32
		_, err = pgx.ForEachRow(rows, []any{&pid, &by}, func() error { each(pid, by); return nil })
	}
	if err != nil {
		return fmt.Errorf("ask who waits: %w", err)
	}
	return nil
}

// lookWhoWaits asks for whom each statement under way waits, and notes those as
// waiting that will do so until a session at the gate goes on. One that waits for
// a session whose own statement still runs does not count: that one may hold the
// place in a queue for a row, and let it go without having taken the row.
func (p *player) lookWhoWaits(ctx context.Context) error {
	var pids []int32
	index := map[int32]int{}
	for i, s := range p.state {
		pid := int32(p.next[i].pid)
		index[pid] = i
		if s == moving && pid != 0 {
			pids = append(pids, pid)
		}
	}
	behind := map[int]mask{}
	changed := mask(0)
	err := p.blockers(ctx, pids, func(pid int32, by []int32) {
		i := index[pid]
		var now mask
		for _, b := range by {
			if j, ours := index[b]; ours {
				now |= bit(j)
			}
		}
		if before, asked := behind[i]; asked && before != now {
			changed |= bit(i)
		}
		behind[i] = now
	})
	if err != nil {
		return err
	}
	for i := range stuck(p.state, behind, changed) {
		p.state[i], p.behind[i] = waiting, behind[i]
		p.note(i)
	}
	return nil
}

// stuck leaves of those who are behind somebody the ones that stay there: behind
// nobody whose statement goes on.
func stuck(states []state, behind map[int]mask, changed mask) map[int]mask {
	left := map[int]mask{}
	for i, b := range behind {
		if b != 0 && !changed.has(i) {
			left[i] = b
		}
	}
	for again := true; again; {
		again = false
		for i, b := range left {
			b.each(func(j int) {
				if _, also := left[j]; !also && j < len(states) && states[j] == moving {
					delete(left, i)
					again = true
				}
			})
		}
	}
	return left
}
