package invariant_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
)

// world plays a service that does everything right and writes the history that
// a stage would have recorded of it. Tests make bad histories by editing it.
type world struct {
	scenario string
	events   []history.Event
	us       int64
	calls    int64
	xmin     int64
	moves    int64
	jobs     []*wjob
	races    []history.Race
	trail    []history.Move
}

type wjob struct {
	history.Job
	attempts []*wattempt
}

type wattempt struct {
	history.Attempt
	call   int64
	marker string
}

func newWorld(scenario string) *world {
	w := &world{scenario: scenario, xmin: 700}
	w.add(history.Event{Kind: history.Phase, Op: history.PhaseMain}, nil)
	return w
}

func (w *world) add(e history.Event, data any) int64 {
	w.us += 1000
	e.N, e.AtUS, e.Scenario = int64(len(w.events)+1), w.us, w.scenario
	if data != nil {
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		e.Data = raw
	}
	w.events = append(w.events, e)
	return e.N
}

func (w *world) next() int64 { w.calls++; return w.calls }

type intentOf struct {
	Contract string         `json:"contract"`
	Provider string         `json:"provider"`
	Input    map[string]any `json:"input"`
	Race     bool           `json:"race,omitempty"`
}

var plain = intentOf{Contract: "invoice@1.0.0", Provider: "openai-demo", Input: map[string]any{"text": "a"}}

// op is one client operation in flight.
type op struct {
	w *world
	e history.Event
}

func (w *world) invoke(actor, name, owner, key, job, attempt string, data any) op {
	e := history.Event{Lane: "client", Actor: actor, Kind: history.Invoke, Op: name, Call: w.next(), Owner: owner, Key: key, Job: job, Attempt: attempt}
	w.add(e, data)
	return op{w, e}
}

func (o op) ok(status int, job string, body any) int64 {
	e := o.e
	e.Kind, e.Status = history.OK, status
	if job != "" {
		e.Job = job
	}
	return o.w.add(e, body)
}

func (o op) fail(status int, problem history.Problem) int64 {
	e := o.e
	e.Kind, e.Status = history.Fail, status
	return o.w.add(e, problem)
}

func (o op) info(status int) int64 {
	e := o.e
	e.Kind, e.Status = history.Info, status
	return o.w.add(e, history.ErrorFacts{Error: "EOF"})
}

// create makes a job with its first attempt, as a submit does.
func (w *world) create(owner, key string, in intentOf) *wjob {
	w.xmin++
	j := &wjob{Job: history.Job{
		ID: fmt.Sprintf("j-%d", len(w.jobs)+1), Owner: owner, Key: key, Version: 1, Contract: in.Contract, Provider: in.Provider,
		Race: in.Race, Xmin: fmt.Sprint(w.xmin), Fingerprint: fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, in))),
	}}
	w.jobs = append(w.jobs, j)
	w.moves++
	w.trail = append(w.trail, history.Move{ID: w.moves, JobID: j.ID, Type: "job.submitted", Actor: "api"})
	w.start(j, in.Provider)
	return j
}

func (w *world) start(j *wjob, provider string) *wattempt {
	a := &wattempt{Attempt: history.Attempt{ID: fmt.Sprintf("%s-a%d", j.ID, len(j.attempts)+1), JobID: j.ID, N: len(j.attempts) + 1, Provider: provider}}
	j.attempts = append(j.attempts, a)
	w.move(a, "starting", "api", "")
	return a
}

func (w *world) move(a *wattempt, to, actor, reason string) {
	w.moves++
	w.trail = append(w.trail, history.Move{ID: w.moves, JobID: a.JobID, AttemptID: a.ID, Type: "attempt.moved", FromState: a.State, ToState: to, Actor: actor, Reason: reason})
	a.State, a.Reason = to, reason
}

// submit is a whole submit with its answer; a key that is known replays.
func (w *world) submit(owner, key string, in intentOf) *wjob {
	o := w.invoke("client-1", history.OpSubmit, owner, key, "", "", history.SubmitFacts{Intent: mustJSON(in)})
	if j := w.find(owner, key); j != nil {
		view := w.view(j)
		view.Replayed = true
		o.ok(200, j.ID, view)
		return j
	}
	j := w.create(owner, key, in)
	o.ok(201, j.ID, w.view(j))
	return j
}

