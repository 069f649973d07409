package invariant

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// ownersApart is I11. A history with one owner proves nothing about it.
func ownersApart(f *facts, t *tally) {
	if len(f.owners) < 2 {
		return
	}
	owner := map[string]string{}
	for _, j := range f.jobOrder {
		if j.key != nil {
			owner[j.id] = j.key.owner
		}
	}
	for _, o := range f.ops {
		if o.owner == "" {
			continue
		}
		t.saw(1)
		foreign := ""
		switch {
		case o.kind == history.OK:
			foreign = shownForeign(o, owner)
		case o.kind == history.Fail && o.status == http.StatusForbidden && !operator(o):
			// 403 tells that the job exists; only 404 says nothing.
			if of, ok := owner[o.on]; ok && of != o.owner && !operatorsOnly(o) {
				foreign = o.on
			}
		}
		if foreign == "" {
			continue
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("Owner %s was answered with job %s of owner %s.", o.owner, foreign, owner[foreign]),
			Expected: "404, as for a job that does not exist", Found: fmt.Sprint(o.status),
			Owner: o.owner, Key: o.key, Job: foreign,
		}, o.from, o.at)
	}
	sharedKeys(f, t)
}

// shownForeign returns a job of another owner that an answer shows.
func shownForeign(o *operation, owner map[string]string) string {
	for _, id := range []string{o.told, o.on} {
		if of, ok := owner[id]; ok && of != o.owner && !operator(o) {
			return id
		}
	}
	for _, id := range o.listed {
		if of, ok := owner[id]; ok && of != o.owner && !operator(o) {
			return id
		}
	}
	return ""
}

// operator reports whether o was done by an operator, who sees all jobs.
func operator(o *operation) bool { return strings.HasPrefix(o.actor, "operator") }

// operatorsOnly reports whether o is a verb that is refused to an owner before
// the job is even looked for.
func operatorsOnly(o *operation) bool {
	switch o.op {
	case history.OpRelease, history.OpResolve, history.OpCancelAttempt:
		return true
	}
	return false
}

// sharedKeys finds an owner who was kept from a key because another uses it: a
// conflict although he sent one intent only, or server errors without a fault.
func sharedKeys(f *facts, t *tally) {
	users := map[string][]*key{}
	for _, k := range f.keyOrder {
		if len(k.submits) > 0 {
			users[k.name] = append(users[k.name], k)
		}
	}
	for _, k := range f.keyOrder {
		if len(users[k.name]) < 2 || len(k.submits) == 0 {
			continue
		}
		same, served, refused := true, false, (*operation)(nil)
		for _, o := range k.submits {
			same = same && o.submit.digest == k.submits[0].submit.digest
			served = served || o.kind == history.OK
			if conflict(o) || o.status >= 500 && !f.fired {
				refused = o
			}
		}
		if same && !served && refused != nil {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Owner %s could not use key %s, which another owner uses too.", k.owner, k.name),
				Expected: "an own job for each owner", Found: fmt.Sprintf("%d %s", refused.status, refused.problem.Type),
				Owner: k.owner, Key: k.name,
			}, refused.from, refused.at)
		}
	}
}
