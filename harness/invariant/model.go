package invariant

import (
	"fmt"
	"net/http"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/interlock-harness/interlock/harness/history"
)

// Limits of the per-key model. The search is exponential in the submits whose
// outcome is not known: 12 take milliseconds, 20 take minutes and gigabytes.
const (
	maxUnknown = 12
	keyBudget  = 2 * time.Second
)

// perKey asks whether what clients saw of each (owner, key) can be explained by
// one job that is created once, ends once and is read in real time. The cheap
// invariants look for known faults; the model knows none and allows only what
// is right.
func perKey(f *facts) []Finding {
	var findings []Finding
	for _, k := range f.keyOrder {
		if len(k.submits) == 0 {
			continue
		}
		if finding, bad := checkKey(f, k); bad {
			findings = append(findings, finding)
			if len(findings) == maxFindings {
				break
			}
		}
	}
	return findings
}

func checkKey(f *facts, k *key) (Finding, bool) {
	ops, unknown := k.operations()
	base := Finding{Owner: k.owner, Key: k.name}
	if unknown > maxUnknown {
		base.Verdict = Inconclusive
		base.Sentence = fmt.Sprintf("Key %s has %d submits of unknown outcome and intent, more than the %d that can be searched.", k.name, unknown, maxUnknown)
		return base, true
	}
	switch porcupine.CheckOperationsTimeout(keyModel, ops, keyBudget) {
	case porcupine.Ok:
		return base, false
	case porcupine.Unknown:
		base.Verdict = Inconclusive
		base.Sentence = fmt.Sprintf("The history of key %s could not be searched within %s.", k.name, keyBudget)
		return base, true
	}
	base.Verdict, base.Invariant = Violation, blame(ops)
	base.Sentence = fmt.Sprintf("No order of the operations on key %s explains what clients were told.", k.name)
	base.Expected, base.Found = "one job, created once, that ends once", "answers that contradict each other"
	for _, o := range ops {
		in := o.Input.(*operation)
		base.Events = append(base.Events, in.from)
		if in.at != never {
			base.Events = append(base.Events, in.at)
		}
		base.Job = firstOf(in.told, base.Job)
	}
	if len(base.Events) > 24 {
		base.Events = base.Events[:24]
	}
	return base, true
}

// blame names the invariant: I1 where the submits alone are wrong, I9 where
// they are right with the cancels but not with the reads, else I15.
func blame(ops []porcupine.Operation) ID {
	only := func(keep ...string) []porcupine.Operation {
		var kept []porcupine.Operation
		for _, o := range ops {
			for _, op := range keep {
				if o.Input.(*operation).op == op {
					kept = append(kept, o)
				}
			}
		}
		return kept
	}
	if porcupine.CheckOperationsTimeout(keyModel, only(history.OpSubmit), keyBudget) == porcupine.Illegal {
		return "I1"
	}
	if porcupine.CheckOperationsTimeout(keyModel, only(history.OpSubmit, history.OpCancel), keyBudget) == porcupine.Illegal {
		return "I15"
	}
	return "I9"
}

// operations lists what the model understands, and how many submits of unknown
// outcome it holds. Of several unknown submits with one intent only the first
// counts: whatever a later one could do, the first could do too.
func (k *key) operations() (ops []porcupine.Operation, unknown int) {
	pending := map[string]bool{}
	var answered []*operation
	for _, o := range k.submits {
		if o.kind == history.Info {
			if pending[o.submit.digest] {
				continue
			}
			pending[o.submit.digest] = true
			unknown++
			ops = append(ops, porcupine.Operation{Input: o, Output: o, Call: o.from, Return: never})
			continue
		}
		answered = append(answered, o)
	}
	for _, o := range distinct(answered) {
		ops = append(ops, porcupine.Operation{Input: o, Output: o, Call: o.from, Return: o.at})
	}
	for _, j := range k.jobs {
		for _, v := range j.verbs {
			known := v.kind == history.OK || v.kind == history.Fail
			mine := v.owner == k.owner
			if known && mine && (v.op == history.OpGet || v.op == history.OpCancel) {
				ops = append(ops, porcupine.Operation{Input: v, Output: v, Call: v.from, Return: v.at})
			}
		}
	}
	return ops, unknown
}