// submitAndRun is one job from its submit to its result.
func (w *world) submitAndRun(owner, key string) *wjob {
	j := w.submit(owner, key, plain)
	w.run(j, j.attempts[0])
	return j
}

func (w *world) find(owner, key string) *wjob {
	for _, j := range w.jobs {
		if j.Owner == owner && j.Key == key {
			return j
		}
	}
	return nil
}

// view is the job as an answer shows it.
func (w *world) view(j *wjob) history.Job {
	v := j.Job
	v.Owner, v.Xmin, v.Fingerprint = "", "", ""
	switch {
	case v.CompletedBy != "":
		v.Status = "succeeded"
	case v.CancelledAt != "":
		v.Status = "cancelled"
	default:
		v.Status = "open"
		for _, a := range j.attempts {
			switch a.State {
			case "starting", "running", "unknown":
				v.Status = a.State
			}
		}
	}
	return v
}

// call claims a and lets its request arrive.
func (w *world) call(a *wattempt) {
	w.move(a, "running", "worker", "")
	a.call = w.next()
	w.add(history.Event{Lane: "provider", Actor: a.Provider, Kind: history.Arrive, Op: "call", Call: a.call, Job: a.JobID, Attempt: a.ID}, history.ArriveFacts{Provider: a.Provider})
}

// answer lets the provider answer with a marked result.
func (w *world) answer(a *wattempt, verdict string) {
	a.marker = "only-in-" + a.ID
	facts := history.AnswerFacts{Provider: a.Provider, Status: 200, Verdict: verdict, Complete: verdict != history.Unknown, Marker: a.marker}
	if verdict == history.Accept {
		facts.Output = mustJSON(map[string]any{"by": a.marker})
	}
	w.add(history.Event{Lane: "provider", Actor: a.Provider, Kind: history.Answer, Op: "call", Call: a.call, Job: a.JobID, Attempt: a.ID, Status: 200}, facts)
}

// finish stores a's answer: it wins, or it is late.
func (w *world) finish(j *wjob, a *wattempt) {
	if j.CompletedBy != "" || j.CancelledAt != "" {
		w.move(a, "lost", "worker", "late")
		w.races = append(w.races, history.Race{ID: int64(len(w.races) + 1), JobID: j.ID, AttemptID: a.ID, WinnerID: j.CompletedBy, Reason: "late", PayloadBytes: 20})
		return
	}
	w.xmin++
	j.CompletedBy, j.CompletedAt, j.Version, j.Xmin = a.ID, "2026-11-29T00:00:00Z", j.Version+1, fmt.Sprint(w.xmin)
	j.Result = mustJSON(map[string]any{"by": a.marker})
	w.move(a, "succeeded", "worker", "")
	w.moves++
	w.trail = append(w.trail, history.Move{ID: w.moves, JobID: j.ID, AttemptID: a.ID, Type: "job.succeeded", Actor: "worker"})
}

// run takes a through a call that is answered well.
func (w *world) run(j *wjob, a *wattempt) {
	w.call(a)
	w.answer(a, history.Accept)
	w.finish(j, a)
}

func (w *world) get(owner string, j *wjob) {
	w.invoke("client-1", history.OpGet, owner, "", j.ID, "", nil).ok(200, j.ID, w.view(j))
}

func (w *world) cancel(j *wjob) {
	o := w.invoke("client-1", history.OpCancel, j.Owner, "", j.ID, "", history.RequestFacts{Reason: "not needed"})
	w.xmin++
	j.CancelledAt, j.Version, j.Xmin = "2026-11-29T00:00:00Z", j.Version+1, fmt.Sprint(w.xmin)
	w.moves++
	w.trail = append(w.trail, history.Move{ID: w.moves, JobID: j.ID, Type: "job.cancelled", Actor: "o-1", Reason: "not needed"})
	o.ok(200, j.ID, w.view(j))
}

