package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

func annotated(t *testing.T, r *report.Run) []string {
	t.Helper()
	var b strings.Builder
	if err := r.Annotations(&b, nil); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func bad(slug string, v invariant.Verdict) report.Play {
	return report.Play{Slug: slug, Title: "t", Group: "submit", Verdict: v, Trouble: "100 %: it broke,\nin two lines\n::error::of which one is a command"}
}

func TestAnnotationsStayWithinWhatOneStepMayHave(t *testing.T) {
	r := &report.Run{}
	for i := range 25 {
		r.Plays = append(r.Plays, bad(fmt.Sprintf("scenario-%d", i), invariant.Violation))
	}
	r.Plays = append(r.Plays, bad("unsure", invariant.Inconclusive), report.Play{Slug: "good", Verdict: invariant.Pass})
	lines := annotated(t, r)
	if len(lines) != 11 || lines[9] != "::error title=interlock::and 16 more, in the report" || !strings.HasPrefix(lines[10], "::warning ") {
		t.Fatalf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	if !strings.HasPrefix(lines[0], "::error file=scenarios/scenario_0.go,line=1,title=scenario-0::") {
		t.Errorf("the first line is %s", lines[0])
	}
}

func TestAnnotationIsOneCommandWhateverTheTextHolds(t *testing.T) {
	lines := annotated(t, &report.Run{Plays: []report.Play{bad("a,b:c", invariant.Violation)}})
	if len(lines) != 1 || !strings.Contains(lines[0], "title=a%2Cb%3Ac::") || !strings.Contains(lines[0], "%0A") || strings.Contains(lines[0], "100 % ") {
		t.Errorf("got %q", lines)
	}
}

func TestAnnotationsOfAGoodRunAreNone(t *testing.T) {
	if lines := annotated(t, &report.Run{Plays: []report.Play{{Slug: "good", Verdict: invariant.Pass}}}); lines[0] != "" {
		t.Errorf("got %q", lines)
	}
}
