// Package report is the evidence of a run: the folder with report.json,
// history.jsonl, junit.xml, ctrf.json, summary.md and report.html, and the texts
// that a person sees on a terminal.
//
// It keeps three rules. It decides nothing: every verdict comes from the
// invariants, and Check recomputes them from the stored history. A file is there
// whole or not at all. And text that a target, a provider or a database wrote is
// Untrusted: each kind of output has one function that makes it harmless.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
)

// Run is one run of scenarios, judged.
type Run struct {
	// ID names the run; it also stands in the first line of its history.
	ID       string            `json:"id"`
	Versions map[string]string `json:"versions,omitempty"` // interlock, go, postgresql, toxiproxy ...
	Command  []string          `json:"command,omitempty"`  // the arguments that started it
	// Again are the flags, beside the seed, that a repetition needs: --target ...
	Again   []string        `json:"again,omitempty"`
	Seed    int64           `json:"seed"`
	Level   invariant.Level `json:"level"`
	Target  string          `json:"target"`           // built-in service, or a URL
	Mutant  string          `json:"mutant,omitempty"` // of the service, where it ran with one
	Stage   string          `json:"stage,omitempty"`  // one line: PostgreSQL 15.18, Toxiproxy embedded
	Started time.Time       `json:"started"`
	Took    Milliseconds    `json:"took_ms"`
	// Interrupted is true when a signal ended the run; the plays are those that
	// were judged until then.
	Interrupted bool `json:"interrupted,omitempty"`
	// Full says that every scenario was to run against the built-in service: then
	// every move of the state machines must have been exercised.
	Full     bool             `json:"full,omitempty"`
	Plays    []Play           `json:"plays"`
	Skipped  []NotApplicable  `json:"not_applicable,omitempty"`
	Coverage []invariant.Edge `json:"coverage,omitempty"`
	// Rounds are the tries of a run that repeats its scenarios, in their order.
	Rounds []Round `json:"rounds,omitempty"`
	// Ended is why the run ended before everything was played, in one sentence,
	// where that was what it was told to do.
	Ended string `json:"ended,omitempty"`
}

// Milliseconds is a duration as the files write it.
type Milliseconds time.Duration

// Play is one spec of a scenario that was played and judged.
type Play struct {
	Slug  string `json:"slug"`
	Title string `json:"title"`
	Text  string `json:"text,omitempty"` // of the spec, below the scenario's
	// Try counts from 1 where the run repeats its scenarios, and Seed is that of the
	// try; else both are 0.
	Try   int    `json:"try,omitempty"`
	Seed  int64  `json:"seed,omitempty"`
	Group string `json:"group"`
	Fault string `json:"fault,omitempty"` // one line for people
	// History names the events of this play (Event.Scenario).
	History string           `json:"history"`
	Expect  invariant.Expect `json:"expect"`
	// MustBreak is the invariant by which a canary must be violated.
	MustBreak invariant.ID `json:"must_break,omitempty"`
	// Named is the invariant by which the mutant of the run must die here.
	Named   invariant.ID      `json:"named,omitempty"`
	Verdict invariant.Verdict `json:"verdict"`
	Result  invariant.Result  `json:"result"`
	Trouble string            `json:"trouble,omitempty"` // why it stopped early
	Took    Milliseconds      `json:"took_ms"`
}

// NotApplicable is a scenario above the level of the target.
type NotApplicable struct {
	Slug  string          `json:"slug"`
	Title string          `json:"title"`
	Group string          `json:"group"`
	Needs invariant.Level `json:"needs"`
	Why   string          `json:"why,omitempty"` // beside the level
}

func (n NotApplicable) reason(level invariant.Level) string {
	if n.Why != "" {
		return n.Why
	}
	return fmt.Sprintf("needs level %s, the target is at %s", n.Needs, level)
}

// Met reports whether the play came out as its scenario wants.
func (p Play) Met() bool {
	return p.Verdict == p.Expect.Wanted() && (p.MustBreak == "" || p.Result.Violated(p.MustBreak))
}

// canary reports whether the scenario must not pass.
func (p Play) canary() bool { return p.Expect.Wanted() != invariant.Pass }

