package report

import (
	"cmp"
	"slices"
	"strings"
)

// laneRank is the order of the lanes from top to bottom; clients come first,
// providers last.
func laneRank(lane string, providers map[string]bool) int {
	switch {
	case lane == "fault":
		return 0
	case strings.HasPrefix(lane, "client"):
		return 1
	case strings.HasPrefix(lane, "operator"):
		return 2
	case lane == "postgres":
		return 5
	case lane == "worker":
		return 6
	case lane == "harness":
		return 9
	case providers[lane]:
		return 8
	case strings.Contains(lane, "api") || strings.Contains(lane, "replica"):
		return 4
	}
	return 3
}

// maxRows is how many items a lane shows above each other.
const maxRows = 6

// place orders the lanes, and packs items that overlap into rows of their lane.
// span is how long the play took, in microseconds; providers names the lanes that
// come last.
func place(items []Item, span int64, providers map[string]bool) Picture {
	p := Picture{Span: max(span, 1), Items: items}
	for _, i := range items {
		if !slices.Contains(p.Lanes, i.Lane) {
			p.Lanes = append(p.Lanes, i.Lane)
		}
	}
	slices.SortStableFunc(p.Lanes, func(a, b string) int {
		return cmp.Or(cmp.Compare(laneRank(a, providers), laneRank(b, providers)), cmp.Compare(a, b))
	})
	slices.SortStableFunc(p.Items, func(a, b Item) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.N, b.N)) })
	free := map[string][]int64{}
	attemptRow := map[string]int{}
	for i := range p.Items {
		item := &p.Items[i]
		rows := free[item.Lane]
		row := slices.IndexFunc(rows, func(until int64) bool { return until <= item.From })
		if item.Lane == "worker" { // the states of one attempt stay in one row
			name, _, _ := strings.Cut(item.Label, " ")
			if known, ok := attemptRow[name]; ok {
				row = known
			} else {
				row = len(attemptRow) % maxRows
				attemptRow[name] = row
			}
		}
		if row < 0 {
			row = len(rows)
		}
		row = min(row, maxRows-1)
		for len(rows) <= row {
			rows = append(rows, 0)
		}
		gap := p.Span / 2000
		if item.From == item.To {
			gap = p.Span / 200 // a tick is wider than its time
		}
		rows[row] = max(rows[row], item.To+gap)
		free[item.Lane] = rows
		item.Row = row
	}
	return p
}
