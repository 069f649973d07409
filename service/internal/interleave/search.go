// Package interleave plays every order of the statements of two or three of the
// store's transactions, on a real PostgreSQL, and looks after each one whether
// the promises held.
//
// The store is the service's own: a tracer holds each statement before it is
// sent, and one scheduler lets one go at a time, until it has returned or is seen
// waiting for another session's lock. The search is depth first and keeps no
// state: a schedule is the list of picks, and replays. Three rules: BEGIN is
// part of the statement that follows it, since it does nothing by itself; nothing
// is found out by waiting a while; and where reads are merged (Options.Merge),
// two orders are one schedule only if they differ in nothing but when a plain
// read ran between two commits.
package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// Options of a search.
type Options struct {
	// Databases are URLs of empty databases, one for each lane. The login must be
	// a superuser's: the explorer clears away finished jobs, which nobody else may.
	Databases []string
	Mutant    mutant.Active
	// Merge counts orders as one that differ only in when a plain read ran.
	Merge bool
	// UntilViolation ends the search at the first broken promise.
	UntilViolation bool
	// Done is told of each set that is finished; nil for nobody.
	Done func(SetResult)
	// Outcome is told what the transactions of each schedule answered; nil for
	// nobody.
	Outcome func(answers string)
}

// SetResult is what came of the orders of one set.
type SetResult struct {
	Set       string `json:"set"`
	Schedules int    `json:"schedules"` // played to their end and judged
	Equal     int    `json:"equal"`     // played beside, equal to one of those
	Diverged  int    `json:"diverged"`  // went another way than their picks say at first, and were played again
	Undecided int    `json:"undecided"` // of those: never went their own way
	Blocked   int    `json:"blocked"`   // statements that waited for another session's lock
	// Violations holds the first of each invariant.
	Violations []Violation `json:"violations,omitempty"`
	Violating  int         `json:"violating"` // schedules with a violation
}

// Result is what came of a search.
type Result struct {
	SetResult
	Sets []SetResult   `json:"sets"`
	Took time.Duration `json:"-"`
}

// maxTries is how often an order is played that goes another way.
const maxTries = 100

// running is a set whose orders are being played.
type running struct {
	Set
	result SetResult
	open   int             // orders that are not played yet
	seen   map[string]bool // orders with a plain read put off, by picks
}

// search hands orders to the lanes, the newest first.
type search struct {
	o     Options
	mu    sync.Mutex
	more  sync.Cond
	stack []order
	busy  int
	ended bool
	sets  []*running
	err   error
}

// Search plays every order of the sets' statements.
func Search(ctx context.Context, o Options, sets []Set) (Result, error) {
	started := time.Now()
	lanes, err := openLanes(ctx, o)
	defer func() {
		for _, l := range lanes {
			l.close()
		}
	}()
	if err != nil {
		return Result{}, err
	}
	s := &search{o: o}
	s.more.L = &s.mu
	for _, set := range sets {
		s.sets = append(s.sets, &running{Set: set, result: SetResult{Set: set.String()}, open: 1, seen: map[string]bool{}})
	}
	byScene := slices.Clone(s.sets) // a lane has the rows of the next schedule ready where it is one of the same situation
	slices.SortStableFunc(byScene, func(a, b *running) int { return strings.Compare(string(a.Situation), string(b.Situation)) })
	for _, set := range slices.Backward(byScene) { // the first is on top
		s.stack = append(s.stack, order{set: set})
	}
	stop := context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })
	defer stop()
	var workers sync.WaitGroup
	for _, l := range lanes {
		workers.Go(func() { s.work(ctx, l) })
	}
	workers.Wait()
	r := Result{Took: time.Since(started)}
	for _, set := range s.sets {
		r.Sets = append(r.Sets, set.result)
		r.add(set.result)
	}
	return r, s.err
}

// Append adds the sets of another search.
func (r *Result) Append(other Result) {
	for _, set := range other.Sets {
		r.Sets = append(r.Sets, set)
		r.add(set)
	}
	r.Took += other.Took
}

func (r *Result) add(s SetResult) {
	r.Schedules += s.Schedules
	r.Equal += s.Equal
	r.Diverged += s.Diverged
	r.Undecided += s.Undecided
	r.Blocked += s.Blocked
	r.Violating += s.Violating
	r.Violations = append(r.Violations, s.Violations...)
}

func openLanes(ctx context.Context, o Options) ([]*lane, error) {
	if len(o.Databases) == 0 {
		return nil, errors.New("there is no database to play on")
	}
	lanes := make([]*lane, len(o.Databases))
	failed := make([]error, len(o.Databases))
	var open sync.WaitGroup
	for i, url := range o.Databases {
		open.Go(func() { lanes[i], failed[i] = openLane(ctx, url, o.Mutant) })
	}
	open.Wait()
	return slices.DeleteFunc(lanes, func(l *lane) bool { return l == nil }), errors.Join(failed...)
}

