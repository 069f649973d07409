package console

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

// drawn is what a page gets of the lanes.
type drawn struct {
	Run      int
	Play     string
	Ended    bool
	Revision int64
	Data     *struct {
		Texts []string
		Plays []struct {
			Verdict string
			LeftOut int
			Look    []int
			Marks   []struct{ N int64 }
		}
	}
}

func lanesNow(t *testing.T, c *Console, after int64) (d drawn, status, size int) {
	t.Helper()
	w := httptest.NewRecorder()
	c.serveLanes(w, httptest.NewRequest("GET", fmt.Sprintf("/runs/lanes?after=%d", after), nil))
	if w.Code == 200 {
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
	}
	return d, w.Code, w.Body.Len()
}

// watched is a console whose run writes its history by the recorder returned.
func watched(t *testing.T) (*Console, *history.Recorder) {
	t.Helper()
	c := &Console{}
	c.runs = newRuns(c)
	path := filepath.Join(t.TempDir(), report.HistoryFile)
	c.runs.live.follow(1, path)
	rec, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	tail := c.runs.live.tail
	t.Cleanup(func() {
		_ = rec.Close()
		_ = tail.Close()
	})
	(&report.Run{ID: "r"}).Begin(rec)
	return c, rec
}

func flush(t *testing.T, rec *history.Recorder) {
	t.Helper()
	if err := rec.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestLiveLanesShowWhatIsRecordedAndThenTheVerdict(t *testing.T) {
	c, rec := watched(t)
	if d, _, _ := lanesNow(t, c, -1); d.Data != nil || d.Run != 1 {
		t.Errorf("before the first event: %+v", d)
	}
	flush(t, rec)
	if c.runs.live.look() {
		t.Error("the note of the run is no event of a play")
	}
	play := rec.Child("reverse-order")
	call := play.Invoke(history.Op{Actor: "client-1", Op: history.OpSubmit, Key: "k"})
	flush(t, rec)
	if !c.runs.live.look() || c.runs.live.look() {
		t.Error("a new event is told once")
	}
	first, _, _ := lanesNow(t, c, -1)
	if first.Play != "reverse-order" || len(first.Data.Plays[0].Look) != 1 || first.Data.Plays[0].Look[0] != int(report.OpUnknown) {
		t.Fatalf("an operation without an answer: %+v", first)
	}
	if _, status, _ := lanesNow(t, c, first.Revision); status != 204 {
		t.Errorf("what the page has is sent again: %d", status)
	}
	call.OK(201, "j-1", "", history.Job{ID: "j-1"})
	flush(t, rec)
	found := invariant.Finding{Invariant: "I1", Verdict: invariant.Violation, Sentence: "Two jobs.", Events: []int64{3}}
	c.runs.live.judged(report.Play{Slug: "reverse-order", History: "reverse-order", Verdict: invariant.Violation, Result: invariant.Result{Verdict: invariant.Violation, Findings: []invariant.Finding{found}}})
	last, _, _ := lanesNow(t, c, first.Revision)
	p := last.Data.Plays[0]
	if p.Verdict != "violation" || len(p.Look) != 1 || p.Look[0] != int(report.OpOK) || len(p.Marks) != 1 || p.Marks[0].N != 3 {
		t.Errorf("judged: %+v", last)
	}
	rec.Child("double-click").Note("harness", "", "x", nil)
	flush(t, rec)
	c.runs.live.look()
	c.runs.live.judged(report.Play{History: "reverse-order", Verdict: invariant.Pass})
	next, _, _ := lanesNow(t, c, -1)
	if next.Play != "double-click" || next.Ended || next.Data.Plays[0].Verdict != "" || len(next.Data.Plays[0].Look) != 1 {
		t.Errorf("the next play: %+v", next)
	}
	c.runs.live.end()
	if d, _, _ := lanesNow(t, c, next.Revision); !d.Ended || d.Play != "double-click" {
		t.Errorf("after the run: %+v", d)
	}
}

// TestLiveLanesOfTenThousandEventsAreBounded: what a page is given of them is no
// more than it can draw at once, and says what is missing.
func TestLiveLanesOfTenThousandEventsAreBounded(t *testing.T) {
	c, rec := watched(t)
	play := rec.Child("hundred-clicks")
	const operations = 5_000
	for i := range operations {
		call := play.Invoke(history.Op{Actor: fmt.Sprintf("client-%d", i%40), Op: history.OpSubmit, Key: fmt.Sprintf("k-%d", i)})
		call.OK(201, fmt.Sprintf("j-%d", i), "", map[string]string{"id": strings.Repeat("x", maxLiveData)})
	}
	flush(t, rec)
	c.runs.live.look()
	d, _, size := lanesNow(t, c, -1)
	p := d.Data.Plays[0]
	if size > 400_000 {
		t.Errorf("a page gets %d bytes", size)
	}
	if len(p.Look) != maxLive/2 || p.LeftOut != 2*operations-maxLive {
		t.Errorf("%d of %d operations are drawn, %d events left out", len(p.Look), operations, p.LeftOut)
	}
	held := 0
	for _, e := range c.runs.live.window.Events {
		held += len(e.Data)
	}
	if held > 1<<20 {
		t.Errorf("the console holds %d bytes of them", held)
	}
}

func TestALineTooLongToHearIsLeftOutAndTheNextIsHeard(t *testing.T) {
	var heard []string
	eachLine(strings.NewReader("first\n"+strings.Repeat("x", maxHeard+1)+"\nsecond\n\nthird"), func(line []byte) { heard = append(heard, string(line)) })
	if got := strings.Join(heard, "|"); got != "first|second||third" {
		t.Errorf("heard %.80q", got)
	}
}
