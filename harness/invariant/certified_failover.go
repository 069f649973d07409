package invariant

import "fmt"

// certifiedFailover is I12. It looks at calls that went to another provider than
// the one the job was submitted for, and at the certificate in force then.
func certifiedFailover(f *facts, t *tally) {
	if len(f.certificates) == 0 {
		return // nobody said what is certified: nothing can be proved
	}
	t.saw(len(f.certificates))
	for _, c := range f.calls {
		j := f.jobs[c.job]
		if j == nil || j.provider == "" || c.provider == j.provider {
			continue
		}
		why := inForce(f.certificates, c, contractID(j.contract))
		if why == "" {
			continue
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("Job %s went from %s on to %s: %s.", j.id, j.provider, c.provider, why),
			Expected: "no call without a certificate in force", Found: "called", Job: j.id, Attempt: c.attempt,
		}, c.arrived)
	}
}

// inForce returns "" where the last word before the call is a valid certificate,
// else what is wrong with it.
func inForce(certificates []certified, c *call, contract string) string {
	why := "no certificate was ever in force"
	for _, known := range certificates {
		facts := known.facts
		if known.N > c.arrived || facts.Provider != c.provider {
			continue
		}
		if facts.Contract != "" && contract != "" && contractID(facts.Contract) != contract {
			continue
		}
		switch {
		case !facts.Valid && facts.Why != "":
			why = facts.Why
		case !facts.Valid:
			why = "its certificate is not valid"
		case facts.ForUS > 0 && c.atUS >= known.AtUS+facts.ForUS:
			why = "its certificate had expired"
		default:
			why = ""
		}
	}
	return why
}
