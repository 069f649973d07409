package interleave

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/target"
)

// Waits of the scheduler. Where one is too short a schedule goes another way than
// its picks say, and is played again.
const (
	firstLook = 2 * time.Millisecond  // until it asks PostgreSQL who waits
	lastLook  = 20 * time.Millisecond // between two such questions
	toCome    = 400 * time.Millisecond
	toArrive  = 5 * time.Second  // the first statement of an answer of the provider
	toPlay    = 30 * time.Second // one schedule
)

// step is one statement that was let go.
type step struct {
	session int
	what    string
	ready   [2]bool // who stood at the relay
	blocked bool    // it had to wait for the other
}

// order is what is to be played: the first picks.
type order struct {
	steps []step
	asked bool // by a user, who knows of no more than the picks
	tries int
}

// played is one schedule as it went.
type played struct {
	steps    []step
	others   []order // orders that branch off from this one
	diverged string  // what went another way than the order says, empty if nothing did
	blocked  int
	aside    int // how often one waited for the other inside the service
	deadlock bool
}

// player plays one schedule.
type player struct {
	g      *gate
	look   *target.Reader
	sc     *scene
	quiet  time.Duration
	result *played
	last   int
	ctx    context.Context
}

// play runs the two operations of a scene, one statement at a time.
func (e *explorer) play(ctx context.Context, sc *scene, o order) (*played, error) {
	ctx, cancel := context.WithTimeout(ctx, toPlay)
	defer cancel()
	p := &player{g: e.gate, look: e.look, sc: sc, quiet: e.quiet, result: &played{}, last: -1, ctx: ctx}
	g := p.g
	g.mu.Lock()
	g.sessions, g.names, g.trouble = []*session{{index: 0}, {index: 1}}, namesOf(sc.names), ""
	delete(g.resting, sc)
	g.mu.Unlock()
	var calls [2]chan struct{}
	defer func() { // nothing of it goes on into the next schedule
		g.mu.Lock()
		for _, s := range g.sessions {
			if s.held != nil {
				close(s.held)
				s.held = nil
			}
			if s.answer != nil {
				close(s.answer)
				s.answer = nil
			}
		}
		g.sessions, g.names = nil, nil
		clear(g.owner)
		g.mu.Unlock()
		for _, c := range calls {
			if c != nil {
				<-c
			}
		}
	}()
	for i := range calls {
		calls[i] = make(chan struct{})
		if err := p.begin(i, calls[i]); err != nil {
			return nil, err
		}
	}
	if err := p.schedule(o); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.result.diverged == "" {
		p.result.diverged = g.trouble
	}
	return p.result, nil
}

// begin has operation i begin, and returns when its first statement stands, or when
// it is over or waits.
func (p *player) begin(i int, done chan struct{}) error {
	p.g.mu.Lock()
	s := p.g.sessions[i]
	s.request = p.sc.set.Operations[i] != Complete
	s.become(thinking)
	p.g.mu.Unlock()
	go func() {
		defer close(done)
		if p.sc.run(context.WithoutCancel(p.ctx), i) {
			p.g.mu.Lock()
			p.g.over(s)
			p.g.mu.Unlock()
			p.g.signal()
		}
	}()
	return p.settle(s)
}

// schedule lets one statement go at a time until both have ended.
func (p *player) schedule(o order) error {
	for {
		at, over := p.standing()
		if over {
			return nil
		}
		if at == [2]bool{} {
			if err := p.stuck(); err != nil {
				return err
			}
			continue
		}
		position := len(p.result.steps)
		pick := 0
		if !at[0] || p.last == 1 && at[1] {
			pick = 1
		}
		p.g.mu.Lock()
		what := [2]string{describe(p.g.sessions[0].next.SQL), describe(p.g.sessions[1].next.SQL)}
		p.g.mu.Unlock()
		if position < len(o.steps) {
			want := o.steps[position]
			pick = want.session
			switch {
			case !at[pick]:
				p.diverge("statement %d: %s has none at the relay", position+1, p.name(pick))
				pick = 1 - pick
			case !o.asked && want.ready != at:
				p.diverge("statement %d: %s", position+1, p.others(want.ready, at))
			case !o.asked && want.what != what[pick]:
				p.diverge("statement %d: %s came to %s, not to %s", position+1, p.name(pick), what[pick], want.what)
			}
		} else if p.result.diverged == "" && at[1-pick] {
			branch := append(slices.Clip(p.result.steps), step{session: 1 - pick, what: what[1-pick], ready: at})
			p.result.others = append(p.result.others, order{steps: branch})
		}
		p.result.steps = append(p.result.steps, step{session: pick, what: what[pick], ready: at})
		p.last = pick
		if err := p.let(pick); err != nil {
			return err
		}
	}
}

