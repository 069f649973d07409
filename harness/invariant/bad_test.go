package invariant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// broken is a history of a service that does one thing wrong, and the invariant
// that must say so.
type broken struct {
	name   string
	want   invariant.ID
	events func(t *testing.T) []history.Event
}

// on starts from a good history and breaks it.
func on(name string, want invariant.ID, base string, change func(t *testing.T, events []history.Event) []history.Event) broken {
	return broken{name, want, func(t *testing.T) []history.Event { return change(t, good[base]()) }}
}

// play lets a wrong service write its own history.
func play(name string, want invariant.ID, story func(w *world)) broken {
	return broken{name, want, func(*testing.T) []history.Event {
		w := newWorld(name)
		story(w)
		return w.audit()
	}}
}

func isRow(table string) func(history.Event) bool {
	return func(e history.Event) bool { return e.Kind == history.Row && e.Op == table }
}

func isEnd(kind history.Kind, op string) func(history.Event) bool {
	return func(e history.Event) bool { return e.Kind == kind && e.Op == op }
}

// last narrows a match to its last hit.
func last(events []history.Event, match func(history.Event) bool) func(history.Event) bool {
	n := int64(0)
	for _, e := range events {
		if match(e) {
			n = e.N
		}
	}
	return func(e history.Event) bool { return e.N == n }
}

