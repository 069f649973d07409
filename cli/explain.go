package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/scenarios"
)

// explanation is what explain says about one name.
type explanation struct {
	Name string   `json:"name"`
	Kind string   `json:"kind"` // scenario, invariant, check, mutant, exit code, attempt state, verdict
	Text []string `json:"text"`
	Next string   `json:"next,omitempty"` // command that goes on from here
}

func explainCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain NAME",
		Short: "what a scenario, an invariant, a check, a mutant, a state or an exit code means",
		Example: `  interlock explain I5
  interlock explain S02
  interlock explain reverse-order
  interlock explain unknown
  interlock explain 2`,
		Args: exactly(1, "the name of a scenario, an invariant, a check, a mutant, a state or an exit code"),
		RunE: func(_ *cobra.Command, args []string) error {
			e, ok := explain(args[0])
			if !ok {
				return usagef("nothing is called %q.%s interlock verify --list shows the scenarios; I1 to I16 are the invariants", args[0], didYouMean(args[0], explainable()))
			}
			if s.json {
				return json.NewEncoder(s.out).Encode(e)
			}
			_, _ = fmt.Fprintf(s.out, "%s (%s)\n", e.Name, e.Kind)
			for _, line := range e.Text {
				_, _ = fmt.Fprintln(s.out, "  "+line)
			}
			if e.Next != "" {
				_, _ = fmt.Fprintf(s.out, "  again    %s\n", e.Next)
			}
			return nil
		},
	}
}

func explain(name string) (explanation, bool) {
	if i, ok := invariant.ByID(invariant.ID(strings.ToUpper(name))); ok {
		return explainInvariant(i), true
	}
	for _, i := range invariant.All() {
		if i.Name == name {
			return explainInvariant(i), true
		}
	}
	if c, ok := check.ByID(strings.ToUpper(name)); ok {
		return explainCheck(c), true
	}
	if i, ok := scenarios.Find(name); ok {
		return explainScenario(i), true
	}
	for _, m := range mutant.All() {
		if m.Name == name {
			return explainMutant(m), true
		}
	}
	for _, w := range words {
		if w.Name == name {
			return w, true
		}
	}
	return explanation{}, false
}

func explainInvariant(i invariant.Invariant) explanation {
	e := explanation{Name: string(i.ID) + " " + i.Name, Kind: "invariant", Text: []string{i.Rule + ".", "Judged from level " + i.Level.String() + " on."}}
	var by []string
	for _, s := range scenarios.All() {
		for _, id := range s.Expect.Invariants {
			if id == i.ID {
				by = append(by, s.Slug)
			}
		}
	}
	if len(by) > 0 {
		e.Text = append(e.Text, "Exercised by "+strings.Join(by, ", ")+".")
		e.Next = "interlock verify " + by[0]
	}
	return e
}

func explainCheck(c check.Check) explanation {
	how := map[check.Kind]string{
		check.Deterministic: "One bad answer is enough to fail it.",
		check.Statistical:   "The lower bound of its pass rate over the cases must reach that of the plan.",
		check.Relational:    "It compares answers with each other.",
	}
	return explanation{
		Name: c.ID, Kind: "check", Next: "interlock certify openai-demo --contract invoice --check " + c.ID,
		Text: []string{c.Title + ".", fmt.Sprintf("A %s check. %s", c.Severity, how[c.Kind])},
	}
}

func explainScenario(i scenarios.Info) explanation {
	e := explanation{Name: i.Slug, Kind: "scenario", Next: "interlock verify " + i.Slug}
	e.Text = append(e.Text, i.Title+".", "Fault: "+i.Fault+".", "Needs a target of level "+i.Level.String()+".")
	for _, id := range i.Expect.Invariants {
		if known, ok := invariant.ByID(id); ok {
			e.Text = append(e.Text, fmt.Sprintf("%-4s %s.", id, known.Rule))
		}
	}
	for _, m := range mutant.Of(i.Slug) {
		e.Text = append(e.Text, fmt.Sprintf("Kills %s: %s.", m.Name, m.Description))
	}
	return e
}

