package invariant

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// oneJob is I1. It looks at each (owner, key) for a second job, for a repeat of
// the same intent that was refused, and at the whole history for jobs that
// nobody asked for.
func oneJob(f *facts, t *tally) {
	for _, k := range f.keyOrder {
		if len(k.submits) > 0 {
			t.saw(1)
		}
		if len(k.jobs) > 1 {
			first, second := k.jobs[0], k.jobs[1]
			t.violated(Finding{
				Sentence: fmt.Sprintf("Key %s gave %d jobs: %s and then %s.", k.name, len(k.jobs), first.id, second.id),
				Expected: "one job for one owner and key", Found: fmt.Sprintf("%d jobs", len(k.jobs)),
				Owner: k.owner, Key: k.name, Job: second.id,
			}, append(k.proof(first), k.proof(second)...)...)
		}
		refusedRepeat(k, t)
		for _, j := range k.jobs {
			if j.key != k && j.key.owner == k.owner {
				t.violated(Finding{
					Sentence: fmt.Sprintf("Keys %s and %s of one owner share job %s.", j.key.name, k.name, j.id),
					Expected: "a job for each key", Found: "one job for two keys", Owner: k.owner, Key: k.name, Job: j.id,
				}, append(j.key.proof(j), k.proof(j)...)...)
			}
		}
	}
	unaskedJobs(f, t)
}

// refusedRepeat finds a submit that was called a conflict although nothing but
// its own intent was ever bound to the key.
func refusedRepeat(k *key, t *tally) {
	bound, only := "", true
	for _, o := range k.submits {
		if o.kind == history.OK && bound == "" {
			bound = o.submit.digest
		}
		only = only && o.submit.digest == k.submits[0].submit.digest
	}
	for _, o := range k.submits {
		if !conflict(o) || o.submit.digest != bound && !(bound == "" && only) {
			continue
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("The same click again, key %s, was refused as a conflict.", k.name),
			Expected: "200 and the job of the first click", Found: fmt.Sprintf("%d %s", o.status, o.problem.Type),
			Owner: k.owner, Key: k.name,
		}, k.submits[0].from, o.from, o.at)
		return
	}
}

// conflict reports whether the target refused a submit because of its key.
func conflict(o *operation) bool {
	return o.kind == history.Fail &&
		(o.status == http.StatusConflict || strings.HasSuffix(o.problem.Type, "idempotency-key-reused"))
}

// unaskedJobs finds jobs of our owners under keys that nobody used, and more
// unattributed jobs than there are clicks that could have made them.
func unaskedJobs(f *facts, t *tally) {
	unresolved := 0
	var stray []*job
	for _, k := range f.keyOrder {
		if len(k.submits) == 0 && f.owners[k.owner] && len(k.jobs) > 0 {
			t.violated(Finding{
				Sentence: fmt.Sprintf("There is a job %s of owner %s under key %s, which nobody ever submitted.", k.jobs[0].id, k.owner, k.name),
				Expected: "jobs only under the keys that clients sent", Found: "one more job",
				Owner: k.owner, Key: k.name, Job: k.jobs[0].id,
			}, k.proof(k.jobs[0])...)
		}
		if len(k.jobs) == 0 && k.mayExist() {
			unresolved++
		}
	}
	for _, c := range f.calls {
		if j := f.jobs[c.job]; j != nil && j.key == nil && !contains(stray, j) {
			stray = append(stray, j)
		}
	}
	if len(stray) > unresolved && len(f.keyOrder) > 0 {
		var proof []int64
		for _, c := range f.calls {
			if contains(stray, f.jobs[c.job]) {
				proof = append(proof, c.arrived)
			}
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("Providers were called for %d jobs that no answer ever named, but only %d clicks can have made one.", len(stray), unresolved),
			Expected: "one job for each click", Found: fmt.Sprintf("%d jobs too many", len(stray)-unresolved),
			Job: stray[len(stray)-1].id,
		}, proof...)
	}
}

func contains(jobs []*job, j *job) bool {
	for _, known := range jobs {
		if known == j {
			return true
		}
	}
	return false
}

// mayExist reports whether any submit of k can have made a job.
func (k *key) mayExist() bool {
	for _, o := range k.submits {
		if o.took() {
			return true
		}
	}
	return false
}

// proof returns the events that tie j to k: the submits that were answered with
// it, or the rows that show it.
func (k *key) proof(j *job) []int64 {
	var events []int64
	for _, o := range k.submits {
		if o.kind == history.OK && o.told == j.id {
			events = append(events, o.from, o.at)
		}
	}
	if len(events) == 0 && len(j.seen) > 0 {
		events = append(events, j.seen[0].at)
	}
	return events
}
