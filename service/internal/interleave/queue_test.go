package interleave

import (
	"context"
	"testing"
)

// Session 0 holds a row, 1 came for it and then 2. When 0 lets it go, what
// PostgreSQL says and when the statements return are this test's: whoever came
// later and has the row first has overtaken, however early that is seen.
func TestWhoOvertakesInTheQueueForARowIsSeen(t *testing.T) {
	const first, second = 1, 2
	const overtook = "statement 3: 2 cancel-job overtook 1 release in the queue for a row"
	for _, c := range []struct {
		name    string
		returns []int // sessions whose statements return, in this order; the other one waits behind the last of them
		behind  mask  // of the second, before; and of the first
		ofFirst mask
		want    string
	}{
		{"the first has the row", []int{0, first}, bit(first), bit(0), ""},
		{"the second has the row", []int{0, second}, bit(first), bit(0), overtook},
		{"the second has it before the COMMIT is seen to return", []int{second, 0}, bit(first), bit(0), overtook},
		{"the first has it before the COMMIT is seen to return", []int{first, 0}, bit(first), bit(0), ""},
		{"both waited for the COMMIT alone", []int{0, second}, bit(0), bit(0), overtook},
		{"the first waited for the second, which waited for another row", []int{second, 0}, bit(0), bit(second), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &player{
				events: make(chan event, 3), state: []state{ready, waiting, waiting}, behind: []mask{0, c.ofFirst, c.behind},
				came: []int{0, 1, 2}, holds: bit(0), go1: []chan struct{}{make(chan struct{}, 1), nil, nil},
				next: []event{{session: 0, class: commit, pid: 10}, {session: first, class: change, pid: 11}, {session: second, class: change, pid: 12}},
				result: &played{
					steps:    []step{{session: 0}, {session: first, blocked: true}, {session: second, blocked: true}},
					outcomes: []outcome{{tx: Start}, {tx: Release}, {tx: CancelJob}},
				},
			}
			owner := 0
			for _, i := range c.returns {
				if i != 0 {
					owner = i
				}
				p.events <- event{session: i, class: change, pid: 10 + i, done: i == 0}
			}
			p.blockers = func(_ context.Context, pids []int32, each func(int32, []int32)) error {
				for _, pid := range pids {
					each(pid, []int32{int32(10 + owner)})
				}
				return nil
			}
			if err := p.let(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if p.result.diverged != c.want {
				t.Errorf("diverged: %q, not %q", p.result.diverged, c.want)
			}
		})
	}
}

// A read that was put off until somebody commits does not ride with the statement
// before it, even where an order ends when it may run again and has not yet.
func TestAReadThatWasPutOffDoesNotRide(t *testing.T) {
	lock := step{session: 0, class: change}
	for _, c := range []struct {
		name  string
		order order
		want  map[int]bool
	}{
		{"none was", order{steps: []step{lock, {session: 1, class: change}}}, map[int]bool{}},
		{"it is put off", order{steps: []step{lock}, asleep: bit(0)}, map[int]bool{1: true}},
		{"it was put off, and awoke", order{steps: []step{lock, {session: 1, class: change, asleep: bit(0)}, {session: 1, class: commit, asleep: bit(0)}}}, map[int]bool{1: true}},
		{"it rode", order{steps: []step{lock, {session: 0, class: plainRead, rode: true}, {session: 1, class: change}}}, map[int]bool{}},
		{"it went alone", order{steps: []step{lock, {session: 1, class: commit, asleep: bit(0)}, {session: 0, class: plainRead}}}, map[int]bool{1: true}},
	} {
		got := c.order.held(0)
		for n := range 4 {
			if got[n] != c.want[n] {
				t.Errorf("%s: statement %d is held: %t", c.name, n, got[n])
			}
		}
	}
}
