package certify

import (
	"errors"
	"slices"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
)

// Life of a certificate where neither contract nor caller says another.
const Life = 14 * 24 * time.Hour

// ErrNoVerdict: a run without a verdict has nothing to certify, and its paper
// would stand in the way of an older one that has.
var ErrNoVerdict = errors.New("the run came to no verdict")

// Statement is what a certificate of the run states; also that a must check
// failed. valid is its life from now on, 0 for the contract's.
func (r *Report) Statement(issuer string, valid time.Duration) (certificate.Statement, error) {
	if r.Verdict == NotKnown {
		return certificate.Statement{}, ErrNoVerdict
	}
	o := r.options
	if valid == 0 {
		if valid = o.Contract.Valid; valid == 0 {
			valid = Life
		}
	}
	now := certificate.At(o.Now())
	p := certificate.Predicate{
		Suite: o.Suite, Issuer: issuer, Serial: o.Now().UnixMicro(), Mode: r.Mode, Profile: r.Profile, Contract: r.Contract,
		Protocol: string(r.Protocol), Model: r.Model, Upstream: o.Profile.Upstream,
		Plan: certificate.Plan{
			SHA256: r.Plan.SHA256, Registered: r.Plan.Registered, Cases: r.Plan.Cases, Repeats: r.Plan.Repeats, Calls: len(r.Observations),
		},
		Started: r.Started, Ended: r.Ended, NotBefore: now, NotAfter: certificate.At(now.Add(valid)),
		Scope: r.scope(), Baseline: r.baseline(), Served: r.served(), Fingerprints: r.fingerprints(), Checks: r.checks(),
	}
	if o.Primary != nil {
		p.Primary = &certificate.Primary{Profile: o.Primary.Profile.Name, SHA256: certificate.ProfileDigest(o.Primary.Profile)}
	}
	subject := func(name, digest string) certificate.Subject {
		return certificate.Subject{Name: name, Digest: certificate.Digest{SHA256: digest}}
	}
	return certificate.Statement{
		Type: certificate.StatementType, PredicateType: certificate.PredicateType, Predicate: p,
		Subject: []certificate.Subject{
			subject(certificate.SubjectProfile+"/"+r.Profile, certificate.ProfileDigest(o.Profile)),
			subject(certificate.SubjectContract+"/"+r.Contract, o.Facts.Digest),
			subject(certificate.SubjectFixtures, o.Facts.Fixtures),
			subject(certificate.SubjectTranscripts, r.Transcripts),
		},
	}, nil
}

func (r *Report) checks() []certificate.Check {
	list := []certificate.Check{}
	for _, res := range r.Results {
		if r.options.Contract.Severity[res.ID] == "off" {
			continue
		}
		if res.N == 0 && res.Verdict != check.NotApplicable && !slices.Contains(r.options.Contract.Must, res.ID) { // nothing to see, and nothing demanded
			continue
		}
		basis := certificate.Live
		if res.Replayed || r.Mode == certificate.Replay {
			basis = certificate.Replay
		}
		list = append(list, certificate.Check{
			ID: res.ID, Severity: certificate.Severity(res.Severity), Verdict: certificate.Verdict(res.Verdict), N: res.N, K: res.K,
			Passes: res.Passes, Inconclusive: res.Inconclusive, Lower95: res.Lower95, Threshold: res.Threshold, Basis: basis,
			Reason: res.Reason, Notes: res.Notes, Evidence: []string{merkle(res.Evidence)},
		})
	}
	return list
}

func (r *Report) scope() certificate.Scope {
	s := certificate.Scope{Modes: []string{}, Languages: []string{}}
	for _, o := range r.Observations {
		if o.Probe != check.Base && o.Probe != check.Other || o.Judgement.Verdict != providers.Accept {
			continue
		}
		if mode := string(o.Mode()); !slices.Contains(s.Modes, mode) {
			s.Modes = append(s.Modes, mode)
		}
		s.Streaming = s.Streaming || o.Stream()
		if u := o.Response.Usage; u != nil && u.Input != nil {
			s.MaxInput = max(s.MaxInput, *u.Input)
		}
		if k := r.options.Contract.Case(o.Case); k != nil && k.Language != "" && !slices.Contains(s.Languages, k.Language) {
			s.Languages = append(s.Languages, k.Language)
		}
	}
	slices.Sort(s.Languages)
	return s
}

// baselineCases is of how many cases the prompt size is kept, to see a change of
// template or tokenizer.
const baselineCases = 16

func (r *Report) baseline() certificate.Baseline {
	b := certificate.Baseline{Structure: map[string]int{}, Finish: map[string]int{}, PromptSize: map[string]int{}}
	for _, o := range r.Observations {
		if o.Probe != check.Base || o.Judgement.Verdict != providers.Accept {
			continue
		}
		b.Structure[certificate.Structure(check.Shape(o.Judgement.Output))]++
		b.Finish[o.Response.Finish]++
		if u := o.Response.Usage; u != nil && u.Input != nil && (len(b.PromptSize) < baselineCases || b.PromptSize[o.Case] != 0) {
			b.PromptSize[o.Case] = int(*u.Input)
		}
	}
	return b
}

func (r *Report) served() []string {
	return r.distinct(func(o *check.Observation) string { return o.Response.Model })
}

func (r *Report) fingerprints() []string { return r.distinct(check.Fingerprint) }

// distinct lists what the provider's own answers say, at most 16 words.
func (r *Report) distinct(f func(*check.Observation) string) []string {
	list := []string{}
	for _, o := range r.Observations {
		if v := f(o); v != "" && o.Probe == check.Base && !slices.Contains(list, v) && len(list) < 16 {
			list = append(list, v)
		}
	}
	return list
}
