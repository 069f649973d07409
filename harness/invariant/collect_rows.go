package invariant

import "github.com/interlock-harness/interlock/harness/history"

func (c *Collector) snapshot(e history.Event) {
	var s history.SnapshotFacts
	c.decode(e, &s)
	if !s.Complete {
		c.reads[e.Call] = e.N
		return
	}
	if from, ok := c.reads[e.Call]; ok {
		c.f.reads = append(c.f.reads, tableRead{table: e.Op, from: from, at: e.N, owners: s.Owners})
	}
}

func (c *Collector) row(e history.Event) {
	from, ok := c.reads[e.Call]
	if !ok {
		from = e.N
	}
	switch e.Op {
	case history.TableJobs:
		var row history.Job
		c.decode(e, &row)
		row.ID, row.Owner, row.Key = firstOf(row.ID, e.Job), firstOf(row.Owner, e.Owner), firstOf(row.Key, e.Key)
		if row.ID == "" {
			return
		}
		j := c.job(row.ID)
		if !row.Absent {
			c.belongs(j, row.Owner, row.Key)
		}
		if j.provider == "" {
			j.provider, j.contract, j.race = c.name(row.Provider), c.name(row.Contract), j.race || row.Race
		}
		c.sawJob(row, from, e.N, true)
	case history.TableAttempts:
		var row history.Attempt
		c.decode(e, &row)
		row.ID, row.JobID = firstOf(row.ID, e.Attempt), firstOf(row.JobID, e.Job)
		c.sawAttempt(row, from, e.N, true, e.Call)
	case history.TableEvents:
		var row history.Move
		c.decode(e, &row)
		row.JobID, row.AttemptID = firstOf(row.JobID, e.Job), firstOf(row.AttemptID, e.Attempt)
		c.sawMove(row, from, e.N)
	case history.TableRaces:
		var row history.Race
		c.decode(e, &row)
		row.JobID, row.AttemptID = firstOf(row.JobID, e.Job), firstOf(row.AttemptID, e.Attempt)
		c.sawRace(row, e.N)
	}
}

// sawJob keeps one sight of a job and returns it; its at is 0 where the answer
// names the job and says nothing of its state.
func (c *Collector) sawJob(v history.Job, from, at int64, row bool) jobSeen {
	j := c.job(v.ID)
	silent := v.Status == "" && v.Version == 0 && v.CompletedBy == "" && v.CancelledAt == ""
	if silent && !v.Absent {
		return jobSeen{}
	}
	s := jobSeen{
		from: from, at: at, row: row, absent: v.Absent, wasCancelled: v.CancelledAt != "", version: v.Version,
		status: c.name(v.Status), completedBy: c.name(v.CompletedBy), xmin: c.name(v.Xmin), fingerprint: c.name(v.Fingerprint),
		contract: c.name(v.Contract), provider: c.name(v.Provider),
	}
	if !isNull(v.Result) {
		s.digest, s.result = c.name(digest(v.Result)), c.name(short(v.Result))
	}
	j.seen = append(j.seen, s)
	if j.contract == "" {
		j.contract = s.contract
	}
	return s
}

// short shows how a result begins.
func short(raw []byte) string {
	const limit = 60
	if len(raw) > limit {
		return string(raw[:limit]) + "..."
	}
	return string(raw)
}

func (c *Collector) sawAttempt(v history.Attempt, from, at int64, row bool, read int64) {
	if v.ID == "" {
		return
	}
	var j *job
	if v.JobID != "" {
		j = c.job(v.JobID)
	}
	a := c.attempt(v.ID, j)
	if v.N > 0 {
		a.n = v.N
	}
	if a.provider == "" {
		a.provider = c.name(v.Provider)
	}
	a.seen = append(a.seen, attemptSeen{
		from: from, at: at, row: row, absent: v.Absent, read: read, id: a.id, state: c.name(v.State), reason: c.name(v.Reason),
	})
}

// sawMove keeps each move once, at the first sight of it.
func (c *Collector) sawMove(v history.Move, from, at int64) {
	if v.JobID == "" {
		return
	}
	j := c.job(v.JobID)
	for _, known := range j.moves {
		if known.id == v.ID {
			return
		}
	}
	j.moves = append(j.moves, moved{
		from: from, at: at, id: v.ID, attempt: c.name(v.AttemptID), event: c.name(v.Type),
		source: c.name(firstOf(v.From, v.FromState)), target: c.name(firstOf(v.To, v.ToState)), actor: c.name(v.Actor), reason: c.name(v.Reason),
	})
}

// sawRace keeps each record once.
func (c *Collector) sawRace(v history.Race, at int64) {
	if v.JobID == "" {
		return
	}
	j := c.job(v.JobID)
	for _, known := range j.races {
		if known.id == v.ID && known.attempt == v.AttemptID {
			return
		}
	}
	j.races = append(j.races, raced{at: at, id: v.ID, attempt: c.name(v.AttemptID), winner: c.name(v.WinnerID)})
}
