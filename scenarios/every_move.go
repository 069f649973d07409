package scenarios

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var everyMove = Info{
	Number: 73, Slug: "every-move", Title: "every move that there is, and every one that there is not", Group: Attempts, Level: 3,
	Fault:  "operators, owners and providers ask for moves out of turn, and the harness writes every illegal one into the tables itself",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I6", "I15"}},
}

var _ = Describe(everyMove.text(), about(everyMove), func() {
	It("makes the rare legal moves", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Fails(match("refused-late"), 400)
		gates := map[string]*stage.Gate{}
		ids := map[string]string{}
		for _, name := range []string{"cancelled-unknown", "refused-late", "fenced", "racing"} {
			gates[name] = provider.Hold(match(name))
			intent := w.soonDue(name)
			intent.Race = name == "racing"
			job, err := client.Submit(ctx, w.Key(name), intent)
			w.expect(err).NotTo(HaveOccurred())
			ids[name] = job.ID
		}
		for name, id := range ids {
			state := "unknown"
			if name == "racing" {
				state = "released"
			}
			w.arrives(awaits(ctx, gates[name]))
			_, err := w.AttemptState(within(ctx, toExpire), client, id, 1, state)
			w.expect(err).NotTo(HaveOccurred())
		}

		By("cancelling a job whose attempt is unknown, then letting it answer: unknown -> lost")
		_, err := client.CancelJob(ctx, ids["cancelled-unknown"], "changed my mind")
		w.expect(err).NotTo(HaveOccurred())
		gates["cancelled-unknown"].Release()
		w.attempt(ctx, client, ids["cancelled-unknown"], "lost")

		By("releasing an attempt that is then refused: released -> failed")
		_, err = w.Operator().Release(ctx, ids["refused-late"], 1, "silent")
		w.expect(err).NotTo(HaveOccurred())
		gates["refused-late"].Release()
		w.attempt(ctx, client, ids["refused-late"], "failed")

		By("fencing a released attempt: released -> cancelled")
		_, err = w.Operator().Release(ctx, ids["fenced"], 1, "silent")
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Operator().CancelAttempt(ctx, ids["fenced"], 1, "still silent")
		w.expect(err).NotTo(HaveOccurred())

		By("letting the one that was released by its own race win: released -> succeeded")
		gates["racing"].Release()
		w.attempt(ctx, client, ids["racing"], "succeeded")
	}, SpecTimeout(toPlay))

	It("refuses what its verbs may not do", func(ctx SpecContext) {
		w := begin(ctx)
		s := w.everyState(ctx)
		operator, stands := w.Operator(), s.attempts
		for state, a := range stands {
			if !a.open() {
				_, err := operator.CancelAttempt(ctx, a.job, a.n, "too late")
				w.expect(err).To(MatchError(target.Reason("attempt-terminal")), state)
			}
			if state != "unknown" {
				_, err := operator.Release(ctx, a.job, a.n, "no reason")
				w.expect(err).To(MatchError(target.Reason("not-releasable")), state)
			}
			if state != "unknown" && state != "released" {
				_, err := operator.Resolve(ctx, a.job, a.n, target.Resolution{Outcome: "failed", Evidence: "none", Reason: "no reason"})
				w.expect(err).To(MatchError(target.Reason("not-unknown")), state)
			}
		}
		for _, job := range []string{stands["succeeded"].job, s.cancelled} {
			_, err := s.client.CancelJob(ctx, job, "too late")
			w.expect(err).To(MatchError(target.Reason("job-terminal")))
			_, err = s.client.StartAttempt(ctx, job, w.Key("retry-"+job), "")
			w.expect(err).To(MatchError(target.Reason("job-terminal")))
		}
		w.takeBack(ctx, s)
	}, SpecTimeout(toPlay))

	It("refuses moves that somebody writes past the service", func(ctx SpecContext) {
		w := begin(ctx)
		w.exercises("I4")
		s := w.everyState(ctx)
		for from, a := range s.attempts {
			for _, to := range attemptStates {
				if from == to || invariant.MayMove(from, to) && (from != "starting" || to != "failed") {
					continue // the other legal moves are made by the service itself
				}
				w.force(ctx, history.RequestFacts{From: from, To: to}, a.job, a.id, moveAttempt, a.id, to)
			}
		}
		for from, job := range map[string]string{"succeeded": s.attempts["succeeded"].job, "cancelled": s.cancelled} {
			for _, to := range []string{"open", "succeeded", "cancelled"} {
				if from != to {
					w.force(ctx, history.RequestFacts{Machine: "job", From: from, To: to}, job, "", moveJob, job, to)
				}
			}
		}

		By("asking for an attempt and a job that begin as something else")
		failed := s.attempts["failed"].job
		for _, to := range attemptStates[1:] {
			w.tried(history.RequestFacts{To: to}, failed, "", w.asks(ctx, s.client, "/v1/jobs/"+failed+"/attempts", fmt.Sprintf(`{"state":%q}`, to)))
		}
		for _, to := range []string{"succeeded", "cancelled"} {
			w.tried(history.RequestFacts{Machine: "job", To: to}, "", "", w.asks(ctx, s.client, "/v1/jobs", fmt.Sprintf(`{"intent":{},"status":%q}`, to)))
		}
		w.takeBack(ctx, s)
	}, SpecTimeout(toPlay))
})