func explainMutant(m mutant.Mutant) explanation {
	return explanation{
		Name: m.Name, Kind: "mutant", Next: "interlock mutants " + m.Name,
		Text: []string{m.Description + ".", fmt.Sprintf("Must be caught by %s, by %s.", m.Scenario, m.Invariant)},
	}
}

// words are the names that stand in outputs and exit codes.
var words = []explanation{
	{Name: "pass", Kind: "verdict", Text: []string{"Every invariant held, every fault fired, and there was something to judge."}},
	{Name: "violation", Kind: "verdict", Text: []string{"The history proves that the target broke a rule. Exit code 1."}},
	{Name: "inconclusive", Kind: "verdict", Text: []string{"Nothing was broken, but nothing was proved either: a fault did not fire, a place", "was not reached, or nothing succeeded. Exit code 2, never a pass."}},
	{Name: "infrastructure", Kind: "verdict", Text: []string{"The stage broke (database, port, process), so the target was not judged. Exit code 3."}},
	{Name: "starting", Kind: "attempt state", Text: []string{"The attempt's row is committed and nothing was sent yet. A worker's claim moves it on."}},
	{Name: "running", Kind: "attempt state", Text: []string{"A worker claimed the attempt; committed before the first byte may leave."}},
	{Name: "unknown", Kind: "attempt state", Text: []string{
		"The deadline or the lease passed and nothing says how the provider's work ended.",
		"It may still finish, so no new attempt starts by itself. It ends by the late answer,",
		"by asking the provider, or by an operator: resolve with evidence, release (it may",
		"still win) or cancel (it never can).",
	}},
	{Name: "released", Kind: "attempt state", Text: []string{"Still in flight, no longer in the way of a new attempt, still able to win."}},
	{Name: "succeeded", Kind: "attempt state", Text: []string{"The one attempt that wrote its job's result."}},
	{Name: "lost", Kind: "attempt state", Text: []string{"It finished late or second. Its payload was dropped; a race row says who won."}},
	{Name: "failed", Kind: "attempt state", Text: []string{"A definite failure: not sent, refused, or an answer that the contract rejects. Never a timeout."}},
	{Name: "cancelled", Kind: "attempt state", Text: []string{"Fenced for ever: whatever it still brings back is discarded and recorded."}},
	{Name: "0", Kind: "exit code", Text: []string{"verify: all pass. certify: certified. gate: allow. mutants: all caught. judge: all accepted."}},
	{Name: "1", Kind: "exit code", Text: []string{"Evidence says no: a violation, a failed must check, a deny, a mutant that survived."}},
	{Name: "2", Kind: "exit code", Text: []string{"No usable evidence: inconclusive, nothing ran, no certificate or an expired one."}},
	{Name: "3", Kind: "exit code", Text: []string{"The evidence could not be made or read: database, ports, target or provider down."}},
	{Name: "64", Kind: "exit code", Text: []string{"Usage: an unknown command, flag, name or file."}},
	{Name: "130", Kind: "exit code", Text: []string{"Interrupted (SIGINT). verify, explore, mutants and bench tell what was judged until then."}},
	{Name: "143", Kind: "exit code", Text: []string{"Terminated (SIGTERM), otherwise as 130. serve drains and ends with 0."}},
}

func explainable() []string {
	var names []string
	for _, i := range invariant.All() {
		names = append(names, string(i.ID))
	}
	for _, i := range scenarios.All() {
		names = append(names, i.Slug)
	}
	for _, c := range check.All() {
		names = append(names, c.ID)
	}
	for _, m := range mutant.All() {
		names = append(names, m.Name)
	}
	for _, w := range words {
		names = append(names, w.Name)
	}
	return names
}
