package check

import (
	"regexp"
	"strconv"
)

// i03 reads the build fingerprint and the model id that answers state. Within one
// run they stay the same; later they are the baseline of drift.
var i03 = Check{
	ID: "I03", Title: "the build that answers stays the same during the run",
	Kind: Relational, Severity: Must, Probes: []Probe{Base, Other},
	judge: func(r *Run, t *tally) {
		first := ""
		for _, o := range r.of(Base, Other) {
			print := Fingerprint(o)
			switch {
			case o.lost:
				t.skip(o, "no answer came")
			case print != "" && first != "" && print != first:
				t.fail(o, "fingerprint.changed", "", "the build is "+strconv.Quote(print)+", it was "+strconv.Quote(first))
			default:
				t.pass(o)
			}
			if first == "" {
				first = print
			}
		}
	},
}

// Fingerprint is what an answer states about the build that made it; empty where
// it states nothing.
func Fingerprint(o *Observation) string {
	if m := fingerprint.FindSubmatch(o.Transcript.Body); m != nil {
		return string(m[1])
	}
	return ""
}

var fingerprint = regexp.MustCompile(`"system_fingerprint"\s*:\s*"([^"\\]{1,80})"`)
