package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// Labels are short names for the jobs and attempts of one play: j1, j2 in the
// order of appearance, a1, a2 in the order of the attempts of a job. Where the
// play has several jobs an attempt is j1.a1.
type Labels struct {
	names    map[string]string
	replacer *strings.Replacer
}

// NewLabels reads the ids that occur in the events of a play.
func NewLabels(events []history.Event) *Labels {
	l := &Labels{names: map[string]string{}}
	var jobs []string
	attempts := map[string][]string{}
	numbered := map[string]int{}
	for _, e := range events {
		if e.Job == "" {
			continue
		}
		if !slices.Contains(jobs, e.Job) && len(jobs) < maxLabels {
			jobs = append(jobs, e.Job)
		}
		if isID(e.Attempt) && !slices.Contains(attempts[e.Job], e.Attempt) && len(attempts[e.Job]) < maxLabels {
			attempts[e.Job] = append(attempts[e.Job], e.Attempt)
		}
		if isID(e.Attempt) && (e.Kind == history.Row && e.Op == history.TableAttempts || e.Kind == history.OK) {
			var a history.Attempt
			if e.Decode(&a) == nil && a.N > 0 && (a.ID == "" || a.ID == e.Attempt) {
				numbered[e.Attempt] = a.N
			}
		}
	}
	for i, job := range jobs {
		l.names[job] = fmt.Sprintf("j%d", i+1)
		for k, attempt := range attempts[job] {
			n := k + 1
			if numbered[attempt] > 0 {
				n = numbered[attempt]
			}
			name := fmt.Sprintf("a%d", n)
			if len(jobs) > 1 {
				name = l.names[job] + "." + name
			}
			if _, taken := l.names[attempt]; !taken {
				l.names[attempt] = name
			}
		}
	}
	ids := make([]string, 0, len(l.names))
	for id := range l.names {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { // an id may begin another
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		pairs = append(pairs, id, l.names[id])
	}
	l.replacer = strings.NewReplacer(pairs...)
	return l
}

// maxLabels bounds the names of one play.
const maxLabels = 500

// isID tells an id from a number of an attempt.
func isID(s string) bool {
	return len(s) > 2
}

// Of returns the short name of a job or attempt, or the id itself.
func (l *Labels) Of(id string) string {
	if name, ok := l.names[id]; ok {
		return name
	}
	return id
}

// In replaces the ids in a sentence.
func (l *Labels) In(text string) string { return l.replacer.Replace(text) }
