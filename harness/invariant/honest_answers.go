package invariant

import (
	"fmt"

	"github.com/interlock-harness/interlock/harness/history"
)

// honestAnswers is I13.
func honestAnswers(f *facts, t *tally) {
	for _, o := range f.ops {
		if o.kind == history.Fail && o.problem.Indeterminate {
			t.violated(Finding{
				Sentence: fmt.Sprintf("A %s was refused with %d, and the same answer says that its outcome is not known.", o.op, o.status),
				Expected: "an ambiguous outcome is never a 4xx", Found: fmt.Sprint(o.status), Owner: o.owner, Key: o.key, Job: o.on,
			}, o.from, o.at)
		}
	}
	for _, k := range f.keyOrder {
		if len(k.submits) > 0 {
			t.saw(1)
		}
		notDurable(f, k, t)
		refusedButDone(k, t)
	}
}

// notDurable finds a 2xx for a job that no later complete read of the database
// shows, or that names no job at all.
func notDurable(f *facts, k *key, t *tally) {
	for _, o := range k.submits {
		if o.kind != history.OK {
			continue
		}
		if o.told == "" {
			t.violated(Finding{
				Sentence: fmt.Sprintf("A submit with key %s was answered with %d and no job.", k.name, o.status),
				Expected: "2xx with the id of the job", Found: "no id", Owner: k.owner, Key: k.name,
			}, o.from, o.at)
			return
		}
		j := f.jobs[o.told]
		if last, ok := f.lastRead(history.TableJobs, j); ok && last.from > o.at && !j.inRead(last) {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Job %s was answered with %d, but it is not in the database.", j.id, o.status),
				Expected: "2xx only for what is committed", Found: "no row", Owner: k.owner, Key: k.name, Job: j.id,
			}, o.from, o.at, last.at)
			return
		}
	}
}

// refusedButDone finds a job whose every submit was refused.
func refusedButDone(k *key, t *tally) {
	if len(k.submits) == 0 || len(k.jobs) == 0 || k.mayExist() {
		return
	}
	o, j := k.submits[0], k.jobs[0]
	t.violated(Finding{
		Sentence: fmt.Sprintf("Every submit with key %s was refused, and job %s exists all the same.", k.name, j.id),
		Expected: "4xx only where nothing was stored", Found: fmt.Sprintf("%d, and a job", o.status),
		Owner: k.owner, Key: k.name, Job: j.id,
	}, append([]int64{o.from, o.at}, k.proof(j)...)...)
}
