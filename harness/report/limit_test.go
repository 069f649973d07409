package report_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
)

// TestAPageBeyondItsLimitLeavesPassingHistoriesOut: at the limit that is named, not
// below it, and with Full nowhere.
func TestAPageBeyondItsLimitLeavesPassingHistoriesOut(t *testing.T) {
	run, folder := repeated(t)
	rec := history.New()
	for i := range 400 { // what compresses badly, as often as a passing play keeps it
		play := rec.Child("reverse-order")
		for k := range 200 {
			play.Note("", fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(i, k))))[:40], "note", nil)
		}
		run.Plays = append(run.Plays, report.Play{Slug: "reverse-order", Group: "completion", History: play.Scenario(), Verdict: pass})
	}
	for _, c := range []struct {
		page report.Page
		lean bool
	}{{report.Page{Limit: 1}, true}, {report.Page{Limit: 1, Full: true}, false}, {report.Page{}, false}} {
		page, warning, err := report.HTML(run, rec.Events(), folder.Dir, c.page)
		if err != nil {
			t.Fatal(err)
		}
		if lean := strings.Contains(warning, "larger than 1 MiB: the histories of passing scenarios were left out"); lean != c.lean || lean != (len(page) < 1<<20) {
			t.Errorf("limit %d, full %v: %d bytes, warning %q", c.page.Limit, c.page.Full, len(page), warning)
		}
	}
}
