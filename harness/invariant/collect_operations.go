package invariant

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/harness/history"
)

func (c *Collector) invoked(e history.Event) {
	o := &operation{
		op: c.name(e.Op), actor: c.name(e.Actor), owner: c.name(e.Owner), key: c.name(e.Key), on: c.name(e.Job), attempt: c.name(e.Attempt),
		kind: history.Info, from: e.N, at: never, submit: noSubmit, request: noRequest, problem: noProblem,
	}
	c.ops[e.Call] = o
	c.f.ops = append(c.f.ops, o)
	if o.owner != "" {
		c.f.owners[o.owner] = true
	}
	if o.op != history.OpSubmit {
		if len(e.Data) > 0 {
			o.request = &history.RequestFacts{}
			c.decode(e, o.request)
		}
		if o.on != "" {
			j := c.job(o.on)
			j.verbs = append(j.verbs, o)
		}
		return
	}
	var facts history.SubmitFacts
	c.decode(e, &facts)
	o.submit = c.submitted(facts.Intent)
	if k := c.key(o.owner, o.key); k != nil {
		k.submits = append(k.submits, o)
	}
}

// submitted decodes an intent; equal bytes are decoded once.
func (c *Collector) submitted(raw json.RawMessage) *submitted {
	if known, ok := c.intents[string(raw)]; ok {
		return known
	}
	s := &submitted{digest: digest(raw)}
	_ = json.Unmarshal(raw, &s.intent) // an intent that is no object names no provider
	c.intents[string(raw)] = s
	return s
}

func (c *Collector) ended(e history.Event) {
	o := c.ops[e.Call]
	if o == nil || o.at != never { // what was known first stands
		return
	}
	o.kind, o.at, o.status, o.told, o.toldAttempt = e.Kind, e.N, e.Status, c.name(e.Job), c.name(e.Attempt)
	switch e.Kind {
	case history.Fail:
		o.problem = &history.Problem{}
		c.decode(e, o.problem)
	case history.OK:
		c.answer(o, e)
	}
}

// answer decodes what the target said.
func (c *Collector) answer(o *operation, e history.Event) {
	switch o.op {
	case history.OpSubmit, history.OpGet, history.OpCancel:
		var body history.Job
		c.decode(e, &body)
		body.ID = firstOf(body.ID, e.Job)
		if o.told = c.name(body.ID); o.told == "" {
			return
		}
		j := c.job(o.told)
		if o.op != history.OpCancel && o.key != "" {
			c.belongs(j, o.owner, o.key)
		}
		if o.op == history.OpSubmit && j.provider == "" {
			j.provider, j.contract, j.race = o.submit.Provider, o.submit.Contract, o.submit.Race
		}
		o.view = c.sawJob(body, o.from, o.at, false)
	case history.OpList:
		var list struct {
			Jobs []history.Job `json:"jobs"`
		}
		c.decode(e, &list)
		for _, item := range list.Jobs {
			if item.ID == "" {
				continue
			}
			o.listed = append(o.listed, c.name(item.ID))
			if item.Key != "" {
				c.belongs(c.job(item.ID), o.owner, item.Key)
			}
			c.sawJob(item, o.from, o.at, false)
		}
	case history.OpStart, history.OpCancelAttempt, history.OpRelease, history.OpResolve:
		var body history.Attempt
		c.decode(e, &body)
		body.ID, body.JobID = firstOf(body.ID, e.Attempt), firstOf(body.JobID, e.Job)
		o.toldAttempt, o.told = c.name(body.ID), c.name(body.JobID)
		c.sawAttempt(body, o.from, o.at, false, e.Call)
	case history.OpAttempts, history.OpEvents, history.OpRaces:
		c.answerLists(o, e)
	}
}

func (c *Collector) answerLists(o *operation, e history.Event) {
	var lists struct {
		Attempts []history.Attempt `json:"attempts"`
		Events   []history.Move    `json:"events"`
		Races    []history.Race    `json:"races"`
	}
	c.decode(e, &lists)
	for _, item := range lists.Attempts {
		item.JobID = firstOf(item.JobID, e.Job)
		c.sawAttempt(item, o.from, o.at, false, e.Call)
	}
	for _, item := range lists.Events {
		item.JobID = firstOf(item.JobID, e.Job)
		c.sawMove(item, o.from, o.at)
	}
	for _, item := range lists.Races {
		item.JobID = firstOf(item.JobID, e.Job)
		c.sawRace(item, o.at)
	}
	if e.Job == "" {
		return
	}
	j := c.job(e.Job)
	switch o.op {
	case history.OpAttempts:
		j.attemptsRead = max(j.attemptsRead, o.from)
	case history.OpEvents:
		j.movesRead = max(j.movesRead, o.from)
	case history.OpRaces:
		j.racesRead = max(j.racesRead, o.from)
	}
}
