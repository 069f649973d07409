package invariant

import "fmt"

// noLeaks is I14. Each process is compared with its own first count.
func noLeaks(f *facts, t *tally) {
	first, last := map[string]counted{}, map[string]counted{}
	var order []string
	for _, c := range f.resources {
		if _, ok := first[c.Actor]; !ok {
			first[c.Actor] = c
			order = append(order, c.Actor)
			continue
		}
		last[c.Actor] = c
	}
	for _, process := range order {
		before, after := first[process], last[process]
		if after.N == 0 {
			continue
		}
		t.saw(1)
		for _, r := range []struct {
			name string
			a, b int
		}{
			{"goroutines", before.facts.Goroutines, after.facts.Goroutines},
			{"connections", before.facts.Connections, after.facts.Connections},
			{"locks", before.facts.Locks, after.facts.Locks},
			{"open files", before.facts.Files, after.facts.Files},
		} {
			if r.b > r.a+max(before.facts.Slack, after.facts.Slack) {
				t.violated(Finding{
					Sentence: fmt.Sprintf("Process %s holds %d %s, and it began with %d.", process, r.b, r.name, r.a),
					Expected: fmt.Sprintf("at most %d", r.a+max(before.facts.Slack, after.facts.Slack)), Found: fmt.Sprint(r.b),
				}, before.N, after.N)
			}
		}
	}
}
