package check

import (
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// w10 compares each case streamed with the same case not streamed: content, calls
// and the class of the end must agree. Where answers vary, one agreement between
// the two forms is enough; where each form agrees with itself and not with the
// other, the form is to blame. A few answers agree with each other by chance, so
// the difference counts where enough cases show it; else it is the answer that
// varies (R02).
var w10 = Check{
	ID: "W10", Title: "a stream gives the same answer as a whole body",
	Kind: Relational, Severity: Must, Probes: []Probe{Base, Other},
	judge: func(r *Run, t *tally) {
		comparable, differing := 0, 0
		for _, w := range r.twins() {
			if streams, whole := meanings(w.streams), meanings(w.whole); len(streams) > 0 && len(whole) > 0 {
				comparable++
				if apart(streams, whole) {
					differing++
				}
			}
		}
		for _, w := range r.twins() {
			t.compare(w, enough(differing, comparable))
		}
	},
}

// apart reports whether each form agrees with itself and not with the other.
func apart(streams, whole []string) bool {
	return len(streams) == 1 && len(whole) == 1 && streams[0] != whole[0]
}

// enough reports whether more than a quarter of the cases show a difference: far
// more than an answer in ten that varies could bring about by chance.
func enough(cases, of int) bool { return 4*cases > of }

func (t *tally) compare(w *twins, often bool) {
	streams, whole := meanings(w.streams), meanings(w.whole)
	differ := often && apart(streams, whole)
	for _, o := range w.streams {
		switch {
		case o.owner == t.check.ID:
			t.fail(o, o.Judgement.Reason, o.Judgement.Place, "the same request, not streamed, is answered well")
		case o.lost:
			t.skip(o, "no stream came")
		case len(whole) == 0 || len(streams) == 0:
			t.skip(o, "nothing to compare with")
		case o.owner == "" && differ:
			t.fail(o, "stream.differs", "", "streamed answers agree with each other and not with those that are not streamed")
		default:
			t.pass(o)
		}
	}
}

// meanings are the distinct outputs and ends of the accepted answers among some.
func meanings(list []*Observation) []string {
	var distinct []string
	for _, o := range list {
		if o.Judgement.Verdict != providers.Accept {
			continue
		}
		meaning := string(o.Response.End) + " " + canonical(o.Judgement.Output)
		if !slices.Contains(distinct, meaning) {
			distinct = append(distinct, meaning)
		}
	}
	return distinct
}

func canonical(output []byte) string {
	c, err := strictjson.Canonical(output)
	if err != nil {
		return string(output)
	}
	return string(c)
}
