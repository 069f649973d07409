package interleave

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Replayed is one schedule that was played again.
type Replayed struct {
	Schedule   string      `json:"schedule"` // as it went, which is what was asked for unless Diverged says otherwise
	Steps      []string    `json:"steps"`
	Answers    []string    `json:"answers"` // of the transactions, in the order of the set
	Violations []Violation `json:"violations,omitempty"`
	Diverged   string      `json:"diverged,omitempty"`
}

// ParseSchedule reads SET:PICKS, as a violation names it. PICKS may be shorter
// than the schedule; then each transaction goes on to its end.
func ParseSchedule(text string) (Set, []int, error) {
	name, digits, ok := strings.Cut(text, ":")
	if !ok {
		return Set{}, nil, fmt.Errorf("a schedule is SITUATION/TRANSACTION+TRANSACTION:PICKS, not %q", text)
	}
	set, err := ParseSet(name)
	if err != nil {
		return Set{}, nil, err
	}
	var order []int
	for i, r := range digits {
		n := int(r - '0')
		if n < 0 || n >= len(set.Transactions) {
			return Set{}, nil, fmt.Errorf("pick %d of the schedule is %q, and the transactions count from 0 to %d", i+1, r, len(set.Transactions)-1)
		}
		order = append(order, n)
	}
	return set, order, nil
}

// Replay plays one schedule times over, on the first database.
func Replay(ctx context.Context, o Options, set Set, picks []int, times int) ([]Replayed, error) {
	o.Databases = o.Databases[:min(1, len(o.Databases))]
	lanes, err := openLanes(ctx, o)
	for _, l := range lanes {
		defer l.close()
	}
	if err != nil {
		return nil, err
	}
	what := order{set: &running{Set: set}}
	for _, n := range picks {
		what.steps = append(what.steps, step{session: n})
	}
	all := make([]Replayed, times)
	for i := range all {
		p, w, err := lanes[0].play(ctx, what, false)
		if err != nil {
			return all[:i], err
		}
		r := Replayed{Schedule: scheduleText(set, p.steps), Steps: p.lines(set), Diverged: p.diverged}
		for _, out := range p.outcomes {
			r.Answers = append(r.Answers, out.answer())
		}
		if r.Violations, err = lanes[0].judge(ctx, w, p, true); err != nil {
			return all[:i], err
		}
		all[i] = r
	}
	return all, nil
}

// answers are those of all transactions, without what differs from one schedule
// to the next.
func (p *played) answers() string {
	var all []string
	for _, o := range p.outcomes {
		text := o.name() + ": ok"
		for _, e := range refusals {
			if errors.Is(o.err, e) {
				text = o.name() + ": " + e.Error()
			}
		}
		if o.err != nil && strings.HasSuffix(text, ": ok") {
			text = o.name() + ": refused"
		}
		all = append(all, fmt.Sprintf("%s %v %d %s", text, o.created, len(o.claimed), o.attempt.State))
	}
	return strings.Join(all, "; ")
}

// answer says in a few words what the transaction returned.
func (o outcome) answer() string {
	switch {
	case o.err != nil:
		return o.name() + ": " + o.err.Error()
	case o.tx == Claim:
		return fmt.Sprintf("%s: %d attempts", o.name(), len(o.claimed))
	case o.attempt.ID != "":
		return fmt.Sprintf("%s: attempt %d is %s", o.name(), o.attempt.N, o.attempt.State)
	}
	return o.name() + ": done"
}
