package invariant

import "fmt"

// untouchedJob is I16. It compares the sights of a job that has not ended: rows
// by the transaction that wrote them (xmin), answers by their version.
func untouchedJob(f *facts, t *tally) {
	for _, j := range f.jobOrder {
		var first [2]jobSeen
		sights := 0
		for _, s := range j.seen {
			if s.ended() || s.absent {
				continue
			}
			kind := 0
			if s.row {
				kind = 1
			}
			before := first[kind]
			if before.at == 0 {
				first[kind] = s
				continue
			}
			sights++
			what, was, is := "", "", ""
			switch {
			case before.xmin != s.xmin:
				what, was, is = "was written by another transaction", "xmin "+before.xmin, "xmin "+s.xmin
			case before.version != s.version:
				what, was, is = "changed its version", fmt.Sprint(before.version), fmt.Sprint(s.version)
			default:
				continue
			}
			t.violated(Finding{
				Sentence: fmt.Sprintf("Job %s %s although it had no outcome yet.", j.id, what),
				Expected: was + ", as it was submitted", Found: is, Job: j.id,
			}, before.at, s.at)
			break
		}
		if sights > 0 {
			t.saw(1)
		}
	}
}
