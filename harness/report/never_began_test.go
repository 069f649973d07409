package report_test

import (
	"testing"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

func TestNeverBeganIsTheOneReasonThatAllPlaysHave(t *testing.T) {
	stopped := func(history, trouble string) report.Play {
		return report.Play{Verdict: invariant.Infrastructure, History: history, Trouble: trouble}
	}
	for name, c := range map[string]struct {
		plays []report.Play
		want  string
	}{
		"none at all":       {nil, ""},
		"one reason":        {[]report.Play{stopped("", "no disk"), stopped("", "no disk")}, "no disk"},
		"two reasons":       {[]report.Play{stopped("", "no disk"), stopped("", "no port")}, ""},
		"one that began":    {[]report.Play{stopped("", "no disk"), stopped("h-1", "no disk")}, ""},
		"one that was good": {[]report.Play{stopped("", "no disk"), {Verdict: invariant.Pass}}, ""},
	} {
		if got := (&report.Run{Plays: c.plays}).NeverBegan(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