// verb is an operator's verb on an attempt that moves it to a state.
func (w *world) verb(name string, a *wattempt, to string) {
	o := w.invoke("operator-1", name, "operator", "", a.JobID, fmt.Sprint(a.N), history.RequestFacts{Reason: "asked the vendor", Outcome: to})
	w.move(a, to, "operator-1", "asked the vendor")
	o.e.Attempt = a.ID
	o.ok(200, a.JobID, a.Attempt)
}

// again starts one more attempt by a click with a trigger key.
func (w *world) again(j *wjob, provider, trigger string) *wattempt {
	o := w.invoke("client-1", history.OpStart, j.Owner, "", j.ID, "", history.RequestFacts{Provider: provider, Trigger: trigger})
	a := w.start(j, provider)
	o.e.Attempt = a.ID
	o.ok(202, j.ID, a.Attempt)
	return a
}

func (w *world) fault(name string, fires bool) {
	e := history.Event{Lane: "fault", Actor: "client-api", Kind: history.Armed, Op: name, Call: w.next()}
	w.add(e, history.FaultFacts{Edge: "client-api", Detail: name})
	if fires {
		e.Kind = history.Fired
		w.add(e, history.FaultFacts{Evidence: "seen"})
	}
	e.Kind = history.Healed
	w.add(e, history.FaultFacts{})
}

// tables reads all four tables, as the database stands now.
func (w *world) tables() {
	read := func(table string, rows int, row func(call int64)) {
		e := history.Event{Lane: "postgres", Kind: history.Snapshot, Op: table, Call: w.next()}
		w.add(e, history.SnapshotFacts{})
		row(e.Call)
		w.add(e, history.SnapshotFacts{Complete: true, Rows: rows})
	}
	read(history.TableJobs, len(w.jobs), func(call int64) {
		for _, j := range w.jobs {
			w.add(history.Event{Lane: "postgres", Kind: history.Row, Op: history.TableJobs, Call: call, Owner: j.Owner, Key: j.Key, Job: j.ID}, j.Job)
		}
	})
	read(history.TableAttempts, 0, func(call int64) {
		for _, j := range w.jobs {
			for _, a := range j.attempts {
				w.add(history.Event{Lane: "postgres", Kind: history.Row, Op: history.TableAttempts, Call: call, Job: j.ID, Attempt: a.ID}, a.Attempt)
			}
		}
	})
	read(history.TableEvents, len(w.trail), func(call int64) {
		for _, m := range w.trail {
			w.add(history.Event{Lane: "postgres", Kind: history.Row, Op: history.TableEvents, Call: call, Job: m.JobID, Attempt: m.AttemptID}, m)
		}
	})
	read(history.TableRaces, len(w.races), func(call int64) {
		for _, r := range w.races {
			w.add(history.Event{Lane: "postgres", Kind: history.Row, Op: history.TableRaces, Call: call, Job: r.JobID, Attempt: r.AttemptID}, r)
		}
	})
}

// audit heals, drains and reads everything.
func (w *world) audit() []history.Event {
	w.add(history.Event{Kind: history.Phase, Op: history.PhaseHeal}, nil)
	w.add(history.Event{Kind: history.Phase, Op: history.PhaseDrain}, history.PhaseFacts{BoundMS: 10})
	w.us += 20_000
	w.add(history.Event{Kind: history.Phase, Op: history.PhaseAudit}, nil)
	for _, j := range w.jobs {
		w.get(j.Owner, j)
	}
	w.tables()
	return w.events
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// edit decodes the data of event e into T, changes it and puts it back.
func edit[T any](t *testing.T, events []history.Event, match func(history.Event) bool, change func(*T)) {
	t.Helper()
	hits := 0
	for i := range events {
		if !match(events[i]) {
			continue
		}
		hits++
		var data T
		if len(events[i].Data) > 0 {
			if err := json.Unmarshal(events[i].Data, &data); err != nil {
				t.Fatal(err)
			}
		}
		change(&data)
		events[i].Data = mustJSON(data)
	}
	if hits == 0 {
		t.Fatal("the edit hit no event")
	}
}

// without drops events and numbers the rest anew.
func without(events []history.Event, drop func(history.Event) bool) []history.Event {
	var kept []history.Event
	for _, e := range events {
		if !drop(e) {
			e.N = int64(len(kept) + 1)
			kept = append(kept, e)
		}
	}
	return kept
}
