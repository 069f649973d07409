package interleave

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
)

const deadlockDetected = "40P01"

// mask is a set of sessions.
type mask uint8

func bit(i int) mask          { return 1 << i }
func (m mask) has(i int) bool { return m&bit(i) != 0 }

func (m mask) lowest() int { return bits.TrailingZeros8(uint8(m)) }

func (m mask) each(f func(int)) {
	for i := range maxSessions {
		if m.has(i) {
			f(i)
		}
	}
}

// step is one statement of a schedule that was let go.
type step struct {
	session int
	class   class
	text    string
	ready   mask // who stood at the gate, this session included
	asleep  mask // whose plain read was put off until somebody commits
	blocked bool // it had to wait for another session
	rode    bool // a plain read that was sent with the statement before it
}

// order is what is to be played: the first picks, and who sleeps then. Each pick
// carries who stood at the gate when the order was found.
type order struct {
	set    *running
	steps  []step
	asleep mask
	tries  int
}

// held are the plain reads of session i, by their number among its statements,
// that do not ride with the statement before them.
func (o order) held(i int) map[int]bool {
	all := map[int]bool{}
	n := 0
	for _, s := range o.steps {
		if s.session != i {
			if s.asleep.has(i) { // and it may still wait its turn, awake again, where the order ends
				all[n] = true
			}
			continue
		}
		if s.class == plainRead && !s.rode {
			all[n] = true
		}
		n++
	}
	if o.asleep.has(i) {
		all[n] = true
	}
	return all
}

// played is one schedule as it went.
type played struct {
	steps     []step
	others    []order // orders that branch off from this one
	outcomes  []outcome
	diverged  string // what went another way than the order says, empty if nothing did
	redundant bool   // it turned out to be equal to another one
	deadlocks int
	blocked   int
}

// state of a session as the scheduler sees it.
type state byte

const (
	moving  state = iota // a statement is on its way, or the transaction begins
	ready                // a statement stands at the gate
	waiting              // its statement waits for another session's lock
	ended
)

// player plays one schedule.
type player struct {
	// blockers tells for whom each of the sessions waits (lane.blockers).
	blockers func(ctx context.Context, pids []int32, each func(pid int32, by []int32)) error

	set     Set
	events  chan event
	go1     []chan struct{}
	state   []state
	next    []event // what stands at the gate
	holds   mask    // whose open transaction has changed or locked something
	behind  []mask  // of a waiting session: for whom it waits; of the others 0
	came    []int   // and with which step it began to
	freed   bool    // somebody let locks go since the waiting were asked
	last    int
	result  *played
	reduced bool
}

// play runs the transactions of the order's set, one statement at a time.
func (l *lane) play(ctx context.Context, o order, reduced bool) (*played, *world, error) {
	ctx, cancel := context.WithTimeout(ctx, toPlay)
	defer cancel()
	w, err := l.scene(ctx, o.set.Set)
	if err != nil {
		return nil, nil, err
	}
	n := len(o.set.Transactions)
	p := &player{
		blockers: l.blockers, set: o.set.Set, events: make(chan event, n), go1: make([]chan struct{}, n), state: make([]state, n), next: make([]event, n),
		behind: make([]mask, n), came: make([]int, n), last: -1, result: &played{outcomes: make([]outcome, n)}, reduced: reduced,
	}
	seen := map[Transaction]int{}
	for i, t := range o.set.Transactions {
		p.go1[i] = make(chan struct{})
		p.result.outcomes[i] = outcome{tx: t, nth: seen[t]}
		seen[t]++
		s := &session{index: i, events: p.events, go1: p.go1[i], single: t == Heartbeat, mayRide: reduced, held: o.held(i)}
		go func() {
			p.result.outcomes[i].run(context.WithValue(ctx, sessionKey{}, s), l.store, w)
			p.events <- event{session: i, riders: s.riders, done: true, refused: s.refused}
		}()
	}
	err = p.schedule(ctx, o)
	if err != nil { // let everybody go, so that nothing is left behind
		cancel()
		for slices.ContainsFunc(p.state, func(s state) bool { return s != ended }) {
			p.take(<-p.events)
		}
		return nil, nil, err
	}
	return p.result, w, nil
}

// schedule lets one statement go at a time until all transactions have ended.
func (p *player) schedule(ctx context.Context, o order) error {
	all := mask(1<<len(p.state)) - 1
	if err := p.settle(ctx, all); err != nil {
		return err
	}
	asleep := o.asleep
	for {
		p.ride(o, asleep)
		at := p.standing()
		if at == 0 {
			if !slices.Contains(p.state, waiting) {
				return nil
			}
			before := slices.Clone(p.behind)
			if err := p.settle(ctx, all); err != nil { // all wait: PostgreSQL ends one of them
				return err
			}
			if err := p.wake(ctx, before); err != nil {
				return err
			}
			continue
		}
		position := len(p.result.steps)
		now := asleep
		var pick int
		if position < len(o.steps) {
			want := o.steps[position]
			pick, now = want.session, want.asleep
			if want.ready != 0 && want.ready != at || !at.has(pick) || want.class != 0 && want.class != p.next[pick].class {
				p.result.diverged = fmt.Sprintf("statement %d: %s stood at the gate, not %s", position+1, p.names(at), p.names(want.ready|bit(pick)))
				if !at.has(pick) {
					pick = at.lowest()
				}
			}
		} else {
			pick, asleep = p.choose(at, asleep)
			now = asleep
		}
		st := step{session: pick, class: p.next[pick].class, text: p.next[pick].sql, ready: at, asleep: now}
		p.result.steps = append(p.result.steps, st)
		if err := p.let(ctx, pick); err != nil {
			return err
		}
		asleep = p.set.after(asleep, pick, st.class)
		if position < len(o.steps) {
			asleep = o.asleep
		}
	}
}