func (p *player) diverge(format string, args ...any) {
	if p.result.diverged == "" {
		p.result.diverged = fmt.Sprintf(format, args...)
	}
}

func (p *player) name(i int) string { return fmt.Sprintf("%d %s", i, p.sc.set.Operations[i]) }

func (p *player) others(want, at [2]bool) string {
	var said []string
	for i := range at {
		switch {
		case want[i] && !at[i]:
			said = append(said, p.name(i)+" has none at the relay")
		case at[i] && !want[i]:
			said = append(said, p.name(i)+" has one at the relay already")
		}
	}
	return strings.Join(said, ", ")
}

// standing is who stands at the relay, and whether both have ended.
func (p *player) standing() (at [2]bool, over bool) {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	over = true
	for i, s := range p.g.sessions {
		at[i] = s.state == standing
		over = over && s.state == ended
	}
	return at, over
}

// let lets the statement of one go, and returns when it stands again, has ended or
// waits, and so does the other.
func (p *player) let(i int) error {
	p.g.mu.Lock()
	s := p.g.sessions[i]
	p.g.letGo(s)
	p.g.mu.Unlock()
	if err := p.settle(s); err != nil {
		return err
	}
	return p.wake()
}

// settle returns when s stands at the relay, has ended, or waits for the other.
func (p *player) settle(s *session) error {
	look := firstLook
	for {
		p.g.mu.Lock()
		st, since := s.state, s.since
		switch {
		case st == thinking && p.ends(s):
			p.g.over(s)
			st = ended
		case st == thinking && time.Since(since) > toCome && s.waitsInside():
			s.become(aside)
			p.result.aside++
			st = aside
		}
		p.g.mu.Unlock()
		switch st {
		case standing, ended, waiting, aside, answered:
			return nil
		}
		if p.await(look) {
			continue
		}
		look = min(2*look, lastLook)
		if p.ctx.Err() != nil {
			return p.tooLong()
		}
		if err := p.lookWhoWaits(); err != nil {
			return err
		}
		if !s.request && s.sent == 0 && st == thinking && time.Since(since) > toArrive {
			p.diverge("the answer of the provider led to no statement")
			p.g.mu.Lock()
			p.g.over(s)
			p.g.mu.Unlock()
		}
	}
}

// waitsInside says whether the service may have s wait without a statement at the
// server: for an answer of the provider only when it has begun to be written.
func (s *session) waitsInside() bool { return s.request || s.sent > 0 && s.conn != 0 }

// ends says whether an answer of the provider has been dealt with: no transaction of
// it is open, and nothing more came for a while. Locked.
func (p *player) ends(s *session) bool {
	return !s.request && s.sent > 0 && s.conn == 0 && time.Since(s.since) > p.quiet
}

// await waits for a change, or for d.
func (p *player) await(d time.Duration) (changed bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.g.changed:
		return true
	case <-t.C:
	case <-p.ctx.Done():
	}
	return false
}

// wake settles those who waited, for as long as one of them can go on.
func (p *player) wake() error {
	for {
		var next *session
		p.g.mu.Lock()
		for i, s := range p.g.sessions {
			other := p.g.sessions[1-i]
			switch {
			case s.state == answered:
				p.g.hear(s)
				next = s
			case s.state == aside && other.state == ended:
				s.become(thinking)
				next = s
			case s.state == aside: // it comes when it comes
			case s.state == waiting:
				next = s
			}
			if next != nil {
				break
			}
		}
		p.g.mu.Unlock()
		if next == nil {
			return nil
		}
		if next.is(p.g, waiting) {
			still, err := p.stillWaits(next)
			if err != nil || still {
				return err
			}
			continue // it was answered
		}
		if err := p.settle(next); err != nil {
			return err
		}
	}
}