func (s *search) work(ctx context.Context, l *lane) {
	for {
		o, ok := s.take()
		if !ok {
			return
		}
		p, w, err := l.play(ctx, o, s.o.Merge)
		var found []Violation
		if err == nil {
			err = p.broken()
		}
		if err == nil {
			found, err = l.judge(ctx, w, p, len(o.steps) == 0)
		}
		if err != nil {
			s.end(fmt.Errorf("%s: %w", scheduleText(o.set.Set, o.steps), err))
			return
		}
		s.played(o, p, found)
	}
}

// broken is the error of a statement that PostgreSQL does not understand: a mutant
// that was written badly, and nothing that a schedule found.
func (p *played) broken() error {
	for _, o := range p.outcomes {
		var refused *pgconn.PgError
		if errors.As(o.err, &refused) && slices.Contains([]string{"42601", "42703", "42804", "42883", "42P01", "42P18"}, refused.Code) {
			return fmt.Errorf("%s: %w", o.name(), o.err)
		}
	}
	return nil
}

// judge reads what a schedule left, and says what is wrong with it. What readers
// see is asked once for a set, after its first schedule.
func (l *lane) judge(ctx context.Context, w *world, p *played, first bool) ([]Violation, error) {
	var found []Violation
	if first && w.job != "" {
		var err error
		if found, err = l.read(context.WithValue(ctx, aloneKey{}, true), w); err != nil {
			return nil, err
		}
	}
	rows, err := l.audit(ctx, w)
	if err != nil {
		return nil, err
	}
	found = append(check(w, rows, p), found...)
	for i := range found {
		found[i].Schedule, found[i].Steps = scheduleText(w.set, p.steps), p.lines(w.set)
	}
	return found, nil
}

// take waits for an order; false means that there will be none.
func (s *search) take() (order, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.stack) == 0 && s.busy > 0 && !s.ended {
		s.more.Wait()
	}
	if s.ended || len(s.stack) == 0 {
		return order{}, false
	}
	o := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	s.busy++
	return o, true
}

// played counts a schedule and queues the orders that branch off from it.
func (s *search) played(o order, p *played, found []Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	defer s.more.Broadcast()
	set := o.set
	set.open--
	if s.o.Outcome != nil {
		s.o.Outcome(p.answers())
	}
	r := &set.result
	r.Blocked += p.blocked
	if len(found) > 0 {
		r.Violating++
	}
	for _, v := range found {
		if !slices.ContainsFunc(r.Violations, func(old Violation) bool { return old.Invariant == v.Invariant }) {
			r.Violations = append(r.Violations, v)
		}
		s.ended = s.ended || s.o.UntilViolation
	}
	switch {
	case p.diverged != "" && o.tries+1 < maxTries:
		if o.tries++; o.tries == 1 {
			r.Diverged++
		}
		set.open++
		s.stack = append(s.stack, o)
		return
	case p.diverged != "":
		r.Undecided++
	case p.redundant:
		r.Equal++
	default:
		r.Schedules++
	}
	if p.diverged == "" {
		s.branch(set, p)
	}
	if set.open == 0 && s.o.Done != nil {
		s.o.Done(*r)
	}
}

func (s *search) branch(set *running, p *played) {
	for _, other := range p.others {
		other.set = set
		set.open++
		s.stack = append(s.stack, other)
	}
	if !s.o.Merge {
		return
	}
	for _, other := range p.raced(set.Set) {
		name := fmt.Sprintf("%s %d", picks(other.steps), other.asleep)
		if set.seen[name] {
			continue
		}
		set.seen[name] = true
		other.set = set
		set.open++
		s.stack = append(s.stack, other)
	}
}

func (s *search) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.err == nil {
		s.err = err
	}
	s.more.Broadcast()
}

func picks(steps []step) string {
	var b strings.Builder
	for _, st := range steps {
		b.WriteByte('0' + byte(st.session))
	}
	return b.String()
}

// scheduleText is what Replay reads: raced/complete+cancel-job:001101.
func scheduleText(s Set, steps []step) string { return s.String() + ":" + picks(steps) }

// lines tell a schedule to a person, one statement a line.
func (p *played) lines(s Set) []string {
	lines := make([]string, len(p.steps))
	for i, st := range p.steps {
		lines[i] = fmt.Sprintf("%d %-14s %s", st.session, s.Transactions[st.session], describe(st.text))
		if st.blocked {
			lines[i] += "   (waits)"
		}
	}
	return lines
}