// reported is the verdict of the play as the run counts it. A canary that came
// out otherwise than it must has shown that the harness cannot be trusted.
func (p Play) reported() invariant.Verdict {
	switch {
	case p.Met():
		return invariant.Pass
	case p.canary() || p.Verdict == invariant.Pass:
		return invariant.Infrastructure
	}
	return p.Verdict
}

// Scenario is what all plays of one scenario say together.
type Scenario struct {
	Slug       string            `json:"slug"`
	Title      string            `json:"title"`
	Group      string            `json:"group"`
	Fault      string            `json:"fault,omitempty"`
	Verdict    invariant.Verdict `json:"verdict"`
	Canary     invariant.Verdict `json:"canary,omitempty"` // what it must come out as, where not pass
	Invariants []invariant.ID    `json:"invariants,omitempty"`
	Violated   []invariant.ID    `json:"violated,omitempty"`
	Armed      int               `json:"faults_armed"`
	Fired      int               `json:"faults_fired"`
	Operations int               `json:"operations"`
	Took       Milliseconds      `json:"took_ms"`
	Again      string            `json:"again"` // the command that repeats it
	// Tries counts those of a run that repeats its scenarios, Unmet are those that did
	// not come out as they must.
	Tries int     `json:"tries,omitempty"`
	Unmet []Try   `json:"tries_not_met,omitempty"`
	Plays []*Play `json:"-"`
}

// Scenarios groups the plays, in the order of their groups and first plays.
func (r *Run) Scenarios() []Scenario { return r.grouped(func(p *Play) string { return p.Slug }) }

// grouped puts the plays together that have the same name; the scenarios are called
// by it.
func (r *Run) grouped(name func(*Play) string) []Scenario {
	at := map[string]int{}
	var list []Scenario
	for i := range r.Plays {
		p := &r.Plays[i]
		called := name(p)
		k, known := at[called]
		if !known {
			k = len(list)
			at[called] = k
			list = append(list, Scenario{
				Slug: called, Title: p.Title, Group: p.Group, Fault: p.Fault, Verdict: invariant.Pass,
				Invariants: p.Expect.Invariants, Again: r.again(*p),
			})
			if p.canary() {
				list[k].Canary = p.Expect.Wanted()
			}
		}
		s := &list[k]
		s.Plays = append(s.Plays, p)
		s.count(p)
		if !p.Met() && invariant.Worse(s.Verdict, p.reported()) != s.Verdict {
			s.Again = r.again(*p)
		}
		s.Verdict = invariant.Worse(s.Verdict, p.reported())
		s.Armed, s.Fired = s.Armed+p.Result.Armed, s.Fired+p.Result.Fired
		s.Operations, s.Took = s.Operations+p.Result.Operations, s.Took+p.Took
		for _, f := range p.Result.Findings {
			if f.Verdict == invariant.Violation && f.Invariant != "" && !slices.Contains(s.Violated, f.Invariant) {
				s.Violated = append(s.Violated, f.Invariant)
			}
		}
	}
	groups := r.groups()
	slices.SortStableFunc(list, func(a, b Scenario) int {
		return cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group))
	})
	return list
}

// groups lists the groups of the run in the order in which a report shows them.
func (r *Run) groups() []string {
	order := []string{"submit", "attempts", "completion", "failover", "database", "canary"}
	for _, p := range r.Plays {
		if !slices.Contains(order, p.Group) {
			order = append(order, p.Group)
		}
	}
	return slices.DeleteFunc(order, func(g string) bool {
		return !slices.ContainsFunc(r.Plays, func(p Play) bool { return p.Group == g })
	})
}

// Counts are scenarios by verdict.
type Counts struct {
	Pass           int `json:"pass"`
	Violation      int `json:"violation"`
	Inconclusive   int `json:"inconclusive"`
	Infrastructure int `json:"infrastructure"`
	// Armed counts scenarios with faults, Fired those whose faults all fired;
	// canaries are left out, one of them must not fire.
	Armed int `json:"with_faults"`
	Fired int `json:"with_all_faults_fired"`
}

// Counts counts the scenarios of the run.
func (r *Run) Counts() Counts {
	var c Counts
	for _, s := range r.Scenarios() {
		switch s.Verdict {
		case invariant.Pass:
			c.Pass++
		case invariant.Violation:
			c.Violation++
		case invariant.Inconclusive:
			c.Inconclusive++
		default:
			c.Infrastructure++
		}
		if s.Canary == "" && s.Armed > 0 {
			c.Armed++
			if s.Fired == s.Armed {
				c.Fired++
			}
		}
	}
	return c
}

