package invariant

import (
	"fmt"

	"github.com/interlock-harness/interlock/harness/history"
)

// boundIntent is I2. A key with two intents proves something only where the
// target answered for both.
func boundIntent(f *facts, t *tally) {
	for _, k := range f.keyOrder {
		var first *operation // the first that was taken
		answered := map[string]bool{}
		for _, o := range k.submits {
			if o.kind != history.Info {
				answered[o.submit.digest] = true
			}
			if o.kind != history.OK {
				continue
			}
			if first == nil {
				first = o
				continue
			}
			if o.submit.digest != first.submit.digest {
				t.violated(Finding{
					Sentence: fmt.Sprintf("Key %s was used again for another intent, and the target took it.", k.name),
					Expected: "409 idempotency-key-reused and no change", Found: fmt.Sprintf("%d, job %s", o.status, o.told),
					Owner: k.owner, Key: k.name, Job: o.told,
				}, first.from, first.at, o.from, o.at)
				break
			}
		}
		if len(answered) < 2 {
			continue
		}
		t.saw(1)
		for _, j := range k.jobs {
			changedIntent(j, t)
		}
	}
}

// changedIntent finds a job whose stored intent changed.
func changedIntent(j *job, t *tally) {
	before, at := jobSeen{}, int64(0)
	for _, s := range j.seen {
		for _, field := range []struct{ name, was, is string }{
			{"fingerprint", before.fingerprint, s.fingerprint},
			{"contract", before.contract, s.contract},
			{"provider", before.provider, s.provider},
		} {
			if field.was != "" && field.is != "" && field.was != field.is {
				t.violated(Finding{
					Sentence: fmt.Sprintf("The %s of job %s changed after it was submitted.", field.name, j.id),
					Expected: field.was, Found: field.is, Job: j.id,
				}, at, s.at)
				return
			}
		}
		at = s.at
		before.fingerprint = firstOf(s.fingerprint, before.fingerprint)
		before.contract = firstOf(s.contract, before.contract)
		before.provider = firstOf(s.provider, before.provider)
	}
}
