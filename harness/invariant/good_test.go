package invariant_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/interlock-harness/interlock/harness/history"
)

// good lists histories of a right service, by name. Each returns fresh events.
var good = map[string]func() []history.Event{
	"one-click": func() []history.Event {
		w := newWorld("one-click")
		j := w.submit("o-1", "k-1", plain)
		w.tables()
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"double-click": func() []history.Event {
		w := newWorld("double-click")
		first := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		second := w.invoke("client-2", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		j := w.create("o-1", "k-1", plain)
		second.ok(201, j.ID, w.view(j))
		replay := w.view(j)
		replay.Replayed = true
		first.ok(200, j.ID, replay)
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"never-sent-ends-with-its-job": func() []history.Event {
		w := newWorld("never-sent-ends-with-its-job")
		j := w.submit("o-1", "k-1", plain)
		first := j.attempts[0]
		w.call(first)
		w.move(first, "unknown", "worker", "deadline")
		w.verb(history.OpRelease, first, "released")
		second := w.again(j, "openai-demo", "t-1")
		w.answer(first, history.Accept)
		w.finish(j, first)
		w.move(second, "cancelled", "worker", "job succeeded")
		return w.audit()
	},
	"lost-response": func() []history.Event {
		w := newWorld("lost-response")
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		j := w.create("o-1", "k-1", plain)
		w.fault("cut-response", true)
		o.info(0)
		w.submit("o-1", "k-1", plain)
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"lost-request": func() []history.Event {
		w := newWorld("lost-request")
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		w.fault("cut-request", true)
		o.info(0)
		j := w.submit("o-1", "k-1", plain)
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"never-answered": func() []history.Event {
		w := newWorld("never-answered")
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}) // no end at all
		j := w.submit("o-1", "k-2", plain)
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"other-payload": func() []history.Event {
		w := newWorld("other-payload")
		j := w.submit("o-1", "k-1", plain)
		other := plain
		other.Input = map[string]any{"text": "b"}
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(other)}).
			fail(409, history.Problem{Type: "/problems/idempotency-key-reused", JobID: j.ID})
		w.run(j, j.attempts[0])
		w.submit("o-1", "k-1", plain)
		return w.audit()
	},
	"reordered-json": func() []history.Event {
		w := newWorld("reordered-json")
		j := w.submit("o-1", "k-1", plain)
		o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "",
			history.SubmitFacts{Intent: []byte(`{"provider":"openai-demo","input":{"text":"a"},"contract":"invoice@1.0.0"}`)})
		replay := w.view(j)
		replay.Replayed = true
		o.ok(200, j.ID, replay)
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"two-owners": func() []history.Event {
		w := newWorld("two-owners")
		for _, owner := range []string{"o-1", "o-2"} {
			j := w.submit(owner, "k-1", plain)
			w.run(j, j.attempts[0])
		}
		w.invoke("client-2", history.OpGet, "o-2", "", "j-1", "", nil).fail(404, history.Problem{Type: "/problems/not-found"})
		return w.audit()
	},
	"stall-then-answer": func() []history.Event {
		w := newWorld("stall-then-answer")
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.fault("stall", true)
		w.move(a, "unknown", "worker", "deadline")
		w.get("o-1", j)
		w.tables()
		w.answer(a, history.Accept)
		w.finish(j, a)
		return w.audit()
	},
	"unknown-blocks": func() []history.Event {
		w := newWorld("unknown-blocks")
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.move(a, "unknown", "worker", "deadline")
		w.invoke("client-1", history.OpStart, "o-1", "", j.ID, "", history.RequestFacts{Trigger: "t-1"}).
			fail(409, history.Problem{Type: "/problems/attempt-in-flight", AttemptID: a.ID, State: "unknown"})
		return w.audit()
	},
	"reverse-order": reverseOrder,
	"first-returns-first": func() []history.Event {
		w := newWorld("first-returns-first")
		j, a, b := w.twoContenders()
		w.answer(a, history.Accept)
		w.finish(j, a)
		w.answer(b, history.Accept)
		w.finish(j, b)
		return w.audit()
	},
	"second-fails-first-wins": func() []history.Event {
		w := newWorld("second-fails-first-wins")
		j, a, b := w.twoContenders()
		w.answer(b, history.Reject)
		w.move(b, "failed", "worker", "rejected.schema")
		w.tables()
		w.answer(a, history.Accept)
		w.finish(j, a)
		return w.audit()
	},
	"cancelled-and-late": func() []history.Event {
		w := newWorld("cancelled-and-late")
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.move(a, "unknown", "worker", "deadline")
		w.verb(history.OpCancelAttempt, a, "cancelled")
		b := w.again(j, "openai-demo", "t-1")
		w.run(j, b)
		w.answer(a, history.Accept) // stays cancelled, one race
		w.races = append(w.races, history.Race{ID: 1, JobID: j.ID, AttemptID: a.ID, WinnerID: b.ID, Reason: "cancelled"})
		return w.audit()
	},
	"late-after-cancel": func() []history.Event {
		w := newWorld("late-after-cancel")
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.cancel(j)
		w.tables()
		w.answer(a, history.Accept)
		w.finish(j, a)
		return w.audit()
	},
	"cancel-comes-too-late": func() []history.Event {
		w := newWorld("cancel-comes-too-late")
		j := w.submit("o-1", "k-1", plain)
		w.run(j, j.attempts[0])
		w.invoke("client-1", history.OpCancel, "o-1", "", j.ID, "", nil).fail(409, history.Problem{Type: "/problems/job-terminal", State: "succeeded"})
		return w.audit()
	},
	"certified-failover": func() []history.Event {
		w := newWorld("certified-failover")
		w.add(history.Event{Kind: history.Note, Op: history.NoteCertified, Actor: "anthropic-demo"}, history.CertifiedFacts{Provider: "anthropic-demo", Contract: "invoice@1.0.0", Valid: true})
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Refused)
		w.move(a, "failed", "worker", "refused")
		b := w.start(j, "anthropic-demo")
		w.tables()
		w.run(j, b)
		return w.audit()
	},
	"no-failover-without-certificate": func() []history.Event {
		w := newWorld("no-failover-without-certificate")
		w.add(history.Event{Kind: history.Note, Op: history.NoteCertified, Actor: "anthropic-demo"}, history.CertifiedFacts{Provider: "anthropic-demo", Why: "no certificate"})
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.answer(a, history.Refused)
		w.move(a, "failed", "worker", "refused")
		return w.audit()
	},
	"crash-after-call": func() []history.Event {
		w := newWorld("crash-after-call")
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.fault("kill", true)
		w.move(j.attempts[0], "unknown", "reaper", "lease")
		return w.audit()
	},
	"resolved-as-succeeded": func() []history.Event {
		w := newWorld("resolved-as-succeeded")
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.move(a, "unknown", "worker", "deadline")
		o := w.invoke("operator-1", history.OpResolve, "operator", "", j.ID, a.ID, history.RequestFacts{Outcome: "succeeded", Reason: "read at the vendor's"})
		a.marker = "resolved"
		w.finish(j, a)
		o.ok(200, j.ID, a.Attempt)
		return w.audit()
	},
	"resolved-as-failed": func() []history.Event {
		w := newWorld("resolved-as-failed")
		j := w.submit("o-1", "k-1", plain)
		a := j.attempts[0]
		w.call(a)
		w.move(a, "unknown", "worker", "deadline")
		w.verb(history.OpResolve, a, "failed")
		b := w.again(j, "openai-demo", "t-1")
		w.run(j, b)
		return w.audit()
	},
	"not-sent": func() []history.Event {
		w := newWorld("not-sent")
		j := w.submit("o-1", "k-1", plain)
		w.move(j.attempts[0], "failed", "worker", "not_sent: dial timeout")
		return w.audit()
	},
	"retry-click-twice": func() []history.Event {
		w := newWorld("retry-click-twice")
		j := w.submit("o-1", "k-1", plain)
		w.call(j.attempts[0])
		w.answer(j.attempts[0], history.Refused)
		w.move(j.attempts[0], "failed", "worker", "refused")
		b := w.again(j, "openai-demo", "t-1")
		o := w.invoke("client-1", history.OpStart, "o-1", "", j.ID, "", history.RequestFacts{Provider: "openai-demo", Trigger: "t-1"})
		o.e.Attempt = b.ID
		o.ok(202, j.ID, b.Attempt)
		w.run(j, b)
		return w.audit()
	},
	"race": func() []history.Event {
		w := newWorld("race")
		in := plain
		in.Race = true
		w.add(history.Event{Kind: history.Note, Op: history.NoteCertified}, history.CertifiedFacts{Provider: "anthropic-demo", Valid: true})
		j := w.submit("o-1", "k-1", in)
		a := j.attempts[0]
		w.call(a)
		w.move(a, "released", "worker", "deadline")
		b := w.start(j, "anthropic-demo")
		w.run(j, b)
		w.answer(a, history.Accept)
		w.finish(j, a)
		return w.audit()
	},
	"refused-requests": func() []history.Event {
		w := newWorld("refused-requests")
		w.invoke("client-1", history.OpSubmit, "o-1", "", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).fail(400, history.Problem{Type: "/problems/idempotency-key-missing"})
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).fail(422, history.Problem{Type: "/problems/params-invalid"})
		j := w.submit("o-1", "k-1", plain)
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"twenty-unknown-submits": func() []history.Event {
		w := newWorld("twenty-unknown-submits")
		var j *wjob
		for i := range 20 {
			o := w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)})
			if i == 7 {
				j = w.create("o-1", "k-1", plain)
			}
			o.info(503)
		}
		w.submit("o-1", "k-1", plain)
		w.run(j, j.attempts[0])
		return w.audit()
	},
	"healthy-process": func() []history.Event {
		w := newWorld("healthy-process")
		w.add(history.Event{Kind: history.Note, Op: history.NoteResources, Actor: "api-1"}, history.ResourceFacts{Goroutines: 20, Connections: 4, Slack: 5})
		j := w.submit("o-1", "k-1", plain)
		w.run(j, j.attempts[0])
		w.add(history.Event{Kind: history.Note, Op: history.NoteResources, Actor: "api-1"}, history.ResourceFacts{Goroutines: 23, Connections: 4, Slack: 5})
		return w.audit()
	},
	"five-attempts": func() []history.Event {
		w := newWorld("five-attempts")
		j := w.submit("o-1", "k-1", plain)
		for n := range 5 {
			a := j.attempts[n]
			w.call(a)
			w.answer(a, history.Refused)
			w.move(a, "failed", "worker", "refused")
			w.tables()
			w.get("o-1", j)
			w.again(j, "openai-demo", fmt.Sprintf("t-%d", n))
		}
		w.run(j, j.attempts[5])
		return w.audit()
	},
}

