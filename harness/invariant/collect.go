package invariant

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/interlock-harness/interlock/harness/history"
)

// Collector takes the events of a history one by one, in order, and keeps what
// the invariants need of them.
type Collector struct {
	f       *facts
	ops     map[int64]*operation // by call
	calls   map[int64]*call
	faults  map[int64]*fault
	reads   map[int64]int64 // event that began a table read
	intents map[string]*submitted
	names   map[string]string // one copy of each
}

// NewCollector returns an empty collector.
func NewCollector() *Collector {
	return &Collector{
		f: &facts{
			jobs: map[string]*job{}, attempts: map[string]*attempt{}, keys: map[ownerKey]*key{},
			owners: map[string]bool{}, declared: map[string]int64{}, reached: map[string]bool{},
		},
		ops: map[int64]*operation{}, calls: map[int64]*call{}, faults: map[int64]*fault{}, reads: map[int64]int64{},
		intents: map[string]*submitted{}, names: map[string]string{},
	}
}

// Add takes the next event.
func (c *Collector) Add(e history.Event) {
	switch e.Kind {
	case history.Invoke:
		c.invoked(e)
	case history.OK, history.Fail, history.Info:
		c.ended(e)
	case history.Arrive:
		c.arrived(e)
	case history.Answer:
		c.answered(e)
	case history.Snapshot:
		c.snapshot(e)
	case history.Row:
		c.row(e)
	case history.Armed:
		var facts history.FaultFacts
		c.decode(e, &facts)
		c.faults[e.Call] = &fault{name: e.Op, armed: e.N, healed: never, mayStayQuiet: facts.MayStayQuiet, unproven: facts.Unproven}
		c.f.faults = append(c.f.faults, c.faults[e.Call])
	case history.Fired:
		if known := c.faults[e.Call]; known != nil {
			known.fired, c.f.fired = true, true
		}
	case history.Healed:
		if known := c.faults[e.Call]; known != nil {
			known.healed = e.N
		}
	case history.Declared:
		c.f.declared[e.Op] = e.N
	case history.Reached:
		c.f.reached[e.Op] = true
	case history.Phase:
		p := phase{Event: e}
		c.decode(e, &p.facts)
		c.f.phases = append(c.f.phases, p)
	case history.Note:
		c.note(e)
	}
	if e.Kind == history.OK || e.Kind == history.Row {
		c.shown(e)
	}
}

func (c *Collector) note(e history.Event) {
	switch e.Op {
	case history.NoteCertified:
		known := certified{Event: e}
		c.decode(e, &known.facts)
		c.f.certificates = append(c.f.certificates, known)
	case history.NoteResources:
		known := counted{Event: e}
		c.decode(e, &known.facts)
		c.f.resources = append(c.f.resources, known)
	case history.NoteTaken:
		c.f.taken = append(c.f.taken, taken{n: e.N, key: c.key(e.Owner, e.Key)})
	case history.NoteInfrastructure:
		c.f.notes = append(c.f.notes, e)
	}
}

func (c *Collector) decode(e history.Event, into any) {
	if err := e.Decode(into); err != nil {
		c.f.broken = append(c.f.broken, broken{n: e.N, ours: e.Kind != history.OK && e.Kind != history.Fail, why: err.Error()})
	}
}

// name returns the one copy of s.
func (c *Collector) name(s string) string {
	if s == "" {
		return ""
	}
	if known, ok := c.names[s]; ok {
		return known
	}
	c.names[s] = s
	return s
}

func (c *Collector) arrived(e history.Event) {
	known := &call{arrived: e.N, atUS: e.AtUS, job: e.Job, attempt: e.Attempt, provider: e.Actor}
	var facts history.ArriveFacts
	c.decode(e, &facts)
	known.provider = c.name(firstOf(facts.Provider, known.provider))
	c.calls[e.Call] = known
	c.f.calls = append(c.f.calls, known)
	var j *job
	if e.Job != "" {
		j = c.job(e.Job)
	}
	if e.Attempt != "" {
		a := c.attempt(e.Attempt, j)
		a.calls = append(a.calls, known)
	}
}

