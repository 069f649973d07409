package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/interlock-harness/interlock/harness/target"
)

// raceRow is one late result with the job that it was too late for.
type raceRow struct {
	target.LiveRace
	Job           target.LiveJob
	Late, Winner  string // labels of the attempts
	LateAt, WonAt string // their providers
}

func (c *Console) racesPage(*http.Request) page {
	var list []raceRow
	for _, j := range c.board.all() {
		label, at := map[string]string{}, map[string]string{}
		for _, a := range j.Attempts {
			label[a.ID], at[a.ID] = fmt.Sprintf("a%d", a.N), a.Provider
		}
		for _, r := range j.Races {
			list = append(list, raceRow{LiveRace: r, Job: j, Late: label[r.AttemptID], Winner: label[r.WinnerID], LateAt: at[r.AttemptID], WonAt: at[r.WinnerID]})
		}
	}
	slices.SortFunc(list, func(a, b raceRow) int { return cmp.Compare(b.ID, a.ID) })
	return page{Name: "races", Title: "Races", Topics: "job store", View: list}
}
