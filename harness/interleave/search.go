// Package interleave plays every order of the statements of two operations on a
// foreign service, on the real service and its real PostgreSQL, and has the history
// of each judged by the invariants.
//
// The relay between the service and its database is the gate: it holds each
// statement of the two before it leaves, and lets one go at a time, until the next
// one of that operation stands there, the operation is over, or PostgreSQL says that
// it waits for the other. The search is depth first and keeps no state: a schedule
// is the list of picks, and replays.
//
// A statement belongs to one of the two when it is in a transaction of that one,
// or when it names what the two are about, in its text or in what is bound to it: the
// key, the job, an attempt, the owner, or a UUID that one of the two brought. Of two,
// it is the one that the service is at work on: the second begins when the first
// stands at its first statement, and the answer to a statement that had waited is
// kept back until the other stands again. All else is background and passes; so does
// what came in the same words, alone in its transaction, about a job that is prepared
// and of which nothing is asked: a heartbeat.
package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// Options of a search.
type Options struct {
	Stage *stage.Stage // with a foreign target at L2
	Ahead int          // jobs that are prepared while another schedule is played, at least 1
	// UntilViolation ends the search at the first broken invariant.
	UntilViolation bool
	// Done is told of each set that is finished; nil for nobody.
	Done func(SetResult)
	// Now is told what is played; nil for nobody.
	Now func(text string)
}

// Violation is an invariant that a schedule broke.
type Violation struct {
	Invariant invariant.ID `json:"invariant"`
	Sentence  string       `json:"sentence"`
	Schedule  string       `json:"schedule"` // replays it
	Steps     []string     `json:"steps"`
}

// SetResult is what came of the orders of one set.
type SetResult struct {
	Set       string `json:"set"`
	Schedules int    `json:"schedules"` // played to their end and judged
	Diverged  int    `json:"diverged"`  // went another way than their picks say at first, and were played again
	Undecided int    `json:"undecided"` // of those: never went their own way; or never judged
	Blocked   int    `json:"blocked"`   // statements that waited for a lock of the other
	Aside     int    `json:"aside"`     // waits for the other inside the service
	Deadlocks int    `json:"deadlocks"`
	Violating int    `json:"violating"` // schedules with a violation
	// Violations holds the first of each invariant.
	Violations []Violation `json:"violations,omitempty"`
	Why        string      `json:"why,omitempty"` // why the first undecided one is
}

// Result is what came of a search.
type Result struct {
	SetResult
	Sets       []SetResult   `json:"sets"`
	Background int           `json:"background"` // kinds of statement that passed because they come unasked
	Took       time.Duration `json:"-"`
}

const (
	maxTries   = 6                      // how often an order is played that goes another way
	toRest     = 600 * time.Millisecond // for jobs that are prepared, of which nothing is asked
	firstQuiet = 60 * time.Millisecond
	mostQuiet  = time.Second
)

// explorer plays the schedules of a search, one after the other.
type explorer struct {
	o      Options
	gate   *gate
	look   *target.Reader
	rested map[Situation]bool
	quiet  time.Duration // after which an answer of the provider has been dealt with
}

// open places the gate.
func open(ctx context.Context, o Options) (*explorer, func(), error) {
	w, err := o.Stage.World(ctx, "interleave")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = w.Close() }()
	relay, err := w.Relay()
	if err != nil {
		return nil, nil, err
	}
	e := &explorer{o: o, gate: newGate(), look: w.Rows().Reader(), quiet: firstQuiet, rested: map[Situation]bool{}}
	relay.Step(e.gate)
	return e, func() {
		relay.Step(nil)
		e.look.Close(ctx)
	}, nil
}

// Search plays every order of the statements of each set.
func Search(ctx context.Context, o Options, sets []Set) (Result, error) {
	started := time.Now()
	var r Result
	e, done, err := open(ctx, o)
	if err != nil {
		return r, err
	}
	defer done()
	for _, set := range sets {
		found, err := e.search(ctx, set)
		r.add(found)
		if o.Done != nil && (err == nil || found.Violating > 0) {
			o.Done(found)
		}
		if err != nil {
			r.Took = time.Since(started)
			return r, fmt.Errorf("%s: %w", set, err)
		}
		if o.UntilViolation && found.Violating > 0 {
			break
		}
	}
	e.gate.mu.Lock()
	r.Background = len(e.gate.background)
	e.gate.mu.Unlock()
	r.Took = time.Since(started)
	return r, nil
}

func (r *Result) add(s SetResult) {
	r.Sets = append(r.Sets, s)
	r.Schedules += s.Schedules
	r.Diverged += s.Diverged
	r.Undecided += s.Undecided
	r.Blocked += s.Blocked
	r.Aside += s.Aside
	r.Deadlocks += s.Deadlocks
	r.Violating += s.Violating
	r.Violations = append(r.Violations, s.Violations...)
	if r.Why == "" {
		r.Why = s.Why
	}
}