// distinct leaves out submits that add nothing to the search, which is
// exponential in what happens at once: of those that sent the same and were told
// the same, one that encloses another in time, and did not begin before all of
// them. Any order that explains the inner one has a place for the outer right
// behind it; and whatever the outer may have done first, the earliest may have.
func distinct(submits []*operation) []*operation {
	type told struct {
		kind             history.Kind
		status           int
		digest, job, end string
	}
	classes := map[told][]*operation{}
	for _, o := range submits {
		end := ""
		if o.view.ended() {
			end = o.view.completedBy + " " + o.view.status
		}
		c := told{o.kind, 0, o.submit.digest, o.told, end}
		if o.kind == history.Fail {
			c.status = o.status
		}
		classes[c] = append(classes[c], o)
	}
	var kept []*operation
	for _, class := range classes {
		sortBy(class, func(o *operation) int64 { return o.from })
		inner := int64(never) // the earliest end of those that began later
		for i := len(class) - 1; i >= 0; i-- {
			if o := class[i]; i == 0 || o.at <= inner {
				kept = append(kept, o)
			}
			inner = min(inner, class[i].at)
		}
	}
	sortBy(kept, func(o *operation) int64 { return o.from })
	return kept
}

// keyState is what one (owner, key) may be. Jobs end between operations, so an
// outcome becomes part of the state when it is first seen.
type keyState struct {
	bound  bool
	id     string // "" while nobody was told
	digest string
	end    string // "", "cancelled" or the winner
}

var keyModel = porcupine.Model{
	Init: func() any { return keyState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, o := state.(keyState), input.(*operation)
		switch o.op {
		case history.OpSubmit:
			return stepSubmit(s, o)
		case history.OpCancel:
			return stepCancel(s, o)
		}
		return stepGet(s, o)
	},
}

func stepSubmit(s keyState, o *operation) (bool, keyState) {
	switch o.kind {
	case history.Fail:
		if conflict(o) { // right only where another intent is bound
			return s.bound && s.digest != o.submit.digest, s
		}
		return true, s
	case history.Info:
		if !s.bound {
			s.bound, s.digest = true, o.submit.digest
		}
		return true, s
	}
	if s.bound && s.digest != o.submit.digest || s.id != "" && s.id != o.told {
		return false, s
	}
	s.bound, s.digest, s.id = true, o.submit.digest, o.told
	return see(s, o)
}

func stepCancel(s keyState, o *operation) (bool, keyState) {
	if o.kind == history.Fail {
		return true, s
	}
	if s.end != "" && s.end != "cancelled" {
		return false, s
	}
	s.end = "cancelled"
	return s.bound, s
}

func stepGet(s keyState, o *operation) (bool, keyState) {
	if o.kind == history.Fail {
		gone := o.status == http.StatusNotFound || o.status == http.StatusGone
		return !gone || !s.bound, s
	}
	if o.status == http.StatusNotModified {
		return s.bound, s
	}
	if !s.bound || s.id != "" && s.id != o.told {
		return false, s
	}
	s.id = o.told
	return see(s, o)
}

// see folds in what an answer shows of the job's outcome.
func see(s keyState, o *operation) (bool, keyState) {
	shown := o.view
	end := ""
	switch {
	case shown.completed():
		end = "winner " + shown.completedBy
	case shown.cancelled():
		end = "cancelled"
	case shown.at == 0:
		return true, s // the answer names the job and says no more
	}
	if s.end != "" && s.end != end {
		return false, s
	}
	s.end = end
	return true, s
}
