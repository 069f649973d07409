package invariant

import (
	"fmt"
	"slices"

	"github.com/interlock-harness/interlock/harness/history"
)

// String is how a table names e.
func (e Edge) String() string {
	return fmt.Sprintf("%s %s -> %s", e.Machine, firstOf(e.From, "(new)"), e.To)
}

// Edge is one move of the attempt machine (or of the job machine) and what the
// histories show of it.
type Edge struct {
	Machine string `json:"machine"` // attempt or job
	From    string `json:"from"`    // "" before it exists
	To      string `json:"to"`
	Legal   bool   `json:"legal"`
	Seen    int    `json:"seen"`    // how often it was made
	Refused int    `json:"refused"` // how often it was tried and refused
}

// Covered reports whether the histories exercise e: a legal edge was made, an
// illegal one was tried and refused. Staying in a state is no move.
func (e Edge) Covered() bool {
	switch {
	case e.From == e.To:
		return true
	case e.Legal:
		return e.Seen > 0
	}
	return e.Refused > 0
}

// states of the two machines, in the order of the table.
var (
	attemptStates = []string{"starting", "running", "unknown", "released", "succeeded", "lost", "failed", "cancelled"}
	jobStates     = []string{"open", "succeeded", "cancelled"}
	legalJob      = map[string][]string{"": {"open"}, "open": {"succeeded", "cancelled"}}
)

// Coverage counts the moves in all histories.
func Coverage(histories ...History) []Edge {
	type at struct{ machine, from, to string }
	seen, refused := map[at]int{}, map[at]int{}
	for _, h := range histories {
		for _, j := range h.facts.jobOrder {
			if len(j.seen)+len(j.moves) > 0 {
				seen[at{"job", "", "open"}]++
			}
			for _, m := range j.moves {
				switch {
				case m.attempt != "" && m.target != "":
					seen[at{"attempt", m.source, m.target}]++
				case m.event == "job.cancelled":
					seen[at{"job", "open", "cancelled"}]++
				}
				if m.event == "job.succeeded" {
					seen[at{"job", "open", "succeeded"}]++
				}
			}
		}
		for _, o := range h.facts.ops {
			machine, from, to := triedEdge(o)
			switch {
			case o.kind == history.Fail:
				refused[at{machine, from, to}]++
			case o.kind == history.OK && o.op == history.OpEdge: // the harness made it itself
				seen[at{machine, from, to}]++
			}
		}
	}
	var table []Edge
	add := func(machine string, states []string, legal map[string][]string) {
		for _, from := range append([]string{""}, states...) {
			for _, to := range states {
				k := at{machine, from, to}
				table = append(table, Edge{machine, from, to, slices.Contains(legal[from], to), seen[k], refused[k]})
			}
		}
	}
	add("attempt", attemptStates, legal)
	add("job", jobStates, legalJob)
	return table
}

// triedEdge says which move a refused operation tried, as far as the refusal
// tells the state it met.
func triedEdge(o *operation) (machine, from, to string) {
	state := o.problem.State
	switch o.op {
	case history.OpEdge:
		return firstOf(o.request.Machine, "attempt"), o.request.From, o.request.To
	case history.OpRelease:
		return "attempt", state, "released"
	case history.OpCancelAttempt:
		return "attempt", state, "cancelled"
	case history.OpResolve:
		return "attempt", state, firstOf(o.request.Outcome, "succeeded")
	case history.OpCancel:
		return "job", state, "cancelled"
	}
	return "", "", ""
}

// Missing returns the edges of both machines that no history exercises: legal
// ones that were never made, and illegal ones that were never tried.
func Missing(table []Edge) []Edge {
	var missing []Edge
	for _, e := range table {
		if !e.Covered() {
			missing = append(missing, e)
		}
	}
	return missing
}