// reverseOrder is the race that the customer names: the second attempt wins,
// the released first one answers late.
func reverseOrder() []history.Event {
	w := newWorld("reverse-order")
	j, a, b := w.twoContenders()
	w.tables()
	w.answer(b, history.Accept)
	w.finish(j, b)
	w.get("o-1", j)
	w.tables()
	w.answer(a, history.Accept)
	w.finish(j, a)
	return w.audit()
}

// twoContenders submits a job whose first attempt was released and whose second
// is at the provider.
func (w *world) twoContenders() (*wjob, *wattempt, *wattempt) {
	j := w.submit("o-1", "k-1", plain)
	a := j.attempts[0]
	w.call(a)
	w.fault("stall", true)
	w.move(a, "unknown", "worker", "deadline")
	w.verb(history.OpRelease, a, "released")
	b := w.again(j, "openai-demo", "t-1")
	w.call(b)
	return j, a, b
}

// wander plays a right service for a while, as the seed decides.
func wander(seed uint64, steps int) []history.Event {
	r := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(fmt.Sprintf("wander-%d", seed))
	w.submit("o-1", "k-0", plain)
	for i := range steps {
		j := w.jobs[r.IntN(len(w.jobs))]
		a := j.attempts[len(j.attempts)-1]
		if r.IntN(4) == 0 {
			a = j.attempts[r.IntN(len(j.attempts))]
		}
		switch r.IntN(12) {
		case 0:
			w.submit(fmt.Sprintf("o-%d", 1+r.IntN(2)), fmt.Sprintf("k-%d", r.IntN(5)), plain)
		case 1:
			w.get(j.Owner, j)
		case 2:
			w.tables()
		case 3:
			if j.CompletedBy == "" && j.CancelledAt == "" && r.IntN(4) == 0 {
				w.cancel(j)
			}
		case 4:
			w.tryAgain(j, fmt.Sprintf("t-%d", i))
		default:
			w.push(r, j, a)
		}
	}
	for _, j := range w.jobs { // drain
		for _, a := range j.attempts {
			switch a.State {
			case "starting":
				w.run(j, a)
			case "running":
				w.move(a, "unknown", "worker", "deadline")
			}
		}
	}
	return w.audit()
}

func (w *world) tryAgain(j *wjob, trigger string) {
	for _, a := range j.attempts {
		if a.State == "starting" || a.State == "running" || a.State == "unknown" {
			w.invoke("client-1", history.OpStart, j.Owner, "", j.ID, "", history.RequestFacts{Trigger: trigger}).
				fail(409, history.Problem{Type: "/problems/attempt-in-flight", AttemptID: a.ID, State: a.State})
			return
		}
	}
	if j.CompletedBy == "" && j.CancelledAt == "" {
		w.again(j, "openai-demo", trigger)
	}
}

// push moves one attempt on.
func (w *world) push(r *rand.Rand, j *wjob, a *wattempt) {
	switch a.State {
	case "starting":
		w.call(a)
	case "running", "unknown", "released":
		switch r.IntN(5) {
		case 0:
			if a.State == "running" {
				w.move(a, "unknown", "worker", "deadline")
			} else if a.State == "unknown" {
				w.verb(history.OpRelease, a, "released")
			}
		case 1:
			w.answer(a, history.Refused)
			w.move(a, "failed", "worker", "refused")
		case 2:
			w.verb(history.OpCancelAttempt, a, "cancelled")
		default:
			w.answer(a, history.Accept)
			w.finish(j, a)
		}
	}
}
