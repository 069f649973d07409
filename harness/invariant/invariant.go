// Package invariant judges a history: sixteen rules (I1 to I16) that hold
// whatever breaks, as pure functions, and one verdict over them.
//
// It keeps one rule of its own: an invariant says violation only where the
// history proves it, with the events that do. Where the evidence does not reach,
// it has examined nothing, and a scenario that names it is inconclusive, never
// passed.
package invariant

import (
	"fmt"
	"slices"
)

// ID names an invariant: I1 to I16.
type ID string

// Verdict of one finding or of a whole history.
type Verdict string

const (
	Pass Verdict = "pass"
	// Violation: the history proves that the target broke a rule.
	Violation Verdict = "violation"
	// Inconclusive: nothing was broken, but nothing was proved either.
	Inconclusive Verdict = "inconclusive"
	// Infrastructure: the stage broke; the target was not judged.
	Infrastructure Verdict = "infrastructure"
)

// Worse returns the verdict that decides when two are mixed: violation, then
// infrastructure, then inconclusive, then pass.
func Worse(a, b Verdict) Verdict {
	if slices.Index(severity, a) < slices.Index(severity, b) {
		return a
	}
	return b
}

var severity = []Verdict{Violation, Infrastructure, Inconclusive, Pass}

// Level is how deep the harness sees into a target: 0 is HTTP only, 1 adds the
// providers, 2 the database, 3 processes, 4 clock and pauses.
type Level int

func (l Level) String() string { return fmt.Sprintf("L%d", int(l)) }

// ParseLevel reads L0 to L4.
func ParseLevel(text string) (Level, error) {
	if len(text) == 2 && text[0] == 'L' && text[1] >= '0' && text[1] <= '4' {
		return Level(text[1] - '0'), nil
	}
	return 0, fmt.Errorf("level %q is not one of L0 to L4", text)
}

// Finding is one thing that an invariant has to say about a history.
type Finding struct {
	Verdict   Verdict `json:"verdict"`
	Invariant ID      `json:"invariant,omitempty"` // empty: the history as a whole
	// Sentence says what happened, Expected and Found what the rule wants and
	// what is there instead. They name jobs and attempts by id.
	Sentence string `json:"sentence"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	Owner    string `json:"owner,omitempty"`
	Key      string `json:"key,omitempty"`
	Job      string `json:"job,omitempty"`
	Attempt  string `json:"attempt,omitempty"`
	// Events are the numbers of the events that prove it, rising. The last one is
	// where the rule was broken.
	Events []int64 `json:"events,omitempty"`
}

// Invariant is one rule.
type Invariant struct {
	ID   ID
	Name string // two or three words: one winner
	Rule string // one sentence
	// Level is the least at which the rule can be judged at all.
	Level Level
	check func(*facts, *tally)
}

// Check judges the invariant alone over a history and returns what it found and
// how many things (keys, jobs, attempts) it examined.
func (i Invariant) Check(h History) ([]Finding, int) {
	t := &tally{id: i.ID}
	i.check(h.facts, t)
	return t.findings, t.examined
}

// All lists the invariants in order.
func All() []Invariant { return slices.Clone(all) }

// ByID returns one invariant.
func ByID(id ID) (Invariant, bool) {
	for _, i := range all {
		if i.ID == id {
			return i, true
		}
	}
	return Invariant{}, false
}

var all = []Invariant{
	{"I1", "one job", "one owner and key give one job, and the same click again gives that job", 0, oneJob},
	{"I2", "bound intent", "a key stays bound to its first intent: another one is a conflict and changes nothing", 0, boundIntent},
	{"I3", "one open attempt", "a job has at most one attempt that is starting, running or unknown", 0, oneOpenAttempt},
	{"I4", "legal moves", "an attempt makes legal moves only, and a timeout alone never makes it failed", 0, legalMoves},
	{"I5", "one winner", "a stored result never changes", 0, oneWinner},
	{"I6", "late result", "a late finisher changes nothing, shows nowhere and leaves one race record", 0, lateResult},
	{"I7", "one call", "every provider call has its own attempt, committed before it, and goes to who proved to be the provider, no sooner than asked", 1, oneCall},
	{"I8", "acknowledged", "what was acknowledged is still there", 0, acknowledged},
	{"I9", "forward reads", "reads never go backwards, on any replica", 0, forwardReads},
	{"I10", "settled", "after healing every job ends or says unknown, within the bound", 0, settled},
	{"I11", "owners apart", "an owner neither sees nor meets the jobs of another", 0, ownersApart},
	{"I12", "certified failover", "a job moves on to certified providers only", 1, certifiedFailover},
	{"I13", "honest answers", "2xx only for what is durable, 4xx only for what did not happen", 0, honestAnswers},
	{"I14", "no leaks", "goroutines, connections, locks and files go back to where they were", 0, noLeaks},
	{"I15", "explicit cancel", "nothing is cancelled unasked, and a cancel that was granted holds", 0, explicitCancel},
	{"I16", "untouched job", "a job row does not change while attempts accumulate", 0, untouchedJob},
}

// tally collects what one invariant finds.
type tally struct {
	id       ID
	findings []Finding
	examined int
}

// maxFindings bounds how often one invariant repeats itself.
const maxFindings = 20

// saw counts things examined.
func (t *tally) saw(n int) { t.examined += n }

// violated adds a violation; events are the numbers that prove it (0 is left out).
func (t *tally) violated(f Finding, events ...int64) {
	f.Verdict = Violation
	t.add(f, events)
}

func (t *tally) undecided(f Finding, events ...int64) {
	f.Verdict = Inconclusive
	t.add(f, events)
}

func (t *tally) add(f Finding, events []int64) {
	if len(t.findings) >= maxFindings {
		return
	}
	f.Invariant = t.id
	for _, n := range events {
		if n > 0 && n != never {
			f.Events = append(f.Events, n)
		}
	}
	slices.Sort(f.Events)
	f.Events = slices.Compact(f.Events)
	t.findings = append(t.findings, f)
}
