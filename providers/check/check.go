// Package check holds the checks that a provider must pass, one per file: the
// transcripts of a run in, a result out.
//
// A check looks at one layer and at nothing else. What is wrong with one
// transcript belongs to exactly one check (its owner), so a provider with one
// fault is rejected by one check; where a fault hides what another check would
// look at, that one is inconclusive, never passed. No check calls a provider,
// repairs output or counts a retry.
package check

import "github.com/interlock-harness/interlock/providers/statistics"

// Severity of a check.
type Severity string

const (
	Must   Severity = "must"
	Should Severity = "should"
)

// Verdict of a check.
type Verdict string

const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	// NotApplicable: the check has nothing to say about this provider, for the
	// reason given. It is never as good as a pass where the contract demands one.
	NotApplicable Verdict = "not-applicable"
)

// Kind says how a check decides.
type Kind string

const (
	Deterministic Kind = "D" // one bad transcript is enough
	Statistical   Kind = "S" // the lower bound of the pass rate over cases must reach the plan's
	Relational    Kind = "R" // transcripts are compared with each other
)

// Check is one requirement.
type Check struct {
	ID       string
	Title    string // what holds for a provider that passes
	Kind     Kind
	Severity Severity
	Probes   []Probe // the requests that it needs
	judge    func(*Run, *tally)
}

// Result of a check over a run. N counts cases, the unit of the bound; each was
// tried up to K times.
type Result struct {
	ID           string    `json:"id"`
	Title        string    `json:"title"`
	Severity     Severity  `json:"severity"`
	Verdict      Verdict   `json:"verdict"`
	N            int       `json:"n"`
	K            int       `json:"k"`
	Passes       int       `json:"passes"`
	Inconclusive int       `json:"inconclusive"`
	Lower95      float64   `json:"lower95"`
	Threshold    float64   `json:"threshold"`
	Reason       string    `json:"reason,omitempty"` // why it did not pass, in one sentence
	Findings     []Finding `json:"findings,omitempty"`
	Notes        []string  `json:"notes,omitempty"` // declared deviations, and what is worth knowing
	Evidence     []string  `json:"evidence"`        // digests of the transcripts that were looked at
	Replayed     bool      `json:"replayed"`        // rests on recordings or the stand-in alone
}

// Finding is one transcript that a check objects to.
type Finding struct {
	Case   string `json:"case"`
	Repeat int    `json:"repeat"`
	Stream bool   `json:"stream"`
	Reason string `json:"reason"`
	Place  string `json:"place,omitempty"`
	Detail string `json:"detail,omitempty"`
	Digest string `json:"digest"`
}

// mostFindings bounds what a report shows of one check; all are counted.
const mostFindings = 5

// Judge runs all checks over a run, in their order.
func Judge(r *Run) []Result {
	r.assign()
	var results []Result
	for _, c := range All() {
		results = append(results, r.one(c))
	}
	return results
}

func (r *Run) one(c Check) Result {
	t := newTally(c)
	c.judge(r, t)
	severity := c.Severity
	if t.severity != "" {
		severity = t.severity
	}
	if s, ok := r.Severities[c.ID]; ok {
		severity = s
	}
	return t.result(severity, r.Threshold, r.Inconclusive)
}

// decide turns counts into a verdict.
func (t *tally) result(severity Severity, threshold, inconclusive float64) Result {
	res := Result{
		ID: t.check.ID, Title: t.check.Title, Severity: severity, Findings: t.findings, Evidence: t.evidence,
		Replayed: t.replayed, Reason: t.reason, Notes: t.notes,
	}
	if res.Evidence == nil {
		res.Evidence = []string{}
	}
	for _, g := range t.groups {
		res.N++
		res.K = max(res.K, g.tries)
		switch {
		case g.failed:
		case g.unclear:
			res.Inconclusive++
		default:
			res.Passes++
		}
	}
	res.Lower95 = statistics.Lower(res.Passes, res.N, statistics.Confidence)
	if t.check.Kind == Statistical {
		res.Threshold = threshold
	}
	if t.lower != nil {
		res.Lower95, res.Threshold = *t.lower, *t.bar
	}
	failed := res.N - res.Passes - res.Inconclusive
	switch {
	case t.fault != "":
		res.Verdict, res.Reason = Fail, t.fault
	case failed > 0 && (t.check.Kind != Statistical || res.Lower95 < res.Threshold):
		res.Verdict = Fail
		if res.Reason == "" && len(t.findings) > 0 {
			res.Reason = t.findings[0].sentence()
		}
	case res.N == 0 && t.notApplicable != "":
		res.Verdict, res.Reason = NotApplicable, t.notApplicable
	case res.N == 0:
		res.Verdict = Inconclusive
		if res.Reason == "" {
			res.Reason = "no transcript to look at"
		}
	case float64(res.Inconclusive) > inconclusive*float64(res.N):
		res.Verdict = Inconclusive
		if res.Reason = t.unclear; res.Reason == "" {
			res.Reason = "too many cases came to no answer"
		}
	case res.Lower95 < res.Threshold:
		res.Verdict, res.Reason = Inconclusive, "too few cases for the bound of the plan"
	default:
		res.Verdict, res.Reason = Pass, ""
	}
	return res
}

func (f Finding) sentence() string {
	text := f.Reason
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}
