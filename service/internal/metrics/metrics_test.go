package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/metrics"
)

type figures struct{ err error }

func (f figures) Stats(context.Context) (job.Stats, error) {
	return job.Stats{Attempts: map[job.State]int64{job.StateRunning: 3, job.StateUnknown: 1}, OldestUnknown: 90 * time.Second, OldestWaiting: time.Second}, f.err
}

// scrape returns the samples of our own metrics, as Prometheus reads them.
func scrape(t *testing.T, m *metrics.Metrics) []string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var samples []string
	for line := range strings.Lines(w.Body.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "interlock_") {
			samples = append(samples, line)
		}
	}
	return samples
}

func full(f figures) *metrics.Metrics {
	soon, later := time.Unix(1_800_000_000, 0), time.Unix(1_900_000_000, 0)
	m := metrics.New(f, func() []metrics.Expiry {
		return []metrics.Expiry{{Provider: "q", Contract: "c@1", At: later}, {Provider: "q", Contract: "c@1", At: soon}}
	})
	m.Submitted("new")
	m.Refused("not-found")
	m.AttemptEnded("p", "accepted", time.Second)
	m.AttemptEnded("p", "late", time.Second)
	m.GateDecision("p", "q", "c@1", true, "")
	m.GateDecision("p", "q", "c@1", false, "expired")
	return m
}

// The names are part of the product: dashboards and alarms hold them.
func TestNamesAndLabelsArePromised(t *testing.T) {
	labels := map[string]string{
		"interlock_submits_total":                         "outcome",
		"interlock_attempts":                              "state",
		"interlock_attempt_duration_seconds":              "outcome,provider",
		"interlock_unknown_oldest_age_seconds":            "",
		"interlock_late_results_discarded_total":          "provider",
		"interlock_gate_decisions_total":                  "answer,contract,from,reason,to",
		"interlock_certificate_expires_timestamp_seconds": "contract,provider",
		"interlock_build_info":                            "goversion,version",
		"interlock_refusals_total":                        "problem",
		"interlock_starting_oldest_age_seconds":           "",
		"interlock_store_up":                              "",
	}
	name := regexp.MustCompile(`^(\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? `)
	label := regexp.MustCompile(`(\w+)="`)
	seen := map[string]string{}
	for _, sample := range scrape(t, full(figures{})) {
		m := name.FindStringSubmatch(sample)
		var names []string
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" {
				names = append(names, l[1])
			}
		}
		slices.Sort(names)
		seen[m[1]] = strings.Join(names, ",")
	}
	if fmt.Sprint(seen) != fmt.Sprint(labels) {
		t.Errorf("the metrics are\n%v\nand were promised as\n%v", seen, labels)
	}
}

func TestValues(t *testing.T) {
	samples := scrape(t, full(figures{}))
	for _, want := range []string{
		`interlock_attempts{state="running"} 3`, `interlock_attempts{state="starting"} 0`, `interlock_attempts{state="unknown"} 1`,
		`interlock_unknown_oldest_age_seconds 90`, `interlock_starting_oldest_age_seconds 1`, `interlock_store_up 1`,
		`interlock_late_results_discarded_total{provider="p"} 1`, `interlock_attempt_duration_seconds_count{outcome="late",provider="p"} 1`,
		`interlock_gate_decisions_total{answer="yes",contract="c@1",from="p",reason="",to="q"} 1`,
		`interlock_gate_decisions_total{answer="no",contract="c@1",from="p",reason="expired",to="q"} 1`,
		`interlock_certificate_expires_timestamp_seconds{contract="c@1",provider="q"} 1.9e+09`,
	} {
		if !slices.Contains(samples, want) {
			t.Errorf("there is no %s in\n%s", want, strings.Join(samples, "\n"))
		}
	}
}

// A database that does not answer must not look like one where all is well.
func TestAStoreThatIsAwayHasNoFigures(t *testing.T) {
	for _, sample := range scrape(t, full(figures{err: errors.New("away")})) {
		if strings.HasPrefix(sample, "interlock_store_up ") && sample != "interlock_store_up 0" {
			t.Error(sample)
		}
		for _, gone := range []string{"interlock_attempts{", "interlock_unknown_oldest", "interlock_starting_oldest"} {
			if strings.HasPrefix(sample, gone) {
				t.Errorf("a figure that nobody read: %s", sample)
			}
		}
	}
}
