package httpapi

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// maxFailover is the longest list of fallback providers.
const maxFailover = 8

// readIntent reads {"intent": {...}}. Every field is named here: what the
// service decides itself (owner, id, version, state, result) and what comes
// from profiles alone (base URL, headers) cannot be sent.
func (s *Server) readIntent(raw []byte) (job.Intent, error) {
	top := object(raw, "")
	inner, _ := top.take("intent")
	if top.fault == nil && inner == nil {
		top.fail("intent", "an object is wanted")
	}
	if err := top.rest(); err != nil {
		return job.Intent{}, err
	}
	f := object(inner, "/intent")
	intent := job.Intent{
		Provider:   f.text("provider", true, 64),
		Race:       f.flag("race"),
		DeadlineMS: f.integer("deadline_ms", s.deadline.Milliseconds(), 1, s.limits.Deadline.Milliseconds()),
		Failover:   readFailover(f),
	}
	contract := f.text("contract", true, 160)
	if params, ok := f.take("params"); ok {
		intent.Params = params
		f.adopt(checkParams(params))
	}
	input, ok := f.take("input")
	if intent.Input = input; !ok || input[0] != '{' {
		f.fail("input", "an object is wanted")
	}
	if err := f.rest(); err != nil {
		return job.Intent{}, err
	}
	return intent, s.resolve(&intent, contract)
}

// adopt takes over the fault of an inner object.
func (f *fields) adopt(err error) {
	if r, ok := errors.AsType[*refusal](err); ok && f.fault == nil {
		f.fault = r
	}
}

func readFailover(f *fields) job.Failover {
	raw, ok := f.take("failover")
	if !ok {
		return job.Failover{Mode: "manual"}
	}
	inner := object(raw, f.at+"/failover")
	policy := job.Failover{Mode: inner.text("mode", false, 16), Providers: inner.texts("providers", maxFailover)}
	switch {
	case policy.Mode == "":
		policy.Mode = "manual"
	case policy.Mode != "manual" && policy.Mode != "automatic":
		inner.fail("mode", "manual or automatic is wanted")
	case policy.Mode == "automatic" && len(policy.Providers) == 0:
		inner.fail("providers", "automatic failover needs at least one provider")
	}
	f.adopt(inner.rest())
	return policy
}

// checkParams knows what may be asked of a provider per job. Routes, keys and
// headers come from profiles only.
func checkParams(raw json.RawMessage) error {
	f := object(raw, "/intent/params")
	f.number("temperature", 0, 2)
	f.integer("max_output_tokens", 0, 1, 1<<20)
	f.integer("seed", 0, -1<<62, 1<<62)
	f.flag("stream")
	f.texts("stop", 4)
	if mode := f.text("mode", false, 16); mode != "" && mode != "json_schema" && mode != "tool" {
		f.fail("mode", "json_schema or tool is wanted")
	}
	return f.rest()
}

// resolve checks the intent against what is deployed: the contract and its
// input schema, and the names of the providers.
func (s *Server) resolve(intent *job.Intent, contract string) error {
	invalid := func(pointer, detail string) error {
		return &refusal{kind: paramsInvalid, pointer: pointer, detail: detail}
	}
	id, err := s.contracts.Resolve(contract)
	if err != nil {
		return invalid("/intent/contract", "contract "+quoted(contract)+" is not deployed")
	}
	intent.Contract = id
	if !s.providers.Known(intent.Provider) {
		return invalid("/intent/provider", "provider "+quoted(intent.Provider)+" is not known")
	}
	for i, name := range intent.Failover.Providers {
		if !s.providers.Known(name) {
			return invalid("/intent/failover/providers", "provider "+quoted(name)+" is not known")
		}
		if slices.Contains(intent.Failover.Providers[:i], name) {
			return invalid("/intent/failover/providers", "provider "+quoted(name)+" stands there twice")
		}
	}
	if err := s.contracts.CheckInput(id, intent.Input); err != nil {
		return invalid("/intent/input", "the input does not meet the contract: "+brief(err))
	}
	return nil
}
