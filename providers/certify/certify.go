// Package certify takes a provider through the checks under a contract and says
// what it is worth: certified, not certified, or not known.
//
// The plan is written down, and its digest fixed, before the first request. Each
// request of the plan is sent once; none is repeated, left out or picked. In mode
// replay the built-in stand-in answers, which proves the adapter and the contract
// and not the vendor; in mode live the provider itself answers, and the stand-in
// plays only what no request can bring about (overload, a failure in the middle
// of a stream).
package certify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/prompt/render"
	"github.com/interlock-harness/interlock/providers/recording"
	"github.com/interlock-harness/interlock/providers/standin"
)

// Options of a run. Profile, Contract and Facts are required.
type Options struct {
	Profile  providers.Profile
	Contract *contract.Contract
	Facts    certificate.Contract // of the same contract
	Mode     certificate.Mode     // default replay
	Secret   string               // API key, for mode live

	Suite    certificate.Suite
	Repeats  int           // of each case; default the plan of the contract
	Parallel int           // requests at once; default 4
	Timeout  time.Duration // of one request; default the contract's budget, else one minute
	MaxCalls int           // end after so many requests, without a certificate; 0 is no limit
	Only     []string      // ids of cases; a certificate needs all

	// Recordings answer the requests that they hold, in mode replay; the stand-in
	// answers the others.
	Recordings *recording.Set
	Primary    *Primary // whose answers are the bar; nil: a good stand-in in mode replay, nobody in mode live

	// Prompt is what the section prompt of the profile names; nil without one, and
	// then the checks P01 to P05 do not apply.
	Prompt *render.Subject

	// Fault makes the stand-in a bad provider, to prove the checks; Manner a good
	// one that does things in its own way.
	Fault  *standin.Fault
	Manner standin.Manner
	inside bool // the stand-in opens no socket
	// RoundTrip sends cases through a job service in front of the stand-in at
	// base. Without it check X03 is inconclusive.
	RoundTrip func(context.Context, Options) ([]check.RoundTrip, error)
	// Registered is told the plan before the first request.
	Registered func(Plan) error
	// Progress is told how many requests are done, of how many.
	Progress func(done, all int)
	Now      func() time.Time // default time.Now
}

// Primary is the provider that a candidate is to stand in for.
type Primary struct {
	Profile providers.Profile
	Secret  string
	Seen    []*check.Observation // what it answered; nil: it is asked
}

// Verdict of a run.
type Verdict string

const (
	Certified    Verdict = "certified"
	NotCertified Verdict = "not certified" // a must check failed
	NotKnown     Verdict = "not known"     // a must check came to no verdict
)

// DryRun is the plan of a run, without a run.
func DryRun(o Options) (Plan, error) {
	o, err := o.filled()
	if err != nil {
		return Plan{}, err
	}
	items, err := o.items()
	if err != nil {
		return Plan{}, err
	}
	return o.plan(items)
}

// Tokens estimates what the prompts of a plan cost, in tokens of about four bytes,
// and how many output tokens it allows at most.
func (o Options) Tokens(p Plan) (input, output int64) {
	for _, c := range p.Calls {
		r, err := o.Contract.Request(c.asked.Input)
		if err != nil || c.Play {
			continue
		}
		input += int64(len(r.System)+len(r.User)+len(r.Schema)) / 4
		if c.Cap > 0 {
			output += c.Cap
		} else if r.MaxOutputTokens != nil {
			output += *r.MaxOutputTokens
		}
	}
	return input, output
}

// Report of a run.
type Report struct {
	Verdict      Verdict              `json:"verdict"`
	Profile      string               `json:"profile"`
	Protocol     providers.Protocol   `json:"protocol"`
	Model        string               `json:"model"`
	Contract     string               `json:"contract"`
	Mode         certificate.Mode     `json:"mode"`
	Plan         Plan                 `json:"plan"`
	Stopped      *Stopped             `json:"stopped_early,omitempty"`
	Started      certificate.Time     `json:"started"`
	Ended        certificate.Time     `json:"ended"`
	Results      []check.Result       `json:"results"`
	Transcripts  string               `json:"transcripts_sha256"` // Merkle root
	Recorded     int                  `json:"recorded"`           // answers that came from recordings
	Observations []*check.Observation `json:"-"`
	Primary      []*check.Observation `json:"-"` // what the primary answered
	RoundTrips   []check.RoundTrip    `json:"-"`

	shown     []shownAnswer    // of the server that shows or counts its prompts
	promptsAt certificate.Time // when it was asked
	options   Options
}

// UnreachableError: no answer of the provider says anything about it.
type UnreachableError struct{ Why string }

func (e *UnreachableError) Error() string { return e.Why }

