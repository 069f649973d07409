package recount

import "encoding/json"

// edge is one cell of the tables of states.
type edge struct{ machine, from, to string }

// moves counts what the two state machines did in one play.
type moves struct {
	armed  map[int64]bool // faults that have not fired yet, by call
	owners map[string]bool
	asked  map[int64]line // invoked and not ended
	jobs   map[string]*jobMoves
	// seen and refused count the moves that no job's trail shows.
	seen, refused map[edge]int
}

type jobMoves struct {
	owner   string
	owned   bool
	sighted bool
	events  map[int64]move
}

type move struct {
	ID        int64  `json:"id"`
	JobID     string `json:"job_id"`
	AttemptID string `json:"attempt_id"`
	Type      string `json:"type"`
	From      string `json:"from"`
	To        string `json:"to"`
	FromState string `json:"from_state"`
	ToState   string `json:"to_state"`
}

func newMoves() moves {
	return moves{armed: map[int64]bool{}, owners: map[string]bool{}, asked: map[int64]line{}, jobs: map[string]*jobMoves{}, seen: map[edge]int{}, refused: map[edge]int{}}
}

func (m *moves) job(id string) *jobMoves {
	if m.jobs[id] == nil {
		m.jobs[id] = &jobMoves{events: map[int64]move{}}
	}
	return m.jobs[id]
}

func (m *moves) add(l line) {
	switch {
	case l.Kind == "invoke":
		m.asked[l.Call] = l
		if l.Owner != "" {
			m.owners[l.Owner] = true
		}
	case l.Kind == "ok" || l.Kind == "fail" || l.Kind == "info":
		asked, ok := m.asked[l.Call]
		if !ok {
			return
		}
		delete(m.asked, l.Call)
		m.tried(asked, l)
		if l.Kind == "ok" {
			m.answered(asked, l)
		}
	case l.Kind == "row" && l.Op == "jobs":
		m.sight(l.Data, l.Job, l.Owner, true)
	case l.Kind == "row" && l.Op == "attempt_events":
		var e move
		if json.Unmarshal(l.Data, &e) == nil {
			m.event(e, l)
		}
	}
}

// tried counts a move that was asked for and refused, or made by the harness.
func (m *moves) tried(asked, end line) {
	var request struct{ From, To, Machine, Outcome string }
	_ = json.Unmarshal(asked.Data, &request)
	var problem struct{ State string }
	_ = json.Unmarshal(end.Data, &problem)
	e := edge{"attempt", problem.State, ""}
	switch asked.Op {
	case "edge":
		e = edge{or(request.Machine, "attempt"), request.From, request.To}
		if end.Kind == "ok" {
			m.seen[e]++
		}
	case "release":
		e.to = "released"
	case "cancel-attempt":
		e.to = "cancelled"
	case "resolve":
		e.to = or(request.Outcome, "succeeded")
	case "cancel":
		e.machine, e.to = "job", "cancelled"
	default:
		return
	}
	if end.Kind == "fail" {
		m.refused[e]++
	}
}

func (m *moves) answered(asked, l line) {
	owner := or(l.Owner, asked.Owner)
	switch l.Op {
	case "submit", "get":
		m.sight(l.Data, l.Job, ownerOf(owner, l.Key), false)
	case "cancel":
		m.sight(l.Data, l.Job, "", false)
	case "list":
		var list struct{ Jobs []json.RawMessage }
		_ = json.Unmarshal(l.Data, &list)
		for _, item := range list.Jobs {
			var named struct{ Key string }
			_ = json.Unmarshal(item, &named)
			m.sight(item, "", ownerOf(owner, named.Key), false)
		}
	case "events":
		var list struct{ Events []move }
		_ = json.Unmarshal(l.Data, &list)
		for _, e := range list.Events {
			m.event(e, l)
		}
	}
}

func ownerOf(owner, key string) string {
	if key == "" {
		return ""
	}
	return owner
}

// sight notes that a job was shown, and whose it is.
func (m *moves) sight(raw json.RawMessage, id, owner string, row bool) {
	var job struct {
		ID          string `json:"id"`
		Owner       string `json:"owner"`
		Key         string `json:"key"`
		Status      string `json:"status"`
		Version     int64  `json:"version"`
		CompletedBy string `json:"completed_by"`
		CancelledAt string `json:"cancelled_at"`
		Absent      bool   `json:"absent"`
	}
	if json.Unmarshal(raw, &job) != nil {
		return
	}
	if id = or(job.ID, id); id == "" {
		return
	}
	if row {
		owner = ownerOf(or(job.Owner, owner), job.Key)
	}
	j := m.job(id)
	if owner != "" && !job.Absent && !j.owned {
		j.owner, j.owned = owner, true
	}
	if job.Absent || job.Status != "" || job.Version != 0 || job.CompletedBy != "" || job.CancelledAt != "" {
		j.sighted = true
	}
}

func (m *moves) event(e move, l line) {
	id := or(e.JobID, l.Job)
	if id == "" {
		return
	}
	j := m.job(id)
	if _, known := j.events[e.ID]; !known {
		e.AttemptID = or(e.AttemptID, l.Attempt)
		j.events[e.ID] = e
	}
}

// count adds what this play made and what was refused to it.
func (m *moves) count(seen, refused map[edge]int) {
	for _, j := range m.jobs {
		if len(m.owners) > 0 && j.owned && !m.owners[j.owner] {
			continue // somebody else's job, from another scenario
		}
		if j.sighted || len(j.events) > 0 {
			seen[edge{"job", "", "open"}]++
		}
		for _, e := range j.events {
			from, to := or(e.From, e.FromState), or(e.To, e.ToState)
			switch {
			case e.AttemptID != "" && to != "":
				seen[edge{"attempt", from, to}]++
			case e.Type == "job.cancelled":
				seen[edge{"job", "open", "cancelled"}]++
			}
			if e.Type == "job.succeeded" {
				seen[edge{"job", "open", "succeeded"}]++
			}
		}
	}
	for e, n := range m.seen {
		seen[e] += n
	}
	for e, n := range m.refused {
		refused[e] += n
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
