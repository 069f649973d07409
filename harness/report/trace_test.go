package report_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

// storedRun is a run over some stored histories, with all its events.
func storedRun(t *testing.T) (*report.Run, []history.Event) {
	t.Helper()
	plays, groups, expects := map[string][]history.Event{}, map[string]string{}, map[string]invariant.Expect{}
	histories := stored(t, "*")
	for i, name := range slices.Sorted(maps.Keys(histories)) {
		if i%25 == 0 { // good ones and bad ones
			plays[name], groups[name], expects[name] = histories[name], "submit", invariant.Expect{}
		}
	}
	s := newRun(t, t.TempDir(), plays, groups, expects)
	return &s.run, s.folder.Recorder.Events()
}

func TestPerfettoSlicesOfAThreadDoNotOverlap(t *testing.T) {
	run, all := storedRun(t)
	var text bytes.Buffer
	if err := report.Perfetto(&text, run, all); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name, Ph string
			TS, Dur  int64
			PID, TID int
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	processes, slicesSeen := 0, 0
	until := map[[2]int]int64{}
	for _, e := range trace.TraceEvents {
		switch e.Ph {
		case "M":
			if e.Name == "process_name" {
				processes++
			}
		case "X":
			slicesSeen++
			thread := [2]int{e.PID, e.TID}
			if e.TS < until[thread] || e.Dur <= 0 {
				t.Errorf("%s at %d for %d overlaps what ends at %d on thread %v", e.Name, e.TS, e.Dur, until[thread], thread)
			}
			until[thread] = e.TS + e.Dur
		case "i":
		default:
			t.Errorf("phase %q", e.Ph)
		}
	}
	if processes != len(run.Plays) || slicesSeen == 0 {
		t.Errorf("%d processes for %d plays, %d slices", processes, len(run.Plays), slicesSeen)
	}
}

func TestOTLPIsATraceForEachJob(t *testing.T) {
	run, all := storedRun(t)
	var text bytes.Buffer
	if err := report.OTLP(&text, run, all); err != nil {
		t.Fatal(err)
	}
	var traces []string
	for _, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
		var trace struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct {
						TraceID, SpanID, ParentSpanID      string
						Name                               string
						StartTimeUnixNano, EndTimeUnixNano string
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &trace); err != nil {
			t.Fatal(err)
		}
		spans := trace.ResourceSpans[0].ScopeSpans[0].Spans
		root := spans[0]
		if !strings.HasPrefix(root.Name, "job ") || root.ParentSpanID != "" || len(root.TraceID) != 32 || len(root.SpanID) != 16 {
			t.Errorf("the root is %+v", root)
		}
		traces = append(traces, root.TraceID)
		for _, s := range spans[1:] {
			from, _ := strconv.ParseInt(s.StartTimeUnixNano, 10, 64)
			to, _ := strconv.ParseInt(s.EndTimeUnixNano, 10, 64)
			if s.TraceID != root.TraceID || s.ParentSpanID != root.SpanID || to <= from || s.StartTimeUnixNano < root.StartTimeUnixNano || s.EndTimeUnixNano > root.EndTimeUnixNano {
				t.Errorf("span %+v of %+v", s, root)
			}
		}
	}
	slices.Sort(traces)
	if len(traces) < 2 || len(slices.Compact(slices.Clone(traces))) != len(traces) {
		t.Errorf("traces %v", traces)
	}
}
