package failover_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/failover"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// gate is shut for the providers that it names.
type gate map[string]bool

func (g gate) Refuses(from, to, contract string, at time.Time) []string {
	if g[to] {
		return []string{"no-certificate"}
	}
	return nil
}

// automatic is a job at p that may go on at the given providers.
func automatic(providers ...string) job.Job {
	return job.Job{Intent: job.Intent{Provider: "p", Contract: "c@1", Failover: job.Failover{Mode: "automatic", Providers: providers}}}
}

// tried is a list of attempts, each "provider reason", ended one second ago.
func tried(attempts ...[2]string) []job.Attempt {
	var list []job.Attempt
	for i, a := range attempts {
		ended := now.Add(-time.Second)
		list = append(list, job.Attempt{ID: job.AttemptID(fmt.Sprint(i)), N: i + 1, Provider: a[0], State: job.StateFailed, Reason: a[1], EndedAt: &ended})
	}
	return list
}

func retryAt(list []job.Attempt, i int, at time.Time) []job.Attempt {
	list[i].RetryAt = &at
	return list
}

func TestNext(t *testing.T) {
	manual := automatic("q")
	manual.Intent.Failover.Mode = "manual"
	refused := job.Failure{Class: job.ClassRefused}
	eight := [][2]string{}
	for range 8 {
		eight = append(eight, [2]string{"p", "refused.429"})
	}
	for name, c := range map[string]struct {
		job      job.Job
		attempts []job.Attempt
		failure  job.Failure
		shut     gate
		want     string // provider, wait, number of denials, reason
	}{
		"manual: nothing follows":                              {manual, tried([2]string{"p", "refused.429"}), refused, nil, " 0s 0 manual"},
		"the next of the owner's order, at once":               {automatic("q", "r"), tried([2]string{"p", "refused.400"}), refused, nil, "q 0s 0 failover"},
		"a rejected output goes on elsewhere":                  {automatic("q"), tried([2]string{"p", "rejected.schema.enum"}), job.Failure{Class: job.ClassRejected}, nil, "q 0s 0 failover"},
		"the gate's refusal is told, the next is taken":        {automatic("q", "r"), tried([2]string{"p", "refused.429"}), refused, gate{"q": true}, "r 0s 1 failover"},
		"all refused by the gate: the job stays as it stands":  {automatic("q"), tried([2]string{"p", "refused.429"}), refused, gate{"q": true}, " 0s 1 denied"},
		"all tried: back-off at the one that may pass":         {automatic(), tried([2]string{"p", "refused.429"}, [2]string{"p", "refused.429"}, [2]string{"p", "refused.429"}), refused, nil, "p 1s 0 again"},
		"all tried: what a provider calls wrong stays wrong":   {automatic("q"), tried([2]string{"p", "refused.400"}, [2]string{"q", "refused.422"}), refused, nil, " 0s 0 all tried"},
		"all tried: a rejected output is not asked for again":  {automatic(), tried([2]string{"p", "rejected.schema.enum"}), job.Failure{Class: job.ClassRejected}, nil, " 0s 0 all tried"},
		"Retry-After is kept":                                  {automatic(), retryAt(tried([2]string{"p", "refused.429"}), 0, now.Add(7*time.Second)), refused, nil, "p 7s 0 again"},
		"Retry-After of another provider is kept too":          {automatic("q"), retryAt(tried([2]string{"p", "refused.429"}, [2]string{"q", "refused.400"}), 0, now.Add(9*time.Second)), refused, nil, "p 9s 0 again"},
		"the one that may be called earliest":                  {automatic("q"), retryAt(tried([2]string{"p", "refused.429"}, [2]string{"q", "not_sent.connect"}), 0, now.Add(9*time.Second)), refused, nil, "q 0s 0 again"},
		"the budget ends it":                                   {automatic("q"), tried(eight...), refused, nil, " 0s 0 budget"},
		"a race goes on at another provider":                   {automatic("q"), tried([2]string{"p", "deadline"}), job.Failure{Class: job.ClassDeadline}, nil, "q 0s 0 failover"},
		"a race does not call the same provider twice":         {automatic(), tried([2]string{"p", "deadline"}), job.Failure{Class: job.ClassDeadline}, nil, " 0s 0 all tried"},
		"the provider of the intent named again is tried once": {automatic("p", "q"), tried([2]string{"p", "refused.400"}), refused, nil, "q 0s 0 failover"},
	} {
		t.Run(name, func(t *testing.T) {
			p := failover.New(c.shut, failover.Options{Now: func() time.Time { return now }})
			d := p.Next(c.job, c.attempts, c.failure)
			if got := fmt.Sprintf("%s %s %d %s", d.Provider, d.Wait, len(d.Denied), d.Reason); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAllow(t *testing.T) {
	p := failover.New(gate{"p": true, "q": true}, failover.Options{})
	if got := p.Allow(automatic(), "p"); got != nil {
		t.Errorf("the provider of the intent needs a certificate: %v", got)
	}
	if got := p.Allow(automatic(), "q"); len(got) != 1 {
		t.Errorf("an uncertified provider is allowed: %v", got)
	}
}

func TestMutantsChangeThePolicy(t *testing.T) {
	with := func(name string) *failover.Policy {
		m, err := mutant.Choose(name)
		if err != nil {
			t.Fatal(err)
		}
		return failover.New(gate{"q": true}, failover.Options{Now: func() time.Time { return now }, Mutant: m})
	}
	if with("gate-open").Allow(automatic(), "q") != nil {
		t.Error("gate-open: the gate is shut")
	}
	nine := tried([2]string{"p", "refused.429"}, [2]string{"p", "refused.429"}, [2]string{"p", "refused.429"}, [2]string{"p", "refused.429"}, [2]string{"p", "refused.429"},
		[2]string{"p", "refused.429"}, [2]string{"p", "refused.429"}, [2]string{"p", "refused.429"}, [2]string{"p", "refused.429"})
	if d := with("no-attempt-budget").Next(automatic(), nine, job.Failure{Class: job.ClassRefused}); d.Provider == "" {
		t.Error("no-attempt-budget: the budget holds")
	}
	if d := with("no-back-off").Next(automatic(), retryAt(tried([2]string{"p", "refused.429"}), 0, now.Add(time.Minute)), job.Failure{Class: job.ClassRefused}); d.Provider != "p" || d.Wait != 0 {
		t.Errorf("no-back-off: waits %s", d.Wait)
	}
}