func (s *session) is(g *gate, st state) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.state == st
}

// stillWaits says whether s goes on waiting for the other. It returns when that is
// so, or when s was answered.
func (p *player) stillWaits(s *session) (bool, error) {
	look := firstLook / 2
	for s.is(p.g, waiting) {
		behind, err := p.behindTheOther(s)
		if err != nil || behind {
			return behind, err
		}
		if !p.await(look) {
			look = min(2*look, lastLook)
		}
		if p.ctx.Err() != nil {
			return false, p.tooLong()
		}
	}
	return false, nil
}

// stuck waits until one of the two can go on, where none can now: PostgreSQL ends a
// deadlock, or a lock of somebody else is let go.
func (p *player) stuck() error {
	p.g.mu.Lock()
	both := p.g.sessions[0].state == waiting && p.g.sessions[1].state == waiting
	for _, s := range p.g.sessions {
		if s.state == aside { // nobody else can let it go on
			s.become(thinking)
		}
	}
	p.g.mu.Unlock()
	for {
		if at, over := p.standing(); over || at != [2]bool{} {
			return nil
		}
		p.g.mu.Lock()
		var next *session
		for _, s := range p.g.sessions {
			switch s.state {
			case answered:
				p.g.hear(s)
				next = s
			case thinking, running:
				next = s
			}
		}
		p.g.mu.Unlock()
		if next != nil {
			p.result.deadlock = p.result.deadlock || both
			if err := p.settle(next); err != nil {
				return err
			}
			return p.wake()
		}
		p.await(lastLook)
		if p.ctx.Err() != nil {
			return p.tooLong()
		}
	}
}

func (p *player) tooLong() error {
	var said []string
	p.g.mu.Lock()
	for i, s := range p.g.sessions {
		said = append(said, fmt.Sprintf("%s is %s after %d statements", p.name(i), s.state, s.sent))
	}
	p.g.mu.Unlock()
	return fmt.Errorf("a schedule did not come to its end: %s: %w", strings.Join(said, ", "), context.Cause(p.ctx))
}

func (s state) String() string {
	return [...]string{"not begun", "at work in the service", "at work in the service for long", "at the relay", "at the server", "waiting for a lock", "answered", "over"}[s]
}

// lookWhoWaits asks PostgreSQL whether the statement under way waits for the other.
func (p *player) lookWhoWaits() error {
	p.g.mu.Lock()
	var under *session
	for _, s := range p.g.sessions {
		if s.state == running {
			under = s
		}
	}
	p.g.mu.Unlock()
	if under == nil {
		return nil
	}
	behind, err := p.behindTheOther(under)
	if err != nil || !behind {
		return err
	}
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	if under.state == running {
		under.become(waiting)
		p.note(under)
	}
	return nil
}

// note marks the last statement of s as one that had to wait.
func (p *player) note(s *session) {
	for k := len(p.result.steps) - 1; k >= 0; k-- {
		if st := &p.result.steps[k]; st.session == s.index {
			if !st.blocked {
				st.blocked = true
				p.result.blocked++
			}
			return
		}
	}
}

// behindTheOther says whether the backend of s waits for that of the other, by
// itself or behind others.
func (p *player) behindTheOther(s *session) (bool, error) {
	p.g.mu.Lock()
	other := p.g.sessions[1-s.index]
	mine, theirs := s.backend, other.backend
	var all []int
	for _, b := range p.g.backends {
		all = append(all, b)
	}
	open := other.conn != 0
	p.g.mu.Unlock()
	if mine == 0 || theirs == 0 || !open {
		return false, nil
	}
	blockers, err := p.look.Blockers(p.ctx, all)
	if err != nil {
		return false, err
	}
	seen, next := map[int]bool{}, []int{mine}
	for len(next) > 0 {
		b := next[0]
		next = next[1:]
		if b == theirs {
			return true, nil
		}
		if !seen[b] {
			seen[b] = true
			next = append(next, blockers[b]...)
		}
	}
	return false, nil
}