var bad = []broken{
	// found by the catalogue's faults
	play("click-dropped-with-its-client", "I8", func(w *world) {
		w.submitAndRun("o-1", "k-2")
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		w.add(history.Event{Lane: "harness", Kind: history.Note, Op: history.NoteTaken, Owner: "o-1", Key: "k-1"}, history.ProbeFacts{Evidence: "its insert waits"})
		o.info(0)
	}),
	play("job-stored-without-an-attempt", "I8", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		j.attempts = nil
		w.trail = slices.DeleteFunc(w.trail, func(m history.Move) bool { return m.AttemptID != "" })
		w.submitAndRun("o-1", "k-2")
	}),
	play("kept-from-starting-by-a-fenced-attempt", "I3", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		first := j.attempts[0]
		w.call(first)
		w.move(first, "unknown", "worker", "deadline")
		w.verb(history.OpCancelAttempt, first, "cancelled")
		w.invoke("client-1", history.OpStart, "o-1", "", j.ID, "", history.RequestFacts{Trigger: "t-1"}).
			fail(409, history.Problem{Type: "/problems/attempt-in-flight", AttemptID: first.ID, State: "cancelled"})
	}),
	play("moved-by-force", "I4", func(w *world) {
		j := w.submitAndRun("o-1", "k-1")
		w.invoke("harness", history.OpEdge, "o-1", "", j.ID, j.attempts[0].ID, history.RequestFacts{From: "succeeded", To: "running"}).ok(200, j.ID, nil)
	}),
	play("sent-to-who-could-not-prove-it", "I7", func(w *world) {
		e := history.Event{Lane: "fault", Kind: history.Armed, Op: "tls-flaw", Call: w.next()}
		w.add(e, history.FaultFacts{Edge: "worker-provider", Unproven: plain.Provider})
		e.Kind = history.Fired
		w.add(e, history.FaultFacts{Evidence: "a handshake failed"})
		w.submitAndRun("o-1", "k-1")
	}),
	play("called-before-its-retry-after", "I7", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		first := j.attempts[0]
		w.call(first)
		w.add(history.Event{Lane: "provider", Actor: first.Provider, Kind: history.Answer, Op: "call", Call: first.call, Job: j.ID, Attempt: first.ID, Status: 429},
			history.AnswerFacts{Provider: first.Provider, Status: 429, Verdict: history.Refused, Complete: true, RetryAfterMS: 30_000})
		w.move(first, "failed", "worker", "refused.429")
		w.run(j, w.again(j, first.Provider, "t-1"))
	}),
	// I1: one job
	play("second-job-for-one-key", "I1", func(w *world) {
		w.submitAndRun("o-1", "k-1")
		o := w.invoke("client-2", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		j := w.create("o-1", "k-1", plain)
		o.ok(201, j.ID, w.view(j))
		w.run(j, j.attempts[0])
	}),
	play("second-row-nobody-was-told-of", "I1", func(w *world) {
		w.submitAndRun("o-1", "k-1")
		j := w.create("o-1", "k-1", plain)
		w.run(j, j.attempts[0])
	}),
	play("key-made-by-the-server", "I1", func(w *world) {
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		j := w.create("o-1", "generated-7", plain)
		w.run(j, j.attempts[0])
		w.fault("cut-response", true)
		o.info(0)
		w.submitAndRun("o-1", "k-1")
	}),
	play("repeat-called-a-conflict", "I1", func(w *world) {
		j := w.submitAndRun("o-1", "k-1")
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: []byte(`{"input":{"text":"a"},"provider":"openai-demo","contract":"invoice@1.0.0"}`)}).
			fail(409, history.Problem{Type: "/problems/idempotency-key-reused", JobID: j.ID})
	}),
	play("both-clicks-called-a-conflict", "I1", func(w *world) {
		w.submitAndRun("o-1", "k-2")
		for range 2 {
			w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).
				fail(409, history.Problem{Type: "/problems/idempotency-key-reused"})
		}
	}),
	{"provider-called-for-a-job-nobody-knows", "I1", func(*testing.T) []history.Event {
		w := newWorld("phantom")
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		ghost := w.create("o-1", "k-1", plain)
		w.run(ghost, ghost.attempts[0])
		o.info(0)
		w.jobs = nil // the client never learns of the ghost, and L1 sees no rows
		w.trail = nil
		j := &wjob{Job: history.Job{ID: "j-2", Version: 1}}
		o = w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		o.ok(201, j.ID, w.view(j))
		return w.events
	}},

	play("two-keys-fold-into-one", "I1", func(w *world) {
		j := w.submitAndRun("o-1", "key")
		w.invoke("client-1", history.OpSubmit, "o-1", "KEY", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).ok(200, j.ID, w.view(j))
	}),

	// I2: bound intent
	play("other-intent-taken", "I2", func(w *world) {
		j := w.submitAndRun("o-1", "k-1")
		other := plain
		other.Provider = "anthropic-demo"
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(other)})
		replay := w.view(j)
		replay.Replayed = true
		o.ok(200, j.ID, replay)
	}),
	play("explicit-default-taken-for-absent", "I2", func(w *world) {
		j := w.submitAndRun("o-1", "k-1")
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "",
			history.SubmitFacts{Intent: []byte(`{"contract":"invoice@1.0.0","provider":"openai-demo","input":{"text":"a"},"race":null}`)})
		o.ok(200, j.ID, w.view(j))
	}),
	on("conflict-changed-the-intent", "I2", "other-payload", func(t *testing.T, events []history.Event) []history.Event {
		events = append(events, history.Event{})
		copy(events[5:], events[4:])
		row := events[5]
		row.Kind, row.Op, row.Lane, row.Actor, row.Status, row.Call, row.Job = history.Row, history.TableJobs, "postgres", "", 0, 999, "j-1"
		row.Data = mustJSON(history.Job{ID: "j-1", Owner: "o-1", Key: "k-1", Version: 1, Xmin: "701", Fingerprint: "other"})
		events[4] = row
		return renumber(events)
	}),

	// I3: one open attempt
	play("second-attempt-while-unknown", "I3", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.move(j.attempts[0], "unknown", "worker", "deadline")
		b := w.again(j, "openai-demo", "t-1")
		w.tables()
		w.run(j, b)
	}),
	{"two-calls-at-once", "I3", func(*testing.T) []history.Event {
		w := newWorld("two-calls-at-once") // L1: no rows, no trail
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		b := w.again(j, "openai-demo", "t-1")
		w.call(b)
		w.answer(b, history.Accept)
		w.answer(j.attempts[0], history.Accept)
		return w.events
	}},
	{"two-open-in-one-list", "I3", func(*testing.T) []history.Event {
		w := newWorld("two-open-in-one-list")
		j := w.submit("o-1", "k-1", plain)
		w.invoke("client-1", history.OpAttempts, "o-1", "", j.ID, "", nil).ok(200, j.ID, map[string]any{"attempts": []history.Attempt{
			{ID: "a-1", N: 1, State: "unknown"}, {ID: "a-2", N: 2, State: "running"}}})
		return w.events
	}},
	play("one-click-two-attempts", "I3", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		for range 2 {
			a := j.attempts[len(j.attempts)-1]
			w.call(a)
			w.answer(a, history.Refused)
			w.move(a, "failed", "worker", "refused")
			w.again(j, "openai-demo", "t-1")
		}
		w.run(j, j.attempts[2])
	}),
	play("repeated-retry-click-refused", "I3", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Refused)
		w.move(a, "failed", "worker", "refused")
		b := w.again(j, "openai-demo", "t-1")
		w.invoke("client-1", history.OpStart, "o-1", "", j.ID, "", history.RequestFacts{Provider: "openai-demo", Trigger: "t-1"}).
			fail(409, history.Problem{Type: "/problems/attempt-in-flight", AttemptID: b.ID})
		w.run(j, b)
	}),

	// I4: legal moves
	play("timeout-called-failed", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.move(j.attempts[0], "failed", "worker", "deadline")
	}),
	play("killed-worker-called-failed", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.move(j.attempts[0], "failed", "reaper", "worker gone")
	}),
	play("out-of-a-terminal-state", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Refused)
		w.move(a, "failed", "worker", "refused")
		w.move(a, "running", "worker", "")
		w.move(a, "unknown", "worker", "deadline")
	}),
	play("gap-in-the-trail", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		a.State = "unknown" // nobody wrote the event
		w.move(a, "released", "operator-1", "x")
		w.invoke("operator-1", history.OpRelease, "operator", "", j.ID, a.ID, nil).ok(200, j.ID, a.Attempt)
		w.answer(a, history.Accept)
		w.finish(j, a)
	}),
	play("half-an-answer-called-success", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Unknown)
		w.finish(j, a)
	}),
	play("error-body-called-success", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Reject)
		w.finish(j, a)
	}),
	play("refusal-called-success", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Refused)
		w.finish(j, a)
	}),
	play("good-answer-called-failed", "I4", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Accept)
		w.move(a, "failed", "worker", "read error")
	}),
	{"seen-going-back", "I4", func(*testing.T) []history.Event {
		w := newWorld("seen-going-back")
		j := w.submit("o-1", "k-1", plain)
		for _, state := range []string{"unknown", "running"} {
			w.invoke("client-1", history.OpAttempts, "o-1", "", j.ID, "", nil).
				ok(200, j.ID, map[string]any{"attempts": []history.Attempt{{ID: "a-1", N: 1, State: state}}})
		}
		return w.events
	}},

	// I5: one winner
	play("last-write-wins", "I5", lastWriteWins),
	{"answered-with-another-result", "I5", func(*testing.T) []history.Event {
		w := newWorld("answered-with-another-result") // L0
		j := w.submit("o-1", "k-1", plain)
		for _, by := range []string{"a2", "a1"} {
			w.invoke("client-1", history.OpGet, "o-1", "", j.ID, "", nil).
				ok(200, j.ID, history.Job{ID: j.ID, Status: "succeeded", Version: 2, Result: mustJSON(map[string]any{"by": by})})
		}
		return w.events
	}},
	play("two-attempts-succeeded", "I5", func(w *world) {
		j, a, b := w.twoContenders()
		w.answer(b, history.Accept)
		w.finish(j, b)
		w.answer(a, history.Accept)
		w.move(a, "succeeded", "worker", "")
	}),
	play("result-of-another-answer", "I5", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Accept)
		a.marker = "half of it"
		w.finish(j, a)
	}),
	on("version-stands-still", "I5", "one-click", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isRow(history.TableJobs), func(j *history.Job) { j.Version = 1 })
		return events
	}),
	on("won-twice-in-the-trail", "I5", "one-click", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isRow(history.TableEvents), func(m *history.Move) {
			if m.Type == "job.submitted" {
				m.Type = "job.succeeded"
			}
		})
		return events
	}),
	on("row-names-another-winner", "I5", "reverse-order", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isRow(history.TableJobs), func(j *history.Job) {
			if j.CompletedBy != "" {
				j.CompletedBy = "j-1-a1"
			}
		})
		return events
	}),

	// I6: late result
	on("late-result-without-a-race", "I6", "reverse-order", func(_ *testing.T, events []history.Event) []history.Event {
		return without(events, isRow(history.TableRaces))
	}),
	on("two-races-for-one-late-result", "I6", "reverse-order", func(t *testing.T, events []history.Event) []history.Event {
		i := slices.IndexFunc(events, isRow(history.TableRaces))
		second := events[i]
		events = slices.Insert(events, i+1, second)
		events = renumber(events)
		edit(t, events, func(e history.Event) bool { return e.N == int64(i+2) }, func(r *history.Race) { r.ID = 2 })
		return events
	}),
	play("winner-logged-as-late", "I6", func(w *world) {
		j := w.submitAndRun("o-1", "k-1")
		w.races = append(w.races, history.Race{ID: 1, JobID: j.ID, AttemptID: j.attempts[0].ID, WinnerID: j.attempts[0].ID})
	}),
	on("race-names-another-winner", "I6", "reverse-order", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isRow(history.TableRaces), func(r *history.Race) { r.WinnerID = "j-1-a1" })
		return events
	}),
	on("late-finisher-touched-the-row", "I6", "reverse-order", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, last(events, isRow(history.TableJobs)), func(j *history.Job) { j.Xmin = "999" })
		return events
	}),
	on("late-payload-shows", "I6", "reverse-order", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, last(events, isRow(history.TableAttempts)), func(a *map[string]any) { (*a)["partial"] = "only-in-j-1-a1" })
		return events
	}),
	play("cancelled-attempt-wins", "I6", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.move(a, "unknown", "worker", "deadline")
		w.verb(history.OpCancelAttempt, a, "cancelled")
		w.tables()
		w.answer(a, history.Accept)
		w.finish(j, a)
	}),
	play("cancelled-job-completed", "I6", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.cancel(j)
		w.tables()
		w.answer(a, history.Accept)
		j.CancelledAt = ""
		w.finish(j, a)
	}),

	// I7: one call
	play("sent-twice", "I7", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Unknown)
		w.add(history.Event{Kind: history.Arrive, Op: "call", Lane: "provider", Actor: a.Provider, Call: w.next(), Job: j.ID, Attempt: a.ID}, nil)
		a.call = w.calls
		w.answer(a, history.Accept)
		w.finish(j, a)
	}),
	on("call-without-an-attempt", "I7", "one-click", func(_ *testing.T, events []history.Event) []history.Event {
		for i := range events {
			if events[i].Kind == history.Arrive || events[i].Kind == history.Answer {
				events[i].Attempt = ""
			}
		}
		return events
	}),
	play("call-of-an-attempt-that-does-not-exist", "I7", func(w *world) {
		j := w.submitAndRun("o-1", "k-1")
		w.add(history.Event{Kind: history.Arrive, Op: "call", Lane: "provider", Actor: "openai-demo", Call: w.next(), Job: j.ID, Attempt: "a-ghost"}, nil)
	}),
	{"call-before-the-commit", "I7", func(*testing.T) []history.Event {
		w := newWorld("call-before-the-commit")
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		a.call = w.next()
		w.add(history.Event{Kind: history.Arrive, Op: "call", Lane: "provider", Actor: a.Provider, Call: a.call, Job: j.ID, Attempt: a.ID}, nil)
		w.tables() // still starting
		w.move(a, "running", "worker", "")
		w.answer(a, history.Accept)
		w.finish(j, a)
		return w.audit()
	}},
	on("wrong-provider-called", "I7", "one-click", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isRow(history.TableAttempts), func(a *history.Attempt) { a.Provider = "anthropic-demo" })
		return events
	}),
	on("call-names-another-job", "I7", "two-owners", func(_ *testing.T, events []history.Event) []history.Event {
		for i := range events {
			if events[i].Kind == history.Arrive && events[i].Job == "j-2" {
				events[i].Attempt = "j-1-a1"
			}
		}
		return events
	}),

	// I8: acknowledged
	on("acknowledged-row-is-gone", "I8", "one-click", func(_ *testing.T, events []history.Event) []history.Event {
		return without(events, func(e history.Event) bool { return isRow(history.TableJobs)(e) && e.N > 10 })
	}),
	{"acknowledged-job-not-found", "I8", func(*testing.T) []history.Event {
		w := newWorld("acknowledged-job-not-found")
		j := w.submit("o-1", "k-1", plain)
		w.invoke("client-1", history.OpGet, "o-1", "", j.ID, "", nil).fail(404, history.Problem{Type: "/problems/not-found"})
		return w.events
	}},
	play("acknowledged-attempt-is-gone", "I8", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.answer(j.attempts[0], history.Refused)
		w.move(j.attempts[0], "failed", "worker", "refused")
		w.again(j, "openai-demo", "t-1")
		j.attempts, w.trail = j.attempts[:1], w.trail[:len(w.trail)-1]
	}),
	{"acknowledged-result-is-gone", "I8", func(*testing.T) []history.Event {
		w := newWorld("acknowledged-result-is-gone")
		j := w.submitAndRun("o-1", "k-1")
		w.get("o-1", j)
		j.CompletedBy, j.Result, j.CompletedAt = "", nil, ""
		w.tables()
		return w.events
	}},

	// I9: forward reads
	{"stale-read", "I9", func(*testing.T) []history.Event {
		w := newWorld("stale-read")
		j := w.submit("o-1", "k-1", plain)
		before := w.view(j)
		w.run(j, j.attempts[0])
		w.get("o-1", j)
		w.invoke("client-2", history.OpGet, "o-1", "", j.ID, "", nil).ok(200, j.ID, before)
		return w.audit()
	}},
	{"attempt-read-backwards", "I9", func(*testing.T) []history.Event {
		w := newWorld("attempt-read-backwards")
		j := w.submit("o-1", "k-1", plain)
		for _, state := range []string{"failed", "running"} {
			w.invoke("client-1", history.OpAttempts, "o-1", "", j.ID, "", nil).
				ok(200, j.ID, map[string]any{"attempts": []history.Attempt{{ID: "a-1", N: 1, State: state}}})
		}
		return w.events
	}},

	// I10: settled
	play("job-stuck-in-running", "I10", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.fault("kill", true)
	}),
	play("job-never-claimed", "I10", func(w *world) { w.submit("o-1", "k-1", plain) }),

	play("failure-remembered", "I10", func(w *world) {
		w.submitAndRun("o-1", "k-2")
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		w.fault("row-lock", true)
		o.info(503)
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).info(503)
	}),

	// I11: owners apart
	on("job-of-another-owner-shown", "I11", "two-owners", func(t *testing.T, events []history.Event) []history.Event {
		i := slices.IndexFunc(events, isEnd(history.Fail, history.OpGet))
		events[i].Kind, events[i].Status, events[i].Data = history.OK, 200, mustJSON(history.Job{ID: "j-1", Status: "succeeded", Version: 2})
		return events
	}),
	on("job-of-another-owner-admitted", "I11", "two-owners", func(t *testing.T, events []history.Event) []history.Event {
		i := slices.IndexFunc(events, isEnd(history.Fail, history.OpGet))
		events[i].Status = 403
		return events
	}),
	play("key-shared-between-owners", "I11", func(w *world) {
		j := w.submitAndRun("o-1", "k-1")
		w.invoke("client-2", history.OpSubmit, "o-2", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).ok(200, j.ID, history.Job{ID: j.ID, Replayed: true})
	}),
	play("key-refused-to-the-second-owner", "I11", func(w *world) {
		w.submitAndRun("o-1", "k-1")
		w.invoke("client-2", history.OpSubmit, "o-2", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).
			fail(409, history.Problem{Type: "/problems/idempotency-key-reused"})
	}),
	play("key-breaks-for-the-second-owner", "I11", func(w *world) {
		w.submitAndRun("o-1", "k-1")
		w.invoke("client-2", history.OpSubmit, "o-2", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).info(500)
	}),
	{"list-shows-another-owner", "I11", func(*testing.T) []history.Event {
		w := newWorld("list-shows-another-owner")
		w.submitAndRun("o-1", "k-1")
		w.submitAndRun("o-2", "k-2")
		w.invoke("client-2", history.OpList, "o-2", "", "", "", nil).ok(200, "", map[string]any{"jobs": []history.Job{{ID: "j-2"}, {ID: "j-1"}}})
		return w.audit()
	}},

	// I12: certified failover
	on("failover-to-an-uncertified-provider", "I12", "certified-failover", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isEnd(history.Note, history.NoteCertified), func(c *history.CertifiedFacts) { c.Valid, c.Why = false, "its certificate is for another model" })
		return events
	}),
	on("failover-after-the-certificate-ended", "I12", "certified-failover", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isEnd(history.Note, history.NoteCertified), func(c *history.CertifiedFacts) { c.ForUS = 2000 })
		return events
	}),
	on("failover-with-the-certificate-of-another", "I12", "certified-failover", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isEnd(history.Note, history.NoteCertified), func(c *history.CertifiedFacts) { c.Provider = "mistral-demo" })
		return events
	}),
	on("failover-with-the-certificate-of-another-contract", "I12", "certified-failover", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, isEnd(history.Note, history.NoteCertified), func(c *history.CertifiedFacts) { c.Contract = "triage@1.0.0" })
		return events
	}),

	// I13: honest answers
	on("success-that-was-never-durable", "I13", "one-click", func(_ *testing.T, events []history.Event) []history.Event {
		return without(events, func(e history.Event) bool { return isRow(history.TableJobs)(e) && e.N > 10 })
	}),
	play("refused-and-done-all-the-same", "I13", func(w *world) {
		w.submitAndRun("o-1", "k-2")
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		j := w.create("o-1", "k-1", plain)
		o.fail(400, history.Problem{Type: "/problems/idempotency-key-invalid"})
		w.run(j, j.attempts[0])
	}),
	play("ambiguous-called-a-refusal", "I13", func(w *world) {
		w.submitAndRun("o-1", "k-2")
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).
			fail(409, history.Problem{Type: "/problems/store-unavailable", Indeterminate: true})
	}),
	play("success-without-a-job", "I13", func(w *world) {
		w.submitAndRun("o-1", "k-2")
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).ok(200, "", map[string]any{})
	}),

	// I14: no leaks
	on("goroutines-left", "I14", "healthy-process", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, last(events, isEnd(history.Note, history.NoteResources)), func(r *history.ResourceFacts) { r.Goroutines = 80 })
		return events
	}),
	on("connections-left", "I14", "healthy-process", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, last(events, isEnd(history.Note, history.NoteResources)), func(r *history.ResourceFacts) { r.Connections = 10 })
		return events
	}),

	// I15: explicit cancel
	on("cancelled-unasked", "I15", "late-after-cancel", func(_ *testing.T, events []history.Event) []history.Event {
		return without(events, func(e history.Event) bool { return e.Op == history.OpCancel })
	}),
	on("cancel-that-does-not-hold", "I15", "late-after-cancel", func(t *testing.T, events []history.Event) []history.Event {
		edit(t, events, last(events, isEnd(history.OK, history.OpGet)), func(j *history.Job) {
			j.CancelledAt, j.Status, j.CompletedBy = "", "succeeded", "j-1-a1"
		})
		return events
	}),
	on("cancel-without-a-trace", "I15", "late-after-cancel", func(_ *testing.T, events []history.Event) []history.Event {
		return without(events, func(e history.Event) bool {
			var m history.Move
			_ = e.Decode(&m)
			return isRow(history.TableEvents)(e) && m.Type == "job.cancelled"
		})
	}),
	play("attempt-cancelled-unasked", "I15", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.move(j.attempts[0], "cancelled", "worker", "context canceled")
	}),
	play("attempt-cancelled-though-it-was-sent", "I15", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		first := j.attempts[0]
		w.call(first)
		w.move(first, "unknown", "worker", "deadline")
		w.verb(history.OpRelease, first, "released")
		second := w.again(j, "anthropic-demo", "t-1")
		w.call(second)
		w.answer(first, history.Accept)
		w.finish(j, first)
		w.move(second, "cancelled", "worker", "job succeeded")
	}),
	play("attempt-cancelled-by-nobody", "I15", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		o := w.invoke("operator-1", history.OpCancelAttempt, "operator", "", j.ID, j.attempts[0].ID, nil)
		w.move(j.attempts[0], "cancelled", "", "")
		o.ok(200, j.ID, j.attempts[0].Attempt)
	}),
	play("cancelled-attempt-succeeds", "I15", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.verb(history.OpCancelAttempt, a, "cancelled")
		w.answer(a, history.Accept)
		w.finish(j, a)
	}),

	// I16: untouched job
	play("attempts-counted-on-the-job", "I16", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		for n := range 3 {
			a := j.attempts[n]
			w.call(a)
			w.answer(a, history.Refused)
			w.move(a, "failed", "worker", "refused")
			w.tables()
			w.xmin++
			j.Xmin = fmt.Sprint(w.xmin)
			w.again(j, "openai-demo", fmt.Sprintf("t-%d", n))
		}
		w.run(j, j.attempts[3])
	}),
	play("attempt-bumps-the-version", "I16", func(w *world) {
		j := w.submit("o-1", "k-1", plain)
		w.get("o-1", j)
		j.Version++
		w.get("o-1", j)
		w.run(j, j.attempts[0])
	}),
}

