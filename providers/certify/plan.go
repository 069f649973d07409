package certify

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
)

// Plan is what will be done, fixed before it is done.
type Plan struct {
	SHA256     string           `json:"sha256"` // of the rest
	Registered certificate.Time `json:"registered"`
	Suite      string           `json:"suite"`
	Profile    string           `json:"profile_sha256"`
	Contract   string           `json:"contract_sha256"`
	Fixtures   string           `json:"fixtures_sha256"`
	Mode       certificate.Mode `json:"mode"`
	Cases      int              `json:"cases"`
	Repeats    int              `json:"repeats"`
	Lower95    string           `json:"lower95"`
	Checks     []string         `json:"checks"`
	Calls      []Call           `json:"calls"`
}

// Call is one request of a plan.
type Call struct {
	N      int            `json:"n"`
	Probe  check.Probe    `json:"probe"`
	Case   string         `json:"case"`
	Repeat int            `json:"repeat"`
	Mode   providers.Mode `json:"mode"`
	Stream bool           `json:"stream"`
	Cap    int64          `json:"max_output_tokens,omitempty"`
	Play   bool           `json:"stand_in,omitempty"` // the stand-in plays it, in mode live too
	asked  *contract.Case // nil where the request is none of the contract
	wire   func([]byte) []byte
	model  string
	suffix string
}

// Numbers of the probes.
const (
	otherCases    = 8  // cases that are tried in the other output mode ...
	otherRepeats  = 4  // ... so many times
	schemaCases   = 4  // cases with a prompt that pulls away from the schema
	truncateCases = 2  // cases with too few output tokens
	smallCap      = 16 // the smallest cap that every vendor takes
	wrongModel    = "interlock-no-such-model"
)

// items lists the requests of a run, in order.
func (o Options) items() ([]Call, error) {
	cases, err := o.cases()
	if err != nil {
		return nil, err
	}
	l := &lister{o: o, streams: o.Profile.Protocol != providers.BedrockConverse}
	l.modes = []providers.Mode{o.Contract.Mode}
	if o.Contract.Tool.Name != "" {
		l.modes = append(l.modes, other(o.Contract.Mode))
	}
	for repeat := 1; repeat <= o.Repeats; repeat++ {
		for _, k := range cases {
			l.add(Call{Probe: check.Base, Case: k.ID, Repeat: repeat, Mode: l.modes[0], Stream: l.streams && repeat%2 == 0, asked: k})
		}
	}
	if len(l.modes) > 1 {
		for repeat := 1; repeat <= otherRepeats; repeat++ {
			for _, k := range spread(cases, otherCases) {
				l.add(Call{Probe: check.Other, Case: k.ID, Repeat: repeat, Mode: l.modes[1], Stream: l.streams && repeat%2 == 0, asked: k})
			}
		}
	}
	l.probes(cases)
	return l.calls, nil
}

type lister struct {
	o       Options
	streams bool
	modes   []providers.Mode
	calls   []Call
}

func (l *lister) add(c Call) {
	c.N = len(l.calls) + 1
	l.calls = append(l.calls, c)
}

// forms are the ways in which a probe is asked: whole, and streamed where the
// protocol streams.
func (l *lister) forms() []bool {
	if l.streams {
		return []bool{false, true}
	}
	return []bool{false}
}

func (l *lister) probes(cases []*contract.Case) {
	first := cases[0]
	for _, stream := range l.forms() {
		for _, mode := range l.modes {
			for i, k := range spread(cases, truncateCases) {
				l.add(Call{Probe: check.Truncate, Case: string(mode) + " " + k.ID, Repeat: i + 1, Mode: mode, Stream: stream, Cap: smallCap, asked: k})
			}
		}
		for _, p := range []check.Probe{check.Refusal, check.Filter, check.RateLimit, check.Overload} {
			l.add(Call{Probe: p, Case: first.ID, Repeat: 1, Mode: l.modes[0], Stream: stream, Play: true, asked: first})
		}
		if stream {
			for i, k := range spread(cases, 2) {
				l.add(Call{Probe: check.MidStream, Case: k.ID, Repeat: i + 1, Mode: l.modes[0], Stream: true, Play: true, asked: k})
			}
		}
	}
	for i, k := range spread(cases, schemaCases) {
		l.add(Call{Probe: check.Schema, Case: k.ID, Repeat: 1, Mode: l.modes[0], Stream: l.streams && i%2 == 1, suffix: check.PullAway, asked: k})
	}
	l.add(Call{Probe: check.BadRequest, Case: "no JSON", Repeat: 1, Mode: l.modes[0], asked: first, wire: func(b []byte) []byte { return b[:len(b)/2] }})
	l.add(Call{Probe: check.WrongModel, Case: "no such model", Repeat: 1, Mode: l.modes[0], asked: first, model: wrongModel})
	l.add(Call{Probe: check.UnknownParameter, Case: "no such parameter", Repeat: 1, Mode: l.modes[0], asked: first, wire: func(b []byte) []byte {
		return slices.Concat([]byte(`{"interlock_no_such_parameter":true,`), b[1:])
	}})
}

// cases are those of the contract, or the ones that were named.
func (o Options) cases() ([]*contract.Case, error) {
	var list []*contract.Case
	for i := range o.Contract.Cases {
		if k := &o.Contract.Cases[i]; len(o.Only) == 0 || slices.Contains(o.Only, k.ID) {
			list = append(list, k)
		}
	}
	for _, id := range o.Only {
		if o.Contract.Case(id) == nil {
			return nil, fmt.Errorf("contract %s has no case %q", o.Contract.Ref(), id)
		}
	}
	return list, nil
}

// spread picks n cases from all over a list.
func spread(cases []*contract.Case, n int) []*contract.Case {
	if len(cases) <= n {
		return cases
	}
	var picked []*contract.Case
	for i := range n {
		picked = append(picked, cases[i*len(cases)/n])
	}
	return picked
}

func other(m providers.Mode) providers.Mode {
	if m == providers.ModeTool {
		return providers.ModeJSONSchema
	}
	return providers.ModeTool
}

func (o Options) plan(calls []Call) Plan {
	p := Plan{
		Suite: o.Suite.Version + " " + o.Suite.Revision, Profile: certificate.ProfileDigest(o.Profile), Contract: o.Facts.Digest,
		Fixtures: o.Facts.Fixtures, Mode: o.Mode, Repeats: o.Repeats, Lower95: o.Contract.Plan.Lower95.String(), Calls: calls,
	}
	cases := map[string]bool{}
	for _, c := range calls {
		if c.Probe == check.Base {
			cases[c.Case] = true
		}
	}
	p.Cases = len(cases)
	for _, c := range check.All() {
		p.Checks = append(p.Checks, c.ID)
	}
	p.Registered = certificate.At(o.Now())
	data, err := json.Marshal(p)
	if err != nil {
		panic("certify: " + err.Error()) // strings, numbers and booleans only
	}
	p.SHA256 = certificate.Hash(data)
	return p
}