func (e *explorer) search(ctx context.Context, set Set) (r SetResult, err error) {
	r.Set = set.String()
	scenes := e.ahead(ctx, set)
	defer func() { err = errors.Join(err, scenes.close()) }()
	if err := e.rest(ctx, set.Situation); err != nil {
		return r, err
	}
	stack := []order{{}}
	for len(stack) > 0 && !(e.o.UntilViolation && r.Violating > 0) {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if e.o.Now != nil {
			e.o.Now(fmt.Sprintf("%s: %d schedules, %d to come", set, r.Schedules, len(stack)+1))
		}
		p, found, err := e.once(ctx, scenes, o)
		if err != nil {
			return r, err
		}
		r.Blocked += p.blocked
		r.Aside += p.aside
		if p.deadlock {
			r.Deadlocks++
		}
		if len(found.broke) > 0 {
			r.Violating++
		}
		for _, v := range found.broke {
			if !slices.ContainsFunc(r.Violations, func(old Violation) bool { return old.Invariant == v.Invariant }) {
				r.Violations = append(r.Violations, v)
			}
		}
		why := p.diverged
		if why == "" {
			why = found.undecided
		}
		switch {
		case why != "" && o.tries+1 < maxTries && len(found.broke) == 0:
			if o.tries++; o.tries == 1 {
				r.Diverged++
			}
			if p.diverged != "" {
				e.quiet = min(2*e.quiet, mostQuiet)
			}
			stack = append(stack, o)
			continue
		case why != "" && len(found.broke) == 0:
			r.Undecided++
			if r.Why == "" {
				r.Why = scheduleText(set, o.steps) + ": " + why
			}
		default:
			r.Schedules++
		}
		if p.diverged == "" {
			stack = append(stack, p.others...)
		}
	}
	return r, nil
}

// rest waits, once in each situation, for what comes unasked about jobs at rest.
func (e *explorer) rest(ctx context.Context, in Situation) error {
	if e.rested[in] {
		return nil
	}
	e.rested[in] = true
	rest := time.NewTimer(toRest)
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// verdict is what a schedule proved.
type verdict struct {
	broke     []Violation
	undecided string // why it proved nothing; empty where it did
}

// once plays an order on a job of its own, and judges what it left.
func (e *explorer) once(ctx context.Context, scenes *scenes, o order) (*played, verdict, error) {
	sc, err := scenes.take(ctx)
	if err != nil {
		return nil, verdict{}, err
	}
	p, err := e.play(ctx, sc, o)
	if err != nil {
		return nil, verdict{}, errors.Join(err, sc.leave())
	}
	r, err := sc.judge(ctx)
	if err != nil {
		return nil, verdict{}, err
	}
	var v verdict
	for _, f := range r.Findings {
		switch f.Verdict {
		case invariant.Violation:
			v.broke = append(v.broke, Violation{f.Invariant, f.Sentence, scheduleText(sc.set, p.steps), p.lines(sc.set)})
		case invariant.Infrastructure:
			return nil, v, errors.New(f.Sentence)
		default:
			if v.undecided == "" {
				v.undecided = f.Sentence
			}
		}
	}
	return p, v, nil
}

// scheduleText is what ParseSchedule reads: running/cancel-job+complete:001101.
func scheduleText(s Set, steps []step) string {
	digits := make([]byte, len(steps))
	for i, st := range steps {
		digits[i] = '0' + byte(st.session)
	}
	return s.String() + ":" + string(digits)
}

// lines tell a schedule to a person, one statement a line.
func (p *played) lines(s Set) []string {
	lines := make([]string, len(p.steps))
	for i, st := range p.steps {
		lines[i] = fmt.Sprintf("%d %-14s %s", st.session, s.Operations[st.session], st.what)
		if st.blocked {
			lines[i] += "   (waits)"
		}
	}
	return lines
}

// Replayed is one schedule that was played again.
type Replayed struct {
	Schedule   string      `json:"schedule"` // as it went, which is what was asked for unless Diverged says otherwise
	Steps      []string    `json:"steps"`
	Diverged   string      `json:"diverged,omitempty"`
	Undecided  string      `json:"undecided,omitempty"`
	Violations []Violation `json:"violations,omitempty"`
}

// Replay plays the picks of a schedule so many times.
func Replay(ctx context.Context, o Options, set Set, picks []int, times int) ([]Replayed, error) {
	e, done, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := e.rest(ctx, set.Situation); err != nil {
		return nil, err
	}
	ord := order{asked: true}
	for _, i := range picks {
		ord.steps = append(ord.steps, step{session: i})
	}
	scenes := e.ahead(ctx, set)
	defer func() { err = errors.Join(err, scenes.close()) }()
	var all []Replayed
	for range times {
		p, found, err := e.once(ctx, scenes, ord)
		if err != nil {
			return all, err
		}
		all = append(all, Replayed{scheduleText(set, p.steps), p.lines(set), p.diverged, found.undecided, found.broke})
	}
	return all, nil
}
