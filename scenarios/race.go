package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers/standin"
)

// race is a job with two attempts at the provider, both held at a gate: the
// first was legally taken out of the way of the second.
type race struct {
	client        *target.Client
	job           string
	a, b          target.Attempt
	first, second *stage.Gate
}

// outOfTheWay is how an operator lets a second attempt start while the first is
// unknown.
type outOfTheWay string

const (
	releaseFirst outOfTheWay = "release"
	cancelFirst  outOfTheWay = "cancel"
)

// secondFails has the provider refuse the second attempt's call.
func secondFails(p *stage.ProviderHandle) { p.Fails(callOf("a", 2), 400) }

// firstEnds has the first attempt's call answered in another way.
func firstEnds(answer stage.Answer, means string) func(*stage.ProviderHandle) {
	return func(p *stage.ProviderHandle) { p.Script(callOf("a", 1), answer, means) }
}

// raceOfTwo submits a job, stalls its attempt past the deadline, has an operator
// take it out of the way, starts a second one, and stops with both calls held.
// The answers, when they are let go, are accepted and say "first" and "second".
func (w *World) raceOfTwo(ctx SpecContext, how outOfTheWay, changes ...func(*stage.ProviderHandle)) *race {
	GinkgoHelper()
	provider := w.Provider(openai)
	r := &race{client: w.Client("client-1")}
	provider.Script(callOf("a", 1), saying("first"), history.Accept)
	provider.Script(callOf("a", 2), saying("second"), history.Accept)
	for _, change := range changes {
		change(provider)
	}
	r.first, r.second = provider.Hold(callOf("a", 1)), provider.Hold(callOf("a", 2))

	By("stalling the first attempt past its deadline")
	job, err := r.client.Submit(ctx, w.Key("a"), w.soonDue("a"))
	w.expect(err).NotTo(HaveOccurred())
	r.job = job.ID
	w.arrives(awaits(ctx, r.first))
	r.a, err = w.AttemptState(within(ctx, toExpire), r.client, r.job, 1, "unknown")
	w.expect(err).NotTo(HaveOccurred())

	By("taking it out of the way, so that a second may start")
	if how == cancelFirst {
		_, err = w.Operator().CancelAttempt(ctx, r.job, 1, "the provider is silent")
	} else {
		_, err = w.Operator().Release(ctx, r.job, 1, "the provider is silent")
	}
	w.expect(err).NotTo(HaveOccurred())
	r.b, err = r.client.StartAttempt(ctx, r.job, w.Key("retry"), "")
	w.expect(err).NotTo(HaveOccurred())
	w.arrives(awaits(ctx, r.second))
	return r
}

func (w *World) racesOf(ctx SpecContext, r *race) []history.Race {
	GinkgoHelper()
	races, err := r.client.Races(ctx, r.job)
	w.expect(err).NotTo(HaveOccurred())
	return races
}

// callOf matches the nth provider call of an intent.
func callOf(intent string, n int) stage.Match { return stage.Match{Text: intent, Nth: n} }

// saying is an answer that the contract of the scenarios accepts and that can be
// told from any other by word.
func saying(word string) stage.Answer {
	return standin.Says(`{"queue":"billing","urgency":"normal","summary":"answer ` + word + `"}`)
}