// ride notes the plain reads that were sent with the statements which have
// returned, where they would have been let go: now, one session after the other.
func (p *player) ride(o order, asleep mask) {
	for i, e := range p.next {
		for _, text := range e.riders {
			at := p.standing() | bit(i)
			position := len(p.result.steps)
			now := asleep
			if position < len(o.steps) {
				want := o.steps[position]
				now = want.asleep
				if want.session != i || !want.rode || want.ready != at {
					p.result.diverged = fmt.Sprintf("statement %d: %d %s read, and %d was to go on", position+1, i, p.result.outcomes[i].tx, want.session)
				}
			}
			p.result.steps = append(p.result.steps, step{session: i, class: plainRead, text: text, ready: at, asleep: now, rode: true})
			p.last = i
		}
		p.next[i].riders = nil
	}
}

// after is who still sleeps when a statement of that class was let go.
func (s Set) after(asleep mask, pick int, c class) mask {
	asleep &^= bit(pick)
	if c == commit { // what a plain read sees may have changed
		asleep.each(func(i int) {
			if s.sees(i, pick) {
				asleep &^= bit(i)
			}
		})
	}
	return asleep
}

// choose picks who goes on beyond the order, and notes the other choices as
// orders of their own.
func (p *player) choose(at, asleep mask) (int, mask) {
	if p.reduced {
		var calm mask
		p.firstOfTwins(at &^ asleep).each(func(i int) {
			c, rolledBack := p.next[i].class, p.next[i].refused != ""
			if c == plainRead || c == undo && rolledBack || p.set.apart(i) && (c == change || p.set.Transactions[i] == Submit) {
				calm |= bit(i)
			}
		})
		if calm != 0 { // it commutes with whatever could go instead; raced finds where it does not
			return calm.lowest(), asleep
		}
	}
	free := at &^ asleep
	if p.reduced {
		free = p.firstOfTwins(free)
	}
	if free == 0 {
		p.result.redundant = true
		free, asleep = at, 0
	}
	pick := free.lowest()
	if p.last >= 0 && free.has(p.last) {
		pick = p.last
	}
	if p.result.diverged != "" || p.result.redundant {
		return pick, asleep
	}
	(free &^ bit(pick)).each(func(i int) {
		steps := append(slices.Clip(p.result.steps), step{session: i, class: p.next[i].class, ready: at, asleep: asleep})
		p.result.others = append(p.result.others, order{steps: steps, asleep: p.set.after(asleep, i, p.next[i].class)})
	})
	return pick, asleep
}

// firstOfTwins leaves out who has a twin that has not begun yet.
func (p *player) firstOfTwins(free mask) mask {
	var begun mask
	for _, s := range p.result.steps {
		begun |= bit(s.session)
	}
	left := free
	free.each(func(i int) {
		if j := p.set.twin(i); j >= 0 && !begun.has(i) && !begun.has(j) {
			left &^= bit(i)
		}
	})
	return left
}

// raced finds the plain reads before which another session could have committed,
// and returns the orders in which they are put off until somebody does.
func (r *played) raced(set Set) []order {
	var others []order
	for i, s := range r.steps {
		if s.class != plainRead || r.redundant {
			continue
		}
		for _, later := range r.steps[i+1:] {
			if later.session == s.session && later.class != plainRead {
				break
			}
			if later.session != s.session && later.class == commit && set.sees(s.session, later.session) {
				others = append(others, order{steps: r.steps[:i:i], asleep: s.asleep | bit(s.session)})
				break
			}
		}
	}
	return others
}

// let lets the statement of session i go, and returns when everybody stands, has
// ended or waits for a lock.
func (p *player) let(ctx context.Context, i int) error {
	before := slices.Clone(p.behind)
	p.state[i], p.last = moving, i
	select {
	case p.go1[i] <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := p.settle(ctx, bit(i)); err != nil {
		return err
	}
	return p.wake(ctx, before)
}

func (p *player) take(e event) {
	i := e.session
	before := p.next[i].class
	p.next[i], p.behind[i] = e, 0
	p.state[i] = ready
	if e.done {
		p.state[i] = ended
	}
	switch {
	case e.done, e.refused != "", before == commit, before == undo: // refused: the server has rolled back already
		p.freed, p.holds = true, p.holds&^bit(i)
	case before == change:
		p.holds |= bit(i)
	}
	if e.refused == deadlockDetected {
		p.result.deadlocks++
	}
}

// standing is who stands at the gate.
func (p *player) standing() mask {
	var at mask
	for i, s := range p.state {
		if s == ready {
			at |= bit(i)
		}
	}
	return at
}

// note marks the last statement of session i as one that had to wait.
func (p *player) note(i int) {
	for k := len(p.result.steps) - 1; k >= 0; k-- {
		if s := &p.result.steps[k]; s.session == i {
			if !s.blocked {
				s.blocked = true
				p.result.blocked++
				p.came[i] = k
			}
			return
		}
	}
}

func (p *player) names(m mask) string {
	text := ""
	m.each(func(i int) {
		if i < len(p.state) {
			text += fmt.Sprintf(" %d %s", i, p.result.outcomes[i].tx)
		}
	})
	return text
}
