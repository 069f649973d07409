package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// r01 demands that the same request at temperature 0 gives the same shape each
// time: keys, types, the way numbers are written, the word for the end. A case
// passes when all its answers agree; the lower bound over cases decides.
var r01 = Check{
	ID: "R01", Title: "the same request gives the same shape each time",
	Kind: Statistical, Severity: Must, Probes: []Probe{Base},
	judge: func(r *Run, t *tally) {
		for _, list := range r.inOrder(Base) {
			modal := mode(list, shapeOf)
			for _, o := range list {
				switch {
				case o.Judgement.Verdict != providers.Accept:
					t.skip(o, "hidden by "+orTransport(o))
				case o.form:
					t.skip(o, "hidden by W10")
				case shapeOf(o) != modal:
					t.fail(o, "shape.differs", "", "keys, types or end differ from the other answers to the same request")
				default:
					t.pass(o)
				}
			}
		}
	},
}

func orTransport(o *Observation) string {
	if o.owner == "" {
		return "a lost answer"
	}
	return o.owner
}

// cases groups the observations of a probe by case.
func (r *Run) cases(p Probe) map[string][]*Observation {
	groups := map[string][]*Observation{}
	for _, o := range r.of(p) {
		groups[o.Case] = append(groups[o.Case], o)
	}
	return groups
}

// inOrder are the same groups in the order in which their cases were first asked:
// what is found is told, and signed, in one order.
func (r *Run) inOrder(p Probe) [][]*Observation {
	groups := r.cases(p)
	var list [][]*Observation
	for _, o := range r.of(p) {
		if g := groups[o.Case]; g[0] == o {
			list = append(list, g)
		}
	}
	return list
}

// mode is the most frequent value of f over the accepted answers; of two that are
// equally frequent the smaller.
func mode(list []*Observation, f func(*Observation) string) string {
	count := map[string]int{}
	best := ""
	for _, o := range list {
		if o.Judgement.Verdict == providers.Accept && !o.form {
			count[f(o)]++
		}
	}
	for v, n := range count {
		if n > count[best] || n == count[best] && v < best {
			best = v
		}
	}
	return best
}

func shapeOf(o *Observation) string {
	return string(o.Response.End) + " " + o.Response.Finish + " " + Shape(o.Judgement.Output)
}

// Shape writes what a JSON document looks like without its values: keys, types,
// and whether a number is written as a whole one.
func Shape(document []byte) string {
	v, err := strictjson.Decode(document, strictjson.Limits{})
	if err != nil {
		return "?"
	}
	var b strings.Builder
	shape(&b, v)
	return b.String()
}

func shape(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteByte('0')
	case bool:
		b.WriteByte('b')
	case string:
		b.WriteByte('s')
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			b.WriteByte('d')
		} else {
			b.WriteByte('i')
		}
	case []any:
		b.WriteByte('[')
		for _, e := range v {
			shape(b, e)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(b, "%q", name)
			shape(b, v[name])
		}
		b.WriteByte('}')
	}
}