func (o Options) filled() (Options, error) {
	if o.Contract == nil {
		return o, errors.New("certify: no contract")
	}
	if len(o.Contract.Cases) == 0 {
		return o, fmt.Errorf("contract %s has no cases", o.Contract.Ref())
	}
	if o.Mode == "" {
		o.Mode = certificate.Replay
	}
	if o.Repeats == 0 {
		o.Repeats = max(1, o.Contract.Plan.Repeats)
	}
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	if o.Timeout == 0 {
		if o.Timeout = o.Contract.Budget.Total; o.Timeout == 0 {
			o.Timeout = time.Minute
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Registered == nil {
		o.Registered = func(Plan) error { return nil }
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	return o, nil
}

// Run certifies. An error means that there is no verdict at all. A report that comes
// with it holds the answers that were there by then, and no results.
func Run(ctx context.Context, o Options) (*Report, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	items, err := o.items()
	if err != nil {
		return nil, err
	}
	partial := len(o.Only) > 0
	if o.MaxCalls > 0 && len(items) > o.MaxCalls {
		items, partial = items[:o.MaxCalls], true
	}
	plan, err := o.plan(items)
	if err != nil {
		return nil, err
	}
	if err := o.Registered(plan); err != nil {
		return nil, fmt.Errorf("register the plan: %w", err)
	}
	r := &Report{
		Profile: o.Profile.Name, Protocol: o.Profile.Protocol, Model: o.Profile.Model, Contract: o.Contract.Ref(), Mode: o.Mode,
		Plan: plan, Started: certificate.At(o.Now()), options: o,
	}
	sender, err := o.sender()
	if err != nil {
		return nil, err
	}
	defer sender.close()
	watch := newWatch(plan.Early, items)
	if r.Observations, err = sender.sendAll(ctx, items, watch); err != nil {
		return r, err
	}
	r.Stopped = watch.stopped
	if err := reached(r.Observations); err != nil {
		return nil, err
	}
	if more := o.followUps(r.Observations, len(items)+1); len(more) > 0 {
		if left := o.MaxCalls - len(items); o.MaxCalls > 0 && len(more) > left {
			more, partial = more[:max(0, left)], true
		}
		again, err := sender.sendAll(ctx, more, newWatch(nil, nil))
		r.Observations = append(r.Observations, again...)
		if err != nil {
			return r, err
		}
	}
	r.Recorded = sender.recorded
	run := o.checks(r.Observations)
	if run.Primary, err = o.primary(ctx); err != nil {
		return r, err
	}
	r.promptsAt = certificate.At(o.Now())
	if run.Prompt, r.shown, err = o.on(r.promptsAt).examinePrompt(ctx, nil); err != nil {
		return r, err
	}
	if o.RoundTrip != nil {
		if run.RoundTrips, err = o.RoundTrip(ctx, o); errors.Is(ctx.Err(), context.Canceled) { // nobody wants to know any more
			return r, ctx.Err()
		}
		if err != nil {
			run.RoundTrips = []check.RoundTrip{{Case: "all", Problem: "no job service could be had: " + err.Error()}}
		}
	}
	r.Primary, r.RoundTrips = run.Primary, run.RoundTrips
	r.Results = check.Judge(run)
	r.Ended = certificate.At(o.Now())
	r.Transcripts = r.root()
	if r.Verdict = verdict(r.Results, o.Contract.Must); partial && r.Verdict == Certified {
		r.Verdict = NotKnown // a part of the plan proves nothing about the rest
	}
	return r, nil
}

// reached makes sure that at least one answer of the provider can be judged.
func reached(list []*check.Observation) error {
	status, why := 0, ""
	for _, o := range list {
		if o.Probe != check.Base {
			continue
		}
		if s := o.Transcript.Status; s >= 200 && s < 300 || s == 429 || s == 400 || s == 422 {
			return nil
		}
		status, why = o.Transcript.Status, o.Judgement.Detail
		if o.Transcript.Err != nil {
			why = o.Transcript.Err.Error()
		}
	}
	if status != 0 {
		return &UnreachableError{fmt.Sprintf("every request was answered with status %d: %s", status, why)}
	}
	return &UnreachableError{"no request was answered: " + why}
}

// verdict goes by the checks that are must, by themselves or for the contract.
func verdict(results []check.Result, demanded []string) Verdict {
	must := map[string]bool{}
	for _, id := range demanded {
		must[id] = true
	}
	v := Certified
	seen := map[string]bool{}
	for _, res := range results {
		seen[res.ID] = true
		if !must[res.ID] {
			continue
		}
		switch res.Verdict {
		case check.Fail:
			return NotCertified
		case check.Inconclusive, check.NotApplicable:
			v = NotKnown
		}
	}
	for _, res := range results { // a must check that the contract does not demand may not fail either
		if res.Severity == check.Must && res.Verdict == check.Fail {
			return NotCertified
		}
	}
	for id := range must {
		if !seen[id] {
			v = NotKnown
		}
	}
	return v
}
