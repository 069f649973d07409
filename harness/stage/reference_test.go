package stage_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage"
)

// self is this test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTheReferenceServiceStandsOnTheStage plays the first steps of several
// scenarios on the service of this project.
func TestTheReferenceServiceStandsOnTheStage(t *testing.T) {
	ctx := bounded(t)
	s, err := stage.Start(ctx, stage.Options{PGURL: mustPG(t), Command: []string{self(t), "reference"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	w, err := s.World(ctx, "smoke")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	client := w.Client("client-1")
	job := submit(t, w, client, "a")
	awaitStatus(t, w, client, job.ID, "succeeded")

	ack, err := w.AckLost(stage.Victim(w.Key("b")))
	if err != nil {
		t.Fatal(err)
	}
	b := submit(t, w, client, "b")
	if !ack.Fired() || b.Replayed {
		t.Errorf("fired %v, %+v", ack.Fired(), b)
	}
	awaitStatus(t, w, client, b.ID, "succeeded")

	intent := w.Intent("c")
	intent.DeadlineMS = 100
	gate := w.Provider(stage.OpenAI).Hold(stage.Match{Text: "c"})
	c, err := client.Submit(ctx, w.Key("c"), intent)
	if err != nil {
		t.Fatal(err)
	}
	if err := gate.Await(ctx); err != nil {
		t.Fatal(err)
	}
	awaitStatus(t, w, client, c.ID, "unknown")
	if _, err := w.Operator().Release(ctx, c.ID, 1, "it is silent"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.StartAttempt(ctx, c.ID, "retry-1", stage.OpenAI); err != nil {
		t.Error(err)
	}
	gate.Release()
	awaitStatus(t, w, client, c.ID, "succeeded")
	if err := w.Finish(ctx, toComplete); err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, e := range w.History() {
		if e.Kind == history.Row {
			rows[e.Op]++
		}
		if e.Kind == history.Answer {
			var facts history.AnswerFacts
			if err := e.Decode(&facts); err != nil || facts.Verdict != history.Accept || facts.Marker == "" || !strings.Contains(string(facts.Output), facts.Marker) {
				t.Errorf("answer %+v, %v", facts, err)
			}
		}
	}
	if rows[history.TableJobs] != 3 || rows[history.TableAttempts] != 4 || rows[history.TableEvents] == 0 {
		t.Errorf("rows are %v", rows)
	}
}

// TestTheReferenceServiceUnderClockAndTLS needs services of their own.
func TestTheReferenceServiceUnderClockAndTLS(t *testing.T) {
	ctx := bounded(t)
	s, err := stage.Start(ctx, stage.Options{PGURL: mustPG(t), Command: []string{self(t), "reference"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	w, err := s.World(ctx, "clock-and-tls", stage.Isolated(stage.ServiceOptions{
		Clock: true, Lease: time.Hour, Heartbeat: 20 * time.Minute,
		TLS: map[string]edge.Flaw{stage.OpenAI: edge.Expired},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	client := w.Client("client-1")
	refused := submit(t, w, client, "a")
	awaitStatus(t, w, client, refused.ID, "failed") // a handshake that fails sends nothing
	if flaw := w.TLS(stage.OpenAI); !flaw.Fired() {
		t.Error("the expired certificate was not seen")
	} else if err := flaw.Heal(ctx); err != nil {
		t.Error(err)
	}
	good := submit(t, w, client, "b")
	awaitStatus(t, w, client, good.ID, "succeeded")

	gate := w.Provider(stage.OpenAI).Hold(stage.Match{Text: "c"})
	held := submit(t, w, client, "c")
	if err := gate.Await(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := w.JumpClock(ctx, 2*time.Hour); err != nil { // far past the lease
		t.Fatal(err)
	}
	awaitStatus(t, w, client, held.ID, "unknown")
	gate.Release()
	awaitStatus(t, w, client, held.ID, "succeeded")
}
