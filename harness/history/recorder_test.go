package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
)

func TestRecorderNumbersAndTimesEveryEventOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	rec, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 200
	var wg sync.WaitGroup
	children := []*history.Recorder{rec.Child("a"), rec.Child("b")}
	for w := range writers {
		child := children[w%2]
		wg.Go(func() {
			for range each {
				call := child.Invoke(history.Op{Actor: "client-1", Op: history.OpSubmit, Owner: "o", Key: "k"})
				call.OK(201, "j", "", history.Job{ID: "j"})
			}
		})
	}
	wg.Wait()
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	stored, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored) != 2*writers*each {
		t.Fatalf("%d events stored, want %d", len(stored), 2*writers*each)
	}
	memory := rec.Events()
	for i, e := range stored {
		if e.N != int64(i+1) || memory[i].N != e.N || memory[i].AtUS != e.AtUS || memory[i].Call != e.Call {
			t.Fatalf("event %d of the file is %+v, of memory %+v", i+1, e, memory[i])
		}
	}
	if ops := history.Operations(stored); len(ops) != writers*each {
		t.Errorf("%d operations, want %d: calls of two children were mixed up", len(ops), writers*each)
	}
	if a := children[0].Events(); len(a) != writers*each || a[0].Scenario != "a" {
		t.Errorf("%d events of scenario a, want %d", len(a), writers*each)
	}
}

func TestRecorderKeepsPlaysOfOneScenarioApart(t *testing.T) {
	rec := history.New()
	first, second := rec.Child("a"), rec.Child("a")
	first.Declare("x")
	second.Declare("y")
	if e := second.Events(); len(e) != 1 || e[0].Op != "y" || e[0].Scenario != "a#2" || history.Slug(e[0].Scenario) != "a" {
		t.Errorf("the second play holds %+v", e)
	}
}

func TestRecorderNeverWritesOverAHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, []byte("evidence"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Create(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("error %v, want that the file exists", err)
	}
}

type fullDisk struct{ closed bool }

func (*fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
func (*fullDisk) Sync() error               { return nil }
func (d *fullDisk) Close() error            { d.closed = true; return nil }

func TestRecorderSaysThatWhatItRecordedIsNotOnDisk(t *testing.T) {
	disk := &fullDisk{}
	rec := history.NewOn(disk)
	rec.Phase(history.PhaseMain, history.PhaseFacts{})
	if err := rec.Flush(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("flush says %v, want the disk's error", err)
	}
	if err := rec.Close(); err == nil {
		t.Error("close forgot the error")
	}
	if !disk.closed {
		t.Error("the file stays open")
	}
}

func TestRecorderRefusesWhatIsNoObjectAndWhatComesTooLate(t *testing.T) {
	for name, record := range map[string]func(*history.Recorder){
		"an array as data": func(r *history.Recorder) { r.Note("harness", "", "x", []int{1}) },
		"half a document":  func(r *history.Recorder) { r.Invoke(history.Op{Op: "get"}).OK(200, "", "", []byte(`{"a":`)) },
		"after the close":  func(r *history.Recorder) { _ = r.Close(); r.Note("harness", "", "x", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			rec := history.New()
			record(rec)
			if err := rec.Flush(); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestOutcomeNeverCallsAnUnknownAFailure(t *testing.T) {
	for status, want := range map[int]history.Kind{
		200: history.OK, 201: history.OK, 202: history.OK, 304: history.OK,
		400: history.Fail, 404: history.Fail, 409: history.Fail, 429: history.Fail,
		0: history.Info, 302: history.Info, 408: history.Info, 500: history.Info, 503: history.Info, 504: history.Info,
	} {
		if got := history.Outcome(status); got != want {
			t.Errorf("status %d is recorded as %s, want %s", status, got, want)
		}
	}
}

func TestASealedPlayTakesNothingMore(t *testing.T) {
	run := history.New()
	play, other := run.Child("slow-but-alive"), run.Child("double-click")
	play.Note("harness", "", "before", nil)
	play.Seal()
	late := play.Note("harness", "", "after", nil)
	other.Note("harness", "", "elsewhere", nil)
	if late.Scenario != "" || len(play.Events()) != 1 || play.Events()[0].Op != "before" {
		t.Errorf("the play holds %v", play.Events())
	}
	if len(run.Events()) != 3 || len(other.Events()) != 1 {
		t.Errorf("the run holds %v", run.Events())
	}
}
