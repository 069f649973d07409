package check

import (
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// w10 compares each case streamed with the same case not streamed: content, calls
// and the class of the end must agree. A form is to blame for a case where all its
// answers agree with each other and none with those of the other form. So few as
// the cases are tried may do that by chance, so a case in which they do is asked
// again (probe Twin) until each form has been tried FormTries times: an answer that
// varies by itself (R02) does not come out apart then, and a stream that differs in
// one case does.
var w10 = Check{
	ID: "W10", Title: "a stream gives the same answer as a whole body",
	Kind: Relational, Severity: Must, Probes: []Probe{Base, Other, Twin},
	judge: func(r *Run, t *tally) {
		all := r.twins()
		for _, o := range r.of(Base, Other, Twin) { // in the order of the run
			if w := all[TwinCase{o.Case, o.Mode()}]; w.asked == o {
				t.compare(w)
			}
		}
	},
}

// FormTries is how often each form of a case must have been tried before the form
// is blamed. Eight answers of each form that vary by themselves come out apart with
// a chance of 2 to the 15th at most.
const FormTries = 8

// apart reports whether each form agrees with itself and not with the other.
func apart(streams, whole []string) bool {
	return len(streams) == 1 && len(whole) == 1 && streams[0] != whole[0]
}

func (t *tally) compare(w *twins) {
	streams, whole := meanings(w.streams), meanings(w.whole)
	differ := apart(streams, whole)
	for _, o := range w.streams {
		switch {
		case o.owner == t.check.ID:
			t.fail(o, o.Judgement.Reason, o.Judgement.Place, "the same request, not streamed, is answered well")
		case o.lost:
			t.skip(o, "no stream came")
		case len(whole) == 0 || len(streams) == 0:
			t.skip(o, "nothing to compare with")
		case o.owner == "" && differ && !w.tried():
			t.skip(o, "streamed answers differ from the others, and were not asked for often enough to tell form from chance")
		case o.form:
			t.fail(o, "stream.differs", "", "streamed answers agree with each other and not with those that are not streamed")
		default:
			t.pass(o)
		}
	}
}

// TwinCase is one case in one mode, in which the forms differ.
type TwinCase struct {
	Case string
	Mode providers.Mode
}

// Undecided lists the cases in which streamed and whole answers differ as a form
// would make them and that were not tried often enough to tell, in the order of
// the run.
func (r *Run) Undecided() []TwinCase {
	for _, o := range r.Observations {
		o.owner, o.lost = r.byReason(o)
	}
	r.crossTalk()
	var list []TwinCase
	all := r.twins()
	for _, o := range r.of(Base, Other) {
		k := TwinCase{o.Case, o.Mode()}
		w := all[k]
		if w.tried() || slices.Contains(list, k) {
			continue
		}
		if apart(meanings(w.streams), meanings(w.whole)) || w.onlyStreamsFail() {
			list = append(list, k)
		}
	}
	return list
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
