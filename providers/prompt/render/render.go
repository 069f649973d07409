// Package render checks whether a prompt renders through a provider as the
// contract means it: twenty checks, R1 to R20, on a chat template, a tokenizer
// and the server that uses both.
//
// The rule it keeps: a check looks at one property and at nothing else, so that
// one fault is reported by one check. A template that cannot be looked at (it
// refuses a plain conversation, or drops what another check is about) leaves a
// check without a verdict, never passed. A deviation counts as allowed only where
// the profile declares it, and is named in the result either way.
package render

import (
	"fmt"
	"slices"
	"sort"
)

// Verdict of a check.
type Verdict string

const (
	// Pass: nothing was found.
	Pass Verdict = "pass"
	// Fail: something was found that no profile may declare, or that this one does not.
	Fail Verdict = "fail"
	// Deviation: all that was found is declared by the profile.
	Deviation Verdict = "deviation"
	// Info: something worth knowing was found, which is nobody's fault.
	Info Verdict = "info"
	// NotApplicable: the check cannot look, for the reason that Result.Reason gives.
	NotApplicable Verdict = "not-applicable"
)

// Finding is one thing that a check found.
type Finding struct {
	Text string `json:"text"` // in one sentence
	// Deviation is the word by which a profile can declare this, such as
	// "raises"; empty for what it cannot.
	Deviation string `json:"deviation,omitempty"`
	Declared  bool   `json:"declared,omitempty"` // and the profile does
	Info      bool   `json:"info,omitempty"`     // worth knowing only
}

// Result of one check.
type Result struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"` // what holds where it passes
	Verdict  Verdict   `json:"verdict"`
	Reason   string    `json:"reason,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// Report is the results of all checks, in their order.
type Report struct {
	Profile string   `json:"profile"`
	Results []Result `json:"results"`
	// Unused are deviations that the profile declares and no check met.
	Unused []string `json:"unused,omitempty"`
}

// OK reports whether no check failed.
func (r *Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(x Result) bool { return x.Verdict == Fail })
}

// Result returns the result of the check id.
func (r *Report) Result(id string) Result {
	for _, x := range r.Results {
		if x.ID == id {
			return x
		}
	}
	return Result{ID: id, Verdict: NotApplicable, Reason: "there is no such check"}
}

// check is one requirement. It reports what it finds to the examination.
type check struct {
	id, title string
	run       func(*examination)
}

// checks in the order of their numbers.
var checks = []check{
	{"R1", "the system prompt reaches the model", systemKept},
	{"R2", "a system prompt in mid-conversation reaches the model", lateSystem},
	{"R3", "every turn is kept or refused, in an unusual order and in a long history", roleOrder},
	{"R4", "text of a user never becomes a special token", forgedSpecial},
	{"R5", "text of a user never becomes an added token that is not flagged special", forgedUnflagged},
	{"R6", "a prompt begins with exactly one beginning token", oneBeginning},
	{"R7", "a prompt ends with the header of the answer when asked to, and only then", generationPrompt},
	{"R8", "the content of a turn is not altered", verbatim},
	{"R9", "every tool and every key of its schema is in the prompt, in order and without escapes", toolsRendered},
	{"R10", "arguments of tool calls render alike as text and as an object", toolArguments},
	{"R11", "an answer without content is no word", nullContent},
	{"R12", "content in parts renders as its text", arrayContent},
	{"R13", "the thinking of earlier turns is kept", thinkingKept},
	{"R14", "a prompt does not depend on the clock", clock},
	{"R15", "nothing is said that the caller did not send", hiddenSystem},
	{"R16", "text survives the tokenizer and back", roundTrip},
	{"R17", "prompt and answer fit into the context window", budget},
	{"R18", "the provider counts prompt tokens as we do", usageAgrees},
	{"R19", "the tokenizer is the one that the profile names", identity},
	{"R20", "rendering comes to an end", safety},
}

// IDs returns the ids of all checks, in order.
func IDs() []string {
	var ids []string
	for _, c := range checks {
		ids = append(ids, c.id)
	}
	return ids
}

// Check runs every check on s.
func Check(s *Subject) *Report {
	report := &Report{Profile: s.Profile.Name}
	met := map[string]bool{}
	earlier := map[string]Verdict{}
	run := func(c check) Result {
		e := &examination{Subject: s, earlier: earlier}
		c.run(e)
		r := e.result(c, met)
		earlier[c.id] = r.Verdict
		return r
	}
	const tokenizer = "R19" // first: checks that count tokens ask for it
	identified := run(checks[slices.IndexFunc(checks, func(c check) bool { return c.id == tokenizer })])
	for _, c := range checks {
		if c.id == tokenizer {
			report.Results = append(report.Results, identified)
			continue
		}
		report.Results = append(report.Results, run(c))
	}
	for _, declared := range s.Profile.Deviations {
		if !met[declared] {
			report.Unused = append(report.Unused, declared)
		}
	}
	sort.Strings(report.Unused)
	return report
}

// examination is one check at work on a subject.
type examination struct {
	*Subject
	earlier  map[string]Verdict // of the checks before
	findings []Finding
	skipped  string
}

// fail reports what no profile may declare.
func (e *examination) fail(format string, args ...any) {
	e.findings = append(e.findings, Finding{Text: fmt.Sprintf(format, args...)})
}

// deviates reports what a profile may declare as deviation.
func (e *examination) deviates(deviation, format string, args ...any) {
	e.findings = append(e.findings, Finding{Text: fmt.Sprintf(format, args...), Deviation: deviation})
}

// informs reports what is worth knowing.
func (e *examination) informs(format string, args ...any) {
	e.findings = append(e.findings, Finding{Text: fmt.Sprintf(format, args...), Info: true})
}

// skip says why the check cannot look.
func (e *examination) skip(format string, args ...any) { e.skipped = fmt.Sprintf(format, args...) }

// plain reports whether a plain conversation renders, and skips the check where
// it does not: R20 says so once.
func (e *examination) plain() bool {
	if _, err := e.Route.Render(Conversation{Messages: []Message{user(mark)}, Generate: true}); err != nil {
		e.skip("a plain conversation is refused: %v", err)
		return false
	}
	return true
}

// known reports whether the tokenizer is the one that the profile names, and
// skips the check where it is not: ids of another mean nothing.
func (e *examination) known() bool {
	if e.earlier["R19"] == Fail {
		e.skip("the tokenizer is another one (R19)")
		return false
	}
	return true
}

// result sums up. met collects the declared deviations that were met.
func (e *examination) result(c check, met map[string]bool) Result {
	r := Result{ID: c.id, Title: c.title, Verdict: Pass, Findings: e.findings}
	for i := range r.Findings {
		f := &r.Findings[i]
		verdict := Fail
		switch declared := c.id + " " + f.Deviation; {
		case f.Info:
			verdict = Info
		case f.Deviation != "" && slices.Contains(e.Profile.Deviations, declared):
			f.Declared, verdict = true, Deviation
			met[declared] = true
		}
		if worse(verdict, r.Verdict) {
			r.Verdict = verdict
		}
	}
	if len(r.Findings) == 0 && e.skipped != "" {
		r.Verdict, r.Reason = NotApplicable, e.skipped
	}
	return r
}

func worse(a, b Verdict) bool {
	order := []Verdict{Pass, Info, Deviation, Fail}
	return slices.Index(order, a) > slices.Index(order, b)
}
