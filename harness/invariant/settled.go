package invariant

import (
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// settled is I10. It reads the audit alone: after healing and draining, what is
// still starting or running hangs. A job may stay open (its owner may go on) or
// unknown (an operator may), but it must say so.
func settled(f *facts, t *tally) {
	clicksWithoutJob(f, t)
	audit := f.phase(history.PhaseAudit)
	if audit.N == 0 {
		return
	}
	began := f.phase(history.PhaseDrain)
	if began.N == 0 {
		began = f.phase(history.PhaseHeal)
	}
	waited := (audit.AtUS - began.AtUS) / 1000
	for _, j := range f.jobOrder {
		hanging, at, audited := j.hangs(audit.N)
		if !audited {
			continue
		}
		t.saw(1)
		if hanging == "" {
			continue
		}
		finding := Finding{
			Sentence: fmt.Sprintf("%s is still there %d ms after everything healed.", hanging, waited),
			Expected: fmt.Sprintf("ended or explicitly unknown within %d ms", began.facts.BoundMS), Found: strings.TrimSuffix(hanging, ","), Job: j.id,
		}
		if began.N == 0 || waited < began.facts.BoundMS {
			finding.Sentence = fmt.Sprintf("%s was there at the audit, which came before the bound of %d ms.", hanging, began.facts.BoundMS)
			t.undecided(finding, began.N, at)
			continue
		}
		t.violated(finding, began.N, at)
	}
}

// clicksWithoutJob finds a key whose owner still gets server errors, and never
// got a job, although every fault had been lifted before the last click.
func clicksWithoutJob(f *facts, t *tally) {
	lifted := int64(0)
	for _, fault := range f.faults {
		lifted = max(lifted, fault.healed)
	}
	if lifted == 0 || lifted == never {
		return
	}
	for _, k := range f.keyOrder {
		if len(k.submits) == 0 || k.submits[len(k.submits)-1].from < lifted {
			continue
		}
		t.saw(1)
		last, served := k.submits[len(k.submits)-1], false
		for _, o := range k.submits {
			served = served || o.kind == history.OK
		}
		if !served && last.kind == history.Info && last.status >= 500 {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Key %s still gives no job although all faults were lifted.", k.name),
				Expected: "a job, once nothing is broken any more", Found: fmt.Sprint(last.status), Owner: k.owner, Key: k.name,
			}, lifted, last.from, last.at)
		}
	}
}

// hangs names what of j still starts or runs in the last sights after event n.
func (j *job) hangs(n int64) (what string, at int64, audited bool) {
	for i := len(j.seen) - 1; i >= 0; i-- {
		s := j.seen[i]
		if s.from < n {
			continue
		}
		audited = true
		if s.status == "starting" || s.status == "running" {
			return fmt.Sprintf("job %s, %s,", j.id, s.status), s.at, true
		}
		break
	}
	for _, a := range j.attempts {
		for i := len(a.seen) - 1; i >= 0; i-- {
			s := a.seen[i]
			if s.from < n || s.state == "" {
				continue
			}
			audited = true
			if s.state == "starting" || s.state == "running" {
				return fmt.Sprintf("attempt %s, %s,", a.id, s.state), s.at, true
			}
			break
		}
	}
	return "", 0, audited
}
