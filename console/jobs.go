package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/target"
)

// jobsView is the list of jobs.
type jobsView struct {
	Filter  string
	Filters []filter
	Jobs    []jobRow
	All     int
}

// filter is one choice of what the list shows.
type filter struct {
	ID, Name string
	Here     bool
	Count    int
	holds    func(target.LiveJob) bool
}

type jobRow struct {
	target.LiveJob
	Text   string
	Last   *target.LiveAttempt
	Took   time.Duration // until its end; 0 while it is open
	Denied bool
}

func filters() []filter {
	return []filter{
		{ID: "", Name: "all", holds: func(target.LiveJob) bool { return true }},
		{ID: "unknown", Name: "has an unknown attempt", holds: func(j target.LiveJob) bool { return j.Status == "unknown" }},
		{ID: "retried", Name: "more than one attempt", holds: func(j target.LiveJob) bool { return len(j.Attempts) > 1 }},
		{ID: "raced", Name: "has a late result", holds: func(j target.LiveJob) bool { return len(j.Races) > 0 }},
		{ID: "open", Name: "not over", holds: func(j target.LiveJob) bool {
			return j.Status != "succeeded" && j.Status != "cancelled" && j.Status != "failed"
		}},
	}
}

func (c *Console) jobsPage(r *http.Request) page {
	v := jobsView{Filter: r.FormValue("show"), Filters: filters()}
	all := c.board.all()
	v.All = len(all)
	for i := range v.Filters {
		f := &v.Filters[i]
		f.Here = f.ID == v.Filter
		for _, j := range all {
			if f.holds(j) {
				f.Count++
				if f.Here && len(v.Jobs) < 200 {
					v.Jobs = append(v.Jobs, row(j))
				}
			}
		}
	}
	return page{Name: "jobs", Title: "Jobs", Topics: "job store", View: v}
}

func row(j target.LiveJob) jobRow {
	r := jobRow{LiveJob: j, Text: textOf(j)}
	if n := len(j.Attempts); n > 0 {
		r.Last = &j.Attempts[n-1]
		if j.Status == "failed" {
			r.Took = r.Last.Ended.Sub(j.Created)
		}
	}
	for _, m := range j.Moves {
		switch m.Type {
		case "job.succeeded", "job.cancelled":
			r.Took = m.When.Sub(j.Created)
		case "failover.denied":
			r.Denied = true
		}
	}
	return r
}

// textOf is the text of a job of ours, without the reference by which its calls
// are known.
func textOf(j target.LiveJob) string {
	var in struct {
		Input struct {
			Text string `json:"text"`
		} `json:"input"`
	}
	_ = json.Unmarshal(j.Intent, &in) // a purged job has none
	text, _, _ := strings.Cut(in.Input.Text, " (ref ")
	return text
}