// Verdict is the verdict of the whole run. A run of nothing is inconclusive.
func (r *Run) Verdict() invariant.Verdict {
	v := invariant.Pass
	if len(r.Plays) == 0 {
		v = invariant.Inconclusive
	}
	for _, p := range r.Plays {
		v = invariant.Worse(v, p.reported())
	}
	for _, round := range r.Rounds {
		v = invariant.Worse(v, round.Verdict)
	}
	if len(r.missing()) > 0 || r.Interrupted {
		v = invariant.Worse(v, invariant.Inconclusive)
	}
	return v
}

// missing are the moves that a full run did not exercise.
func (r *Run) missing() []invariant.Edge {
	if !r.Full {
		return nil
	}
	return invariant.Missing(r.Coverage)
}

// NeverBegan is why no play could begin, where all of them stopped for the same
// reason before they recorded anything; else it is empty.
func (r *Run) NeverBegan() string {
	trouble := ""
	for i, p := range r.Plays {
		if p.Verdict != invariant.Infrastructure || p.History != "" || i > 0 && p.Trouble != trouble {
			return ""
		}
		trouble = p.Trouble
	}
	return trouble
}

// ExitCode is the exit code that goes with a verdict.
func ExitCode(v invariant.Verdict) int {
	switch v {
	case invariant.Pass:
		return 0
	case invariant.Violation:
		return 1
	case invariant.Inconclusive:
		return 2
	}
	return 3
}

// again is the command that repeats the scenario of a play of this run.
func (r *Run) again(p Play) string {
	seed := r.Seed
	if p.Try > 0 {
		seed = p.Seed
	}
	args := []string{"interlock", "verify", p.Slug, "--seed", itoa(seed)}
	if r.Mutant != "" {
		args = []string{"interlock", "mutants", r.Mutant, "--seed", itoa(seed)}
		if m, _ := mutant.Find(r.Mutant); m.Scenario != p.Slug {
			args = append(args, "--scenario", p.Slug)
		}
	}
	return Shell(append(args, r.Again...)...)
}

// RunFacts is the data of the note that a history begins with.
type RunFacts struct {
	Run    string `json:"run"`
	Seed   int64  `json:"seed"`
	Level  string `json:"level"`
	Target string `json:"target"`
	// Wall is the time of day at this event: it places what a database dated.
	Wall string `json:"wall,omitempty"`
}

// The notes that a history begins and ends with.
const (
	NoteRun   = "run"
	NoteEnded = "run-ended"
)

// End closes the history of a run: how long the run took is when this note was
// written, so that whoever has the history can tell it, too.
func (r *Run) End(rec *history.Recorder) {
	e := rec.Note("harness", "", NoteEnded, nil)
	r.Took = Milliseconds(time.Duration(e.AtUS) * time.Microsecond).whole()
}

// Span is how long a play took: from its first event to its last.
func Span(events []history.Event) Milliseconds {
	if len(events) == 0 {
		return 0
	}
	return Milliseconds(time.Duration(events[len(events)-1].AtUS-events[0].AtUS) * time.Microsecond).whole()
}

// whole is what the files can hold.
func (m Milliseconds) whole() Milliseconds {
	return Milliseconds(time.Duration(m).Truncate(time.Millisecond))
}

// Begin writes which run a history belongs to into its first line, so that no
// other run's history can stand in for it.
func (r *Run) Begin(rec *history.Recorder) {
	rec.Note("harness", "", NoteRun, RunFacts{
		Run: r.ID, Seed: r.Seed, Level: r.Level.String(), Target: r.Target, Wall: time.Now().UTC().Format(time.RFC3339Nano),
	})
}

// BeganAt is the time of day at which the clock of a history stood at 0, as its first
// note says.
func BeganAt(e history.Event) (time.Time, bool) {
	var run RunFacts
	if e.Kind != history.Note || e.Op != NoteRun || e.Decode(&run) != nil {
		return time.Time{}, false
	}
	wall, err := time.Parse(time.RFC3339Nano, run.Wall)
	if err != nil {
		return time.Time{}, false
	}
	return wall.Add(-time.Duration(e.AtUS) * time.Microsecond), true
}
