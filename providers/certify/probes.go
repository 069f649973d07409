package certify

import (
	"encoding/json"
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
)

// Numbers of the probes.
const (
	otherCases      = 8  // cases that are tried in the other output mode ...
	otherRepeats    = 4  // ... so many times
	schemaCases     = 4  // cases with a prompt that pulls away from the schema
	truncateCases   = 2  // cases with too few output tokens
	irrelevantCases = 30 // cases with a tool that does not fit: the fewest with a lower bound of 0.90
	permutedCases   = 8  // cases with a list in another order
	followUpCases   = 8  // cases in which the forms differ that are asked again
	primaryRepeats  = 2  // askings of the primary: its agreement with itself is the bar
	smallCap        = 16 // the smallest cap that every vendor takes
	wrongModel      = "interlock-no-such-model"
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
	l.base(cases)
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

// base lists the cases as jobs send them: all cases once, then again; case by case
// where the plan may end early, since a case counts when all its repeats are there.
func (l *lister) base(cases []*contract.Case) {
	add := func(k *contract.Case, repeat int) {
		l.add(Call{Probe: check.Base, Case: k.ID, Repeat: repeat, Mode: l.modes[0], Stream: l.streams && repeat%2 == 0, asked: k})
	}
	if l.o.Contract.Plan.Sequential {
		for _, k := range cases {
			for repeat := 1; repeat <= l.o.Repeats; repeat++ {
				add(k, repeat)
			}
		}
		return
	}
	for repeat := 1; repeat <= l.o.Repeats; repeat++ {
		for _, k := range cases {
			add(k, repeat)
		}
	}
}

func (l *lister) probes(cases []*contract.Case) {
	l.free(cases)
	l.permuted(cases)
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
		l.add(Call{Probe: check.Cancel, Case: first.ID, Repeat: 1, Mode: l.modes[0], Stream: stream, Play: true, asked: first})
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

// free offers a tool and leaves it to the model: the contract's own, which is
// compared with the primary, and one that does not fit. Where a protocol cannot
// require a call, every call is free and check T03 looks at them.
func (l *lister) free(cases []*contract.Case) {
	name := l.o.Contract.Tool.Name
	if name != "" && l.o.Profile.Protocol != providers.OllamaChat {
		for i, k := range cases {
			l.add(triggerCall(k, name, 1, l.streams && i%2 == 1))
		}
	}
	for i, k := range spread(cases, irrelevantCases) {
		l.add(Call{
			Probe: check.Irrelevant, Case: k.ID, Repeat: 1, Mode: providers.ModeTool, Stream: l.streams && i%2 == 1, asked: k,
			change: func(r *providers.Request) {
				r.ToolOptional, r.ToolName, r.ToolDescription, r.Schema = true, tides.name, tides.description, json.RawMessage(tides.schema)
			},
		})
	}
}

func triggerCall(k *contract.Case, tool string, repeat int, stream bool) Call {
	return Call{
		Probe: check.Trigger, Case: k.ID, Repeat: repeat, Mode: providers.ModeTool, Stream: stream, asked: k,
		suffix: "\n\nCall " + tool + " if it fits this message; otherwise answer in plain text.",
		change: func(r *providers.Request) { r.ToolOptional = true },
	}
}

// tides is a tool that fits no contract.
var tides = struct{ name, description, schema string }{
	"look_up_tides", "The times of high and low tide at a harbour on a day. Only for questions about tides.",
	`{"type":"object","additionalProperties":false,"required":["harbour","day"],"properties":{"harbour":{"type":"string"},"day":{"type":"string"}}}`,
}

// permuted asks some cases with a list in another order, where the contract says
// that the order says nothing.
func (l *lister) permuted(cases []*contract.Case) {
	for _, m := range l.o.Contract.Metamorphic {
		var usable []*contract.Case
		for _, k := range cases {
			if input, ok := m.Input(k.Input); ok {
				other := *k
				other.Input = input
				usable = append(usable, &other)
			}
		}
		for i, k := range spread(usable, permutedCases) {
			l.add(Call{Probe: check.Permuted, Case: k.ID, Repeat: 1, Mode: l.modes[0], Stream: l.streams && i%2 == 1, asked: k, follow: m.ID})
		}
	}
}

// followUps are the further askings of the cases in which the forms differ.
func (o Options) followUps(seen []*check.Observation, first int) []Call {
	tried := map[check.TwinCase][2]int{}
	for _, s := range seen {
		if s.Probe == check.Base || s.Probe == check.Other {
			n := tried[check.TwinCase{Case: s.Case, Mode: s.Mode()}]
			n[form(s.Stream())]++
			tried[check.TwinCase{Case: s.Case, Mode: s.Mode()}] = n
		}
	}
	l := &lister{o: o}
	cases := o.checks(seen).Undecided()
	for _, k := range cases[:min(len(cases), followUpCases)] {
		for n := range check.FormTries { // in turns, so that nothing else sets the forms apart
			for _, stream := range []bool{false, true} {
				if n >= tried[k][form(stream)] {
					l.add(Call{Probe: check.Twin, Case: k.Case, Repeat: n + 1, Mode: k.Mode, Stream: stream, asked: o.Contract.Case(k.Case)})
				}
			}
		}
	}
	for i := range l.calls {
		l.calls[i].N = first + i
	}
	return l.calls
}

func form(stream bool) int {
	if stream {
		return 1
	}
	return 0
}
