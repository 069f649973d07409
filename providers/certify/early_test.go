package certify_test

import (
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/statistics"
)

// sequential is a run of a plan that may end early, against a provider with a
// fault, or without one. One request at a time: with more, what follows a case that
// is slow is asked meanwhile, however much that is.
func sequential(t *testing.T, fault string, cases int) *certify.Report {
	t.Helper()
	o := options(t, providers.OpenAIChat, "invoice")
	c := *o.Contract
	c.Plan.Sequential, c.Plan.Cases = true, cases
	o.Contract, o.Parallel = &c, 1
	if fault != "" {
		var err error
		if o.Fault, err = standin.BadProvider(fault); err != nil {
			t.Fatal(err)
		}
	}
	r, err := certify.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func asked(r *certify.Report) (base int) {
	for _, o := range r.Observations {
		if o.Probe == check.Base {
			base++
		}
	}
	return base
}

func TestASequentialPlanStopsABadProviderEarly(t *testing.T) {
	r := sequential(t, "sum-mismatch", 30)
	if r.Stopped == nil || r.Stopped.Decision != statistics.Reject || r.Stopped.Cases > 4 {
		t.Errorf("stopped %+v", r.Stopped)
	}
	if n := asked(r); r.Stopped != nil && n != 4*r.Stopped.Cases { // four repeats each, and nothing behind them
		t.Errorf("%d requests of the base probe, of 136, for %d cases", n, r.Stopped.Cases)
	}
	if r.Verdict != certify.NotCertified || r.Plan.Early == nil || r.Plan.Early.Bad != 0.9 {
		t.Errorf("%s, %+v", r.Verdict, r.Plan.Early)
	}
	if _, err := r.Statement("x", 0); err != nil {
		t.Errorf("a verdict that came early is a verdict: %v", err)
	}
}

func TestASequentialPlanLetsAGoodProviderEndNoSoonerThanThePlan(t *testing.T) {
	r := sequential(t, "", 32)
	if r.Stopped == nil || r.Stopped.Decision != statistics.Accept || r.Stopped.Cases != 32 {
		t.Errorf("stopped %+v, want after the 32 cases that the plan asks for at least, of 34", r.Stopped)
	}
	if r := sequential(t, "", 34); r.Stopped != nil || asked(r) != 34*4 {
		t.Errorf("%+v after %d requests: nothing was left to save", r.Stopped, asked(r))
	}
}

func TestThePlanIsRegisteredBeforeTheFirstRequest(t *testing.T) {
	o := options(t, providers.OpenAIChat, "invoice")
	var registered certify.Plan
	done := 0
	o.Registered = func(p certify.Plan) error {
		if registered = p; done != 0 {
			t.Error("requests were sent before the plan was registered")
		}
		return nil
	}
	o.Progress = func(n, _ int) { done = n }
	r, err := certify.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if registered.SHA256 == "" || registered.SHA256 != r.Plan.SHA256 || registered.FollowUp.Tries != check.FormTries ||
		registered.Cap != "0.02" || registered.Delta != "5" || registered.Lower95 != "0.90" {
		t.Errorf("registered %s, %+v", registered.SHA256, registered.FollowUp)
	}
	other := *o.Contract
	other.Plan.Delta = "3"
	o.Contract = &other
	p, err := certify.DryRun(o)
	if err != nil || p.SHA256 == registered.SHA256 {
		t.Errorf("%v: another delta has the same digest", err)
	}
}