var attemptStates = []string{"starting", "running", "unknown", "released", "succeeded", "lost", "failed", "cancelled"}

// standing is an attempt that is in a state and stays there.
type standing struct {
	job, id, state string
	n              int
}

func (a standing) open() bool { return !a.ended() }

func (a standing) ended() bool {
	switch a.state {
	case "succeeded", "lost", "failed", "cancelled":
		return true
	}
	return false
}

// states is one attempt in each state, and a job that is cancelled.
type states struct {
	client    *target.Client
	attempts  map[string]standing
	cancelled string
}

// everyState brings one attempt into each state.
func (w *World) everyState(ctx SpecContext) *states {
	GinkgoHelper()
	s := &states{client: w.Client("client-1"), attempts: map[string]standing{}}
	provider := w.Provider(openai)
	provider.Fails(match("failed"), 400)
	provider.Script(match("starting"), stage.Answer{Status: 429, RetryAfter: "60"}, history.Refused)
	hold := func(name string) *stage.Gate { return provider.Hold(match(name)) }
	gates := map[string]*stage.Gate{"running": hold("running"), "unknown": hold("unknown"), "released": hold("released"), "lost": hold("lost"), "cancelled": hold("cancelled")}
	for _, state := range attemptStates {
		intent, n := w.Intent(state), 1
		switch state {
		case "unknown", "released":
			intent = w.soonDue(state)
		case "starting":
			intent, n = w.movingOn(state, openai), 2
		}
		job, err := s.client.Submit(ctx, w.Key(state), intent)
		w.expect(err).NotTo(HaveOccurred())
		if gate := gates[state]; gate != nil {
			w.arrives(awaits(ctx, gate))
		}
		switch state {
		case "released":
			_, err = w.AttemptState(within(ctx, toExpire), s.client, job.ID, 1, "unknown")
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.Operator().Release(ctx, job.ID, 1, "silent")
		case "cancelled":
			_, err = w.Operator().CancelAttempt(ctx, job.ID, 1, "silent")
		case "lost":
			_, err = s.client.CancelJob(ctx, job.ID, "changed my mind")
			s.cancelled = job.ID
			gates[state].Release()
		}
		w.expect(err).NotTo(HaveOccurred())
		a, err := w.AttemptState(within(ctx, toExpire), s.client, job.ID, n, state)
		w.expect(err).NotTo(HaveOccurred())
		s.attempts[state] = standing{job: job.ID, id: a.ID, state: state, n: n}
	}
	return s
}

// takeBack fences what would wait for longer than the scenario looks on.
func (w *World) takeBack(ctx SpecContext, s *states) {
	GinkgoHelper()
	waiting := s.attempts["starting"]
	_, err := w.Operator().CancelAttempt(ctx, waiting.job, waiting.n, "no need to wait")
	w.expect(err).NotTo(HaveOccurred())
}

func (w *World) attempt(ctx SpecContext, client *target.Client, job, state string) {
	GinkgoHelper()
	_, err := w.AttemptState(within(ctx, toComplete), client, job, 1, state)
	w.expect(err).NotTo(HaveOccurred())
}

const (
	moveAttempt = `
		UPDATE attempts
		SET    state = $2, worker = 'harness', lease_until = clock_timestamp(),
		       ended_at = CASE WHEN $2 IN ('succeeded', 'lost', 'failed', 'cancelled') THEN clock_timestamp() END
		WHERE  id = $1`
	moveJob = `
		UPDATE jobs
		SET    version = version + 1,
		       result = CASE WHEN $2 = 'succeeded' THEN '{}'::json END,
		       completed_by = CASE WHEN $2 = 'succeeded' THEN (SELECT a.id FROM attempts a WHERE a.job_id = $1 LIMIT 1) END,
		       completed_at = CASE WHEN $2 = 'succeeded' THEN clock_timestamp() END,
		       cancelled_at = CASE WHEN $2 = 'cancelled' THEN clock_timestamp() END
		WHERE  id = $1`
)

// force tries a move in the tables themselves, and takes it back should it work.
func (w *World) force(ctx context.Context, edge history.RequestFacts, job, attempt, statement string, args ...any) {
	GinkgoHelper()
	err := w.Rows().Try(ctx, statement, args...)
	refused, denied := errors.AsType[*target.Denied](err)
	if err != nil && !denied {
		w.works(err)
	}
	if denied {
		err = fmt.Errorf("%s refuses it", refused.Constraint)
	}
	w.tried(edge, job, attempt, err)
}

// asks makes a request that would have a job or an attempt begin in a state.
func (w *World) asks(ctx context.Context, client *target.Client, path, body string) error {
	_, err := client.Raw(ctx, "POST", path, []byte(body), target.Header("Idempotency-Key", w.Key("begin")))
	return err
}

// tried records how the try of a move came out. What is not legal must be refused.
func (w *World) tried(edge history.RequestFacts, job, attempt string, refused error) {
	GinkgoHelper()
	try := w.Recorder.Invoke(history.Op{Actor: "harness", Op: history.OpEdge, Owner: w.Owner(1).Owner, Job: job, Attempt: attempt, Data: edge})
	if refused == nil {
		try.OK(200, job, attempt, nil)
		return
	}
	try.Fail(409, history.Problem{Detail: refused.Error()})
}