func (c *Collector) answered(e history.Event) {
	known := c.calls[e.Call]
	if known == nil || known.answered != 0 {
		return
	}
	var facts history.AnswerFacts
	c.decode(e, &facts)
	known.answered, known.verdict, known.marker = e.N, c.name(facts.Verdict), facts.Marker
	if facts.RetryAfterMS > 0 {
		known.notBeforeUS = e.AtUS + 1000*facts.RetryAfterMS
	}
	if !isNull(facts.Output) {
		known.output = digest(facts.Output)
	}
	if known.marker != "" && known.job != "" {
		j := c.job(known.job)
		j.markers = append(j.markers, known)
	}
}

// shown notes which answers' texts an event shows.
func (c *Collector) shown(e history.Event) {
	j := c.f.jobs[e.Job]
	if j == nil {
		return
	}
	for _, known := range j.markers {
		if known.shownAt == 0 && bytes.Contains(e.Data, []byte(known.marker)) {
			known.shownAt = e.N
		}
	}
}

func (c *Collector) key(owner, name string) *key {
	if name == "" {
		return nil
	}
	id := ownerKey{owner, name}
	k, ok := c.f.keys[id]
	if !ok {
		id = ownerKey{c.name(owner), c.name(name)}
		k = &key{ownerKey: id}
		c.f.keys[id] = k
		c.f.keyOrder = append(c.f.keyOrder, k)
	}
	return k
}

func (c *Collector) job(id string) *job {
	j, ok := c.f.jobs[id]
	if !ok {
		j = &job{id: c.name(id)}
		c.f.jobs[j.id] = j
		c.f.jobOrder = append(c.f.jobOrder, j)
	}
	return j
}

// belongs notes that j was seen under (owner, name).
func (c *Collector) belongs(j *job, owner, name string) {
	k := c.key(owner, name)
	if k == nil {
		return
	}
	if j.key == nil {
		j.key = k
	}
	if !slices.Contains(k.jobs, j) {
		k.jobs = append(k.jobs, j)
	}
}

func (c *Collector) attempt(id string, j *job) *attempt {
	a, ok := c.f.attempts[id]
	if !ok {
		a = &attempt{id: c.name(id)}
		c.f.attempts[a.id] = a
	}
	if a.job == nil && j != nil {
		a.job = j
		j.attempts = append(j.attempts, a)
	}
	return a
}

// History ends the collection: it brings lists into order and finds what
// follows from all of them. Add nothing afterwards.
func (c *Collector) History() History {
	f := c.f
	for _, o := range f.ops {
		c.nameAttempt(o)
	}
	if len(f.owners) > 0 { // a row of somebody who did nothing here belongs to another scenario
		f.jobOrder = slices.DeleteFunc(f.jobOrder, func(j *job) bool { return j.key != nil && !f.owners[j.key.owner] })
	}
	for _, r := range f.reads {
		c.covered(r)
	}
	for _, j := range f.jobOrder {
		sortBy(j.seen, func(s jobSeen) int64 { return s.at })
		sortBy(j.moves, func(m moved) int64 { return m.id })
		for _, m := range j.moves {
			if m.attempt != "" {
				a := c.attempt(m.attempt, j)
				a.moves = append(a.moves, m)
			}
		}
	}
	for _, a := range f.attempts {
		sortBy(a.seen, func(s attemptSeen) int64 { return s.at })
	}
	return History{f}
}

// nameAttempt gives the id to a verb that named its attempt by number.
func (c *Collector) nameAttempt(o *operation) {
	n := o.request.N
	if typed, err := strconv.Atoi(o.attempt); err == nil {
		n = typed
	}
	j := c.f.jobs[o.on]
	if n == 0 || j == nil {
		return
	}
	for _, a := range j.attempts {
		if a.n == n {
			o.attempt = a.id
		}
	}
}

// covered notes for each job that one of its tables was read as a whole.
func (c *Collector) covered(r tableRead) {
	for _, j := range c.f.jobOrder {
		if j.key != nil && !r.covers(j.key.owner) {
			continue
		}
		switch r.table {
		case history.TableAttempts:
			j.attemptsRead = max(j.attemptsRead, r.from)
		case history.TableEvents:
			j.movesRead = max(j.movesRead, r.from)
		case history.TableRaces:
			j.racesRead = max(j.racesRead, r.from)
		}
	}
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}
