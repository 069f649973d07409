package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/invariant"
)

// Comparison is two runs side by side: what one scenario after the other was
// before, and is now.
type Comparison struct {
	Before, Now string // how the runs are called: seed and time
	Pairs       []Pair
}

// Pair is one scenario in both runs; nil where a run does not have it.
type Pair struct {
	Slug        string
	Before, Now *Scenario
}

// Compare puts the scenarios of now beside those of before, in the order of now.
func Compare(before, now Stored) Comparison {
	c := Comparison{Before: called(before.Run), Now: called(now.Run)}
	was := map[string]*Scenario{}
	for i := range before.Scenarios {
		was[before.Scenarios[i].Slug] = &before.Scenarios[i]
	}
	for i := range now.Scenarios {
		s := &now.Scenarios[i]
		c.Pairs = append(c.Pairs, Pair{s.Slug, was[s.Slug], s})
		delete(was, s.Slug)
	}
	for i := range before.Scenarios {
		if s := &before.Scenarios[i]; was[s.Slug] != nil {
			c.Pairs = append(c.Pairs, Pair{s.Slug, s, nil})
		}
	}
	return c
}

func called(r Run) string {
	return fmt.Sprintf("seed %d of %s", r.Seed, r.Started.UTC().Format("2006-01-02 15:04:05"))
}

// Changed reports whether the verdict or what was violated differs.
func (p Pair) Changed() bool {
	return p.Before == nil || p.Now == nil || p.Before.Verdict != p.Now.Verdict || !slices.Equal(p.Before.Violated, p.Now.Violated)
}

// Worse reports whether the scenario is worse now than it was. One that is not
// played any more is worse than one that passed.
func (p Pair) Worse() bool {
	switch {
	case p.Before == nil:
		return p.Now.Verdict != invariant.Pass
	case p.Now == nil:
		return true
	}
	return p.Now.Verdict != p.Before.Verdict && invariant.Worse(p.Before.Verdict, p.Now.Verdict) == p.Now.Verdict ||
		p.Now.Verdict == invariant.Violation && slices.ContainsFunc(p.Now.Violated, func(id invariant.ID) bool { return !slices.Contains(p.Before.Violated, id) })
}

// Slower reports whether the scenario took notably longer or shorter: by half, and
// by more than a scheduler's whim.
func (p Pair) Slower() bool {
	if p.Before == nil || p.Now == nil {
		return false
	}
	a, b := time.Duration(p.Before.Took), time.Duration(p.Now.Took)
	return max(a, b)-min(a, b) >= 100*time.Millisecond && 2*max(a, b) >= 3*min(a, b)
}

// Counts are how many scenarios are worse, otherwise changed, and the same.
func (c Comparison) Counts() (worse, changed, same int) {
	for _, p := range c.Pairs {
		switch {
		case p.Worse():
			worse++
		case p.Changed():
			changed++
		default:
			same++
		}
	}
	return worse, changed, same
}

// Sentence says the whole in words.
func (c Comparison) Sentence() string {
	worse, changed, same := c.Counts()
	slower := 0
	for _, p := range c.Pairs {
		if p.Slower() {
			slower++
		}
	}
	return fmt.Sprintf("%s worse, %d otherwise changed, %d the same as in %s; %d took notably more or less time.", plural(worse, "scenario"), changed, same, c.Before, slower)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Text shows what changed, for a terminal.
func (c Comparison) Text(style Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "before  %s\nnow     %s\n\n", c.Before, c.Now)
	for _, p := range c.Pairs {
		if !p.Changed() && !p.Slower() {
			continue
		}
		now, line := invariant.Inconclusive, fmt.Sprintf("%-32s %s -> %s", Untrusted(p.Slug).Terminal(), said(p.Before), said(p.Now))
		if p.Now != nil {
			now = p.Now.Verdict
		}
		if p.Before != nil && p.Now != nil {
			line += fmt.Sprintf("   %s -> %s", round(time.Duration(p.Before.Took)), round(time.Duration(p.Now.Took)))
		}
		sign := " "
		if p.Worse() {
			sign = style.verdict(now, Sign(now))
		}
		fmt.Fprintf(&b, "%s %s\n", sign, line)
	}
	b.WriteString(c.Sentence() + "\n")
	return b.String()
}

// said is the verdict of a scenario with what it violated.
func said(s *Scenario) string {
	if s == nil {
		return "not played"
	}
	if len(s.Violated) == 0 {
		return string(s.Verdict)
	}
	return string(s.Verdict) + " " + join(s.Violated)
}

// Extra is the comparison as a section of the page: what changed stands first.
func (c Comparison) Extra() Extra {
	e := Extra{ID: "compare", Title: "Compared", Intro: c.Sentence(), Columns: []string{"scenario", "before", "now", "ms before", "ms now", "operations before", "operations now"}}
	pairs := slices.Clone(c.Pairs)
	slices.SortStableFunc(pairs, func(a, b Pair) int { return rank(a) - rank(b) })
	for _, p := range pairs {
		row := []Cell{{Text: p.Slug}}
		for _, s := range []*Scenario{p.Before, p.Now} {
			cell := Cell{Text: said(s)}
			if s != nil {
				cell.Verdict = s.Verdict
			}
			row = append(row, cell)
		}
		for _, value := range []func(*Scenario) int64{func(s *Scenario) int64 { return time.Duration(s.Took).Milliseconds() }, func(s *Scenario) int64 { return int64(s.Operations) }} {
			for _, s := range []*Scenario{p.Before, p.Now} {
				cell := Cell{Text: "–"}
				if s != nil {
					cell.Text = itoa(value(s))
				}
				row = append(row, cell)
			}
		}
		e.Rows = append(e.Rows, row)
	}
	return e
}

func rank(p Pair) int {
	switch {
	case p.Worse():
		return 0
	case p.Changed():
		return 1
	case p.Slower():
		return 2
	}
	return 3
}
