package invariant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// Expect is what a scenario says about its own history before it is judged.
type Expect struct {
	// Invariants the scenario must exercise. All of them are checked in any case;
	// one that is named and finds nothing to examine makes it inconclusive.
	Invariants []ID `json:"invariants,omitempty"`
	// Faults that must have been armed and have fired. What was armed must have
	// fired in any case, unless it may stay quiet.
	Faults []string `json:"faults,omitempty"`
	// Probes that must have been declared and reached.
	Probes []string `json:"probes,omitempty"`
	// Verdict that is right for this scenario: pass, but for canaries.
	Verdict Verdict `json:"verdict,omitempty"`
}

// Wanted returns the verdict that is right for the scenario.
func (e Expect) Wanted() Verdict {
	if e.Verdict == "" {
		return Pass
	}
	return e.Verdict
}

// Result is a judged history.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Findings in the order of their weight: violations first.
	Findings []Finding `json:"findings,omitempty"`
	// Examined counts, by invariant, what there was to examine.
	Examined   map[ID]int `json:"examined,omitempty"`
	Operations int        `json:"operations"`
	Armed      int        `json:"faults_armed"`
	Fired      int        `json:"faults_fired"`
}

// Violated reports whether invariant id was broken.
func (r Result) Violated(id ID) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Verdict == Violation && f.Invariant == id })
}

// Met reports whether the verdict is the one that the scenario wants.
func (r Result) Met(e Expect) bool { return r.Verdict == e.Wanted() }

// Judge checks every invariant over the events of one scenario and gives one
// verdict. It is pure: the same events give the same result.
func Judge(events []history.Event, level Level, expect Expect) Result {
	return Open(events).Judge(level, expect)
}

// Judge is Judge for a history that was collected event by event.
func (h History) Judge(level Level, expect Expect) Result {
	f := h.facts
	r := Result{Verdict: Pass, Examined: map[ID]int{}, Operations: len(f.ops)}
	unreadable := f.unreadable()
	for _, finding := range unreadable {
		if finding.Verdict == Infrastructure { // half a history proves nothing against the target
			return Result{Verdict: Infrastructure, Findings: unreadable, Examined: r.Examined, Operations: r.Operations}
		}
	}
	r.Findings = unreadable
	for _, i := range all {
		findings, examined := i.Check(h)
		r.Findings = append(r.Findings, findings...)
		r.Examined[i.ID] = examined
	}
	r.Findings = append(r.Findings, unexplained(perKey(f), r.Findings)...)
	r.Findings = append(r.Findings, exercised(r.Examined, level, expect)...)
	r.Findings = append(r.Findings, evidence(f, expect)...)
	for _, fault := range f.faults {
		r.Armed++
		if fault.fired {
			r.Fired++
		}
	}
	for _, finding := range r.Findings {
		r.Verdict = Worse(r.Verdict, finding.Verdict)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return slices.Index(severity, a.Verdict) - slices.Index(severity, b.Verdict)
	})
	return r
}

// unreadable says which data could not be decoded: a row or a note that the
// harness wrote is its own fault, an answer is the target's.
func (f *facts) unreadable() []Finding {
	var findings []Finding
	for _, b := range f.broken {
		finding := Finding{Verdict: Inconclusive, Sentence: "An answer of the target cannot be read: " + b.why + ".", Events: []int64{b.n}}
		if b.ours {
			finding.Verdict, finding.Sentence = Infrastructure, "The history cannot be read: "+b.why+"."
		}
		if findings = append(findings, finding); len(findings) == maxFindings {
			break
		}
	}
	return findings
}

// unexplained keeps what the model found where no cheap invariant has already
// said it better.
func unexplained(model, cheap []Finding) []Finding {
	var kept []Finding
	for _, m := range model {
		known := slices.ContainsFunc(cheap, func(c Finding) bool {
			return c.Verdict == Violation && c.Invariant == m.Invariant && (m.Job != "" && c.Job == m.Job || c.Owner == m.Owner && c.Key == m.Key)
		})
		if !known {
			kept = append(kept, m)
		}
	}
	return kept
}

// exercised finds the invariants that the scenario names and that had nothing to
// look at.
func exercised(examined map[ID]int, level Level, expect Expect) []Finding {
	var findings []Finding
	for _, id := range expect.Invariants {
		i, known := ByID(id)
		switch {
		case !known:
			findings = append(findings, undecided("The scenario names an invariant %s, which does not exist.", id))
		case i.Level > level:
			findings = append(findings, undecided("%s (%s) cannot be judged at level %s, it needs %s.", i.Name, id, level, i.Level))
		case examined[id] == 0:
			findings = append(findings, undecided("The history holds nothing that %s (%s) could be judged by.", i.Name, id))
		}
	}
	return findings
}

// evidence finds what takes the worth from a history: a broken stage, faults
// that did not act, places that were not reached, no success in the main phase.
func evidence(f *facts, expect Expect) []Finding {
	var findings []Finding
	for _, e := range f.notes {
		if e.Op == history.NoteInfrastructure {
			var why history.ErrorFacts
			_ = e.Decode(&why)
			findings = append(findings, Finding{Verdict: Infrastructure, Sentence: "The stage broke: " + why.Error + ".", Events: []int64{e.N}})
		}
	}
	for _, fault := range f.faults {
		if !fault.fired && !fault.mayStayQuiet {
			quiet := undecided("The fault %s was armed and did not fire.", fault.name)
			quiet.Expected, quiet.Found, quiet.Events = "evidence that it fired", "none", []int64{fault.armed}
			findings = append(findings, quiet)
		}
	}
	for _, name := range expect.Faults {
		if !slices.ContainsFunc(f.faults, func(fault *fault) bool { return fault.name == name }) {
			findings = append(findings, undecided("The fault %s was never armed.", name))
		}
	}
	findings = append(findings, probes(f, expect)...)
	if !f.succeeded() {
		findings = append(findings, undecided("No operation of the main phase succeeded."))
	}
	return findings
}

func probes(f *facts, expect Expect) []Finding {
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(f.declared)) {
		if !f.reached[name] {
			missed := undecided("The probe %s was not reached.", name)
			missed.Events = []int64{f.declared[name]}
			findings = append(findings, missed)
		}
	}
	for _, name := range expect.Probes {
		if f.declared[name] == 0 {
			findings = append(findings, undecided("The probe %s was never declared.", name))
		}
	}
	return findings
}

// succeeded reports whether any operation of the main phase did.
func (f *facts) succeeded() bool {
	main, heal := f.phase(history.PhaseMain), f.phase(history.PhaseHeal)
	if heal.N == 0 {
		heal = f.phase(history.PhaseAudit)
	}
	for _, o := range f.ops {
		if o.kind == history.OK && o.from > main.N && (heal.N == 0 || o.at < heal.N) {
			return true
		}
	}
	return false
}

func undecided(format string, args ...any) Finding {
	return Finding{Verdict: Inconclusive, Sentence: strings.TrimSpace(fmt.Sprintf(format, args...))}
}
