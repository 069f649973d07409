package report

import (
	"fmt"
	"math"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// stripWidth is how many columns show a whole run, however many plays it has.
const stripWidth = 600

// stripView is the whole run from left to right: in each column the worst verdict
// of the plays that were under way.
type stripView struct {
	Width   int
	Columns []stripColumn
	Note    string
}

// stripColumn is one or more columns of the same play.
type stripColumn struct {
	X, Width int
	Verdict  invariant.Verdict // empty: nothing was played, the play before it stands for it
	Play     string
	Low      bool // it came out as it must: half as high, for the colour alone says nothing
}

// strip is nil for a run of which nothing is recorded.
func (r *Run) strip(events map[string][]history.Event) *stripView {
	from, to := int64(math.MaxInt64), int64(0)
	for _, p := range r.Plays {
		if list := events[p.History]; len(list) > 0 {
			from, to = min(from, list[0].AtUS), max(to, list[len(list)-1].AtUS)
		}
	}
	if from > to {
		return nil
	}
	column := func(us int64) int { return int((us - from) * (stripWidth - 1) / max(to-from, 1)) }
	var worst [stripWidth]*Play
	for i := range r.Plays {
		p := &r.Plays[i]
		list := events[p.History]
		if len(list) == 0 {
			continue
		}
		for x := column(list[0].AtUS); x <= column(list[len(list)-1].AtUS); x++ {
			if worst[x] == nil || invariant.Worse(worst[x].reported(), p.reported()) != worst[x].reported() {
				worst[x] = p
			}
		}
	}
	v := &stripView{Width: stripWidth, Note: fmt.Sprintf("The whole run, %s: full columns did not come out as they must.", lasted(to-from))}
	for x, p := range worst {
		column := stripColumn{X: x, Width: 1}
		if n := len(v.Columns); p != nil {
			column.Verdict, column.Play, column.Low = p.reported(), p.History, p.reported() == invariant.Pass
		} else if n > 0 {
			column.Play = v.Columns[n-1].Play
		}
		if n := len(v.Columns); n > 0 && v.Columns[n-1].Play == column.Play && v.Columns[n-1].Verdict == column.Verdict {
			v.Columns[n-1].Width++
			continue
		}
		v.Columns = append(v.Columns, column)
	}
	return v
}

// lasted is a time in microseconds as seconds, with a digit behind the point below 10.
func lasted(us int64) string {
	if s := float64(us) / 1e6; s < 10 {
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f s", float64(us)/1e6)
}