// lastWriteWins is the service that the customer fears.
func lastWriteWins(w *world) {
	j, a, b := w.twoContenders()
	w.answer(b, history.Accept)
	w.finish(j, b)
	w.get("o-1", j)
	w.tables()
	w.answer(a, history.Accept)
	j.CompletedBy = ""
	w.finish(j, a)
	b.State = "lost"
}

func renumber(events []history.Event) []history.Event {
	return without(events, func(history.Event) bool { return false })
}

func TestWrongServiceIsViolatedByTheInvariantThatSaysSo(t *testing.T) {
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			events := c.events(t)
			r := invariant.Judge(events, 4, invariant.Expect{})
			if r.Verdict != invariant.Violation || !r.Violated(c.want) {
				t.Fatalf("want a violation of %s, have %s", c.want, explain(r))
			}
			for _, f := range r.Findings {
				if f.Verdict == invariant.Violation && (len(f.Events) == 0 || f.Sentence == "" || f.Expected == "" || f.Found == "") {
					t.Errorf("a violation without its proof: %+v", f)
				}
				if strings.HasSuffix(f.Expected, ",") || strings.HasSuffix(f.Found, ",") {
					t.Errorf("half a sentence: expected %q, found %q", f.Expected, f.Found)
				}
				for _, n := range f.Events {
					if n < 1 || n > int64(len(events)) {
						t.Errorf("event %d is not in the history", n)
					}
				}
			}
		})
	}
}

func TestEveryInvariantIsSeenToFailAndToExamine(t *testing.T) {
	failing := map[invariant.ID]int{}
	for _, c := range bad {
		failing[c.want]++
	}
	examined := map[invariant.ID]int{}
	for _, story := range good {
		for id, n := range invariant.Judge(story(), 4, invariant.Expect{}).Examined {
			examined[id] += n
		}
	}
	for _, i := range invariant.All() {
		if failing[i.ID] < 2 {
			t.Errorf("%s is shown to fail %d times, want at least 2", i.ID, failing[i.ID])
		}
		if examined[i.ID] == 0 {
			t.Errorf("%s examined nothing in all good histories", i.ID)
		}
	}
}
