package report

import (
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

type ctrfReport struct {
	ReportFormat string      `json:"reportFormat"`
	SpecVersion  string      `json:"specVersion"`
	Results      ctrfResults `json:"results"`
}

type ctrfResults struct {
	Tool    ctrfTool    `json:"tool"`
	Summary ctrfSummary `json:"summary"`
	Tests   []ctrfTest  `json:"tests"`
}

type ctrfTool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type ctrfSummary struct {
	Tests   int   `json:"tests"`
	Passed  int   `json:"passed"`
	Failed  int   `json:"failed"`
	Pending int   `json:"pending"`
	Skipped int   `json:"skipped"`
	Other   int   `json:"other"`
	Start   int64 `json:"start"` // milliseconds since 1970
	Stop    int64 `json:"stop"`
}

type ctrfTest struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	Duration  int64    `json:"duration"`
	Suite     []string `json:"suite,omitempty"`
	RawStatus string   `json:"rawStatus,omitempty"`
	Message   string   `json:"message,omitempty"`
	Trace     string   `json:"trace,omitempty"`
}

// maxTrace bounds the text of one test, so that no platform refuses the file.
const maxTrace = 8 << 10

// ctrf writes the Common Test Report Format: inconclusive and infrastructure are
// "other", never passed.
func ctrf(r *Run, events map[string][]history.Event) ([]byte, error) {
	start := r.Started.UnixMilli()
	results := ctrfResults{
		Tool:    ctrfTool{Name: "interlock", Version: r.Versions["interlock"]},
		Summary: ctrfSummary{Start: start, Stop: start + time.Duration(r.Took).Milliseconds()},
		Tests:   []ctrfTest{},
	}
	for _, s := range r.cases() {
		test := ctrfTest{Name: s.Slug, Duration: time.Duration(s.Took).Milliseconds(), Suite: []string{s.Group}, RawStatus: string(s.Verdict)}
		switch s.Verdict {
		case invariant.Pass:
			test.Status = "passed"
			results.Summary.Passed++
		case invariant.Violation:
			test.Status = "failed"
			results.Summary.Failed++
		default:
			test.Status = "other"
			results.Summary.Other++
		}
		if s.Verdict != invariant.Pass {
			test.Message = Untrusted(s.why()).Terminal()
			for _, p := range s.Plays {
				if !p.Met() && len(test.Trace) < maxTrace {
					test.Trace += r.Violation(*p, events[p.History], Places{}, Style{})
				}
			}
		}
		results.Tests = append(results.Tests, test)
	}
	for _, n := range r.Skipped {
		results.Summary.Skipped++
		results.Tests = append(results.Tests, ctrfTest{Name: n.Slug, Status: "skipped", Suite: []string{n.Group}, RawStatus: "not-applicable"})
	}
	results.Summary.Tests = len(results.Tests)
	return indent(ctrfReport{ReportFormat: "CTRF", SpecVersion: "0.0.0", Results: results})
}
