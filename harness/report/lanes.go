package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// Item is one thing that the lanes show: a bar, a tick or a band. Everything the
// picture says, the table beside it says too.
type Item struct {
	Lane    string
	Row     int   // within the lane, where items overlap
	From    int64 // microseconds since the play began
	To      int64 // equal to From for a tick
	Look    Look
	Label   string
	What    string
	Outcome string
	N       int64 // event
	Job     string
}

// Look is how an item is drawn. The script knows them by these numbers.
type Look uint8

// Drawing styles.
const (
	OpOK Look = iota
	OpFail
	OpUnknown
	Starting
	Running
	UnknownState
	Released
	Succeeded
	Lost
	Failed
	Cancelled
	Call
	CallHangs
	Write
	ReadTick
	FaultArmed
	FaultFired
	PhaseLine
	Probe
	Broken
)

// Picture is what the lanes of one play show.
type Picture struct {
	Lanes []string
	Items []Item
	Span  int64 // microseconds
}

// Draw makes the picture of one play.
func Draw(events []history.Event, labels *Labels, c clock) Picture {
	d := &drawing{events: events, labels: labels, clock: c, from: start(events)}
	if len(events) > 0 {
		d.span = events[len(events)-1].AtUS - d.from
	}
	d.lines = Lines(events, labels)
	d.operations()
	d.calls()
	d.moves()
	d.rows()
	d.faults()
	d.marks()
	return place(d.items, d.span, d.providers())
}

// drawing reads the items of a play from its events.
type drawing struct {
	events []history.Event
	labels *Labels
	clock  clock
	from   int64
	span   int64
	lines  []Line
	items  []Item
}

func (d *drawing) add(i Item) {
	i.From, i.To = max(0, i.From-d.from), max(0, i.To-d.from)
	i.To = max(i.From, i.To)
	d.span = max(d.span, i.To)
	d.items = append(d.items, i)
}

func (d *drawing) line(n int64) Line {
	i, ok := slices.BinarySearchFunc(d.lines, n, func(l Line, n int64) int { return cmp.Compare(l.N, n) })
	if !ok {
		return Line{}
	}
	return d.lines[i]
}

// operations draws what clients did, and in which replica it was answered.
func (d *drawing) operations() {
	ends := endings(d.events)
	last := d.from + d.span
	for _, e := range d.events {
		if e.Kind != history.Invoke {
			continue
		}
		l := d.line(e.N)
		item := Item{Lane: l.Lane, From: e.AtUS, To: last, Look: OpUnknown, What: l.What, Outcome: l.Outcome, N: e.N, Job: l.job, Label: e.Op}
		end, ended := ends[e.Call]
		if ended {
			item.To = end.AtUS
			switch end.Kind {
			case history.OK:
				item.Look = OpOK
			case history.Fail:
				item.Look = OpFail
			}
			if end.Status != 0 {
				item.Label = fmt.Sprintf("%s %d", e.Op, end.Status)
			}
		}
		d.add(item)
		var answered struct {
			Replica string `json:"replica"`
		}
		if ended && end.Kind == history.OK && len(end.Data) > 0 && end.Decode(&answered) == nil && answered.Replica != "" {
			item.Lane, item.Label = answered.Replica, e.Op
			d.add(item)
		}
	}
}

// calls draws what the providers saw.
func (d *drawing) calls() {
	last := d.from + d.span
	for _, c := range history.ProviderCalls(d.events) {
		item := Item{
			Lane: c.Arrive.Actor, From: c.Arrive.AtUS, To: last, Look: CallHangs, Label: d.labels.Of(c.Arrive.Attempt),
			What: "call of " + d.labels.Of(c.Arrive.Attempt), Outcome: "never answered", N: c.Arrive.N, Job: c.Arrive.Job,
		}
		if c.Answered() {
			item.To, item.Look, item.Outcome = c.Answer.AtUS, Call, answerText(c.Answer)
			item.Label += " " + item.Outcome
		}
		d.add(item)
	}
}

// providers are the lanes at which calls arrived.
func (d *drawing) providers() map[string]bool {
	named := map[string]bool{}
	for _, e := range d.events {
		if e.Kind == history.Arrive {
			named[e.Actor] = true
		}
	}
	return named
}

// moves draws each attempt as a row of states, where the trail is dated.
func (d *drawing) moves() {
	trail := map[string][]history.Move{}
	event := map[int64]int64{}
	for _, m := range d.trail() {
		at, dated := d.when(m.At)
		if !dated {
			return
		}
		event[m.ID] = m.event
		if m.AttemptID == "" || firstOf(m.To, m.ToState) == "" {
			if m.Type != "job.submitted" {
				d.add(Item{Lane: "postgres", From: at, To: at, Look: Write, Label: m.Type, What: m.Type + " " + d.labels.Of(m.JobID), Outcome: m.Actor + " " + m.Reason, N: m.event, Job: m.JobID})
			}
			continue
		}
		trail[m.AttemptID] = append(trail[m.AttemptID], m.Move)
	}
	races := d.races()
	for attempt, moves := range trail {
		slices.SortFunc(moves, func(a, b history.Move) int { return cmp.Compare(a.ID, b.ID) })
		for i, m := range moves {
			at, _ := d.when(m.At)
			until := d.from + d.span
			if i+1 < len(moves) {
				until, _ = d.when(moves[i+1].At)
			}
			state := firstOf(m.To, m.ToState)
			style := styleOf(state)
			item := Item{
				Lane: "worker", From: at, To: until, Look: style, Label: d.labels.Of(attempt) + " " + state,
				What: d.labels.Of(attempt) + " " + strings.TrimSpace(firstOf(m.From, m.FromState)+" -> "+state), Outcome: strings.TrimSpace(m.Actor + " " + m.Reason), N: event[m.ID], Job: m.JobID,
			}
			if style >= Succeeded {
				item.To = at // terminal: a mark, not a bar
			}
			if r, ok := races[attempt]; ok && style == Lost {
				item.Outcome = fmt.Sprintf("discarded, %d bytes, sha %s", r.PayloadBytes, head(r.PayloadSHA256))
				item.Label += ", " + item.Outcome
			}
			d.add(item)
		}
	}
}

// when is a time of the database on the clock of the history. A clock that was made
// to jump dates nothing beyond the end of the play.
func (d *drawing) when(stamp string) (int64, bool) {
	at, dated := d.clock.at(stamp)
	return min(at, d.from+d.span), dated
}

type placed struct {
	history.Move
	event int64
}

// trail lists every move that the play shows, once.
func (d *drawing) trail() []placed {
	var list []placed
	seen := map[int64]bool{}
	add := func(m history.Move, e history.Event) {
		if !seen[m.ID] {
			seen[m.ID] = true
			m.JobID = firstOf(m.JobID, e.Job)
			list = append(list, placed{m, e.N})
		}
	}
	for _, e := range d.events {
		switch {
		case e.Kind == history.Row && e.Op == history.TableEvents:
			var m history.Move
			if e.Decode(&m) == nil {
				m.AttemptID = firstOf(m.AttemptID, e.Attempt)
				add(m, e)
			}
		case e.Kind == history.OK && e.Op == history.OpEvents:
			var answer struct {
				Events []history.Move `json:"events"`
			}
			if e.Decode(&answer) == nil {
				for _, m := range answer.Events {
					add(m, e)
				}
			}
		}
	}
	return list
}

func (d *drawing) races() map[string]history.Race {
	races := map[string]history.Race{}
	for _, e := range d.events {
		if e.Kind == history.Row && e.Op == history.TableRaces {
			var r history.Race
			if e.Decode(&r) == nil {
				races[firstOf(r.AttemptID, e.Attempt)] = r
			}
		}
	}
	return races
}

func styleOf(state string) Look {
	switch state {
	case "starting":
		return Starting
	case "running":
		return Running
	case "unknown":
		return UnknownState
	case "released":
		return Released
	case "succeeded":
		return Succeeded
	case "lost":
		return Lost
	case "failed":
		return Failed
	}
	return Cancelled
}

// rows draws what reads of the database showed, where it had changed.
func (d *drawing) rows() {
	known := map[string]string{}
	for _, e := range d.events {
		if e.Kind != history.Row || e.Op != history.TableJobs && e.Op != history.TableAttempts && e.Op != history.TableRaces {
			continue
		}
		l := d.line(e.N)
		if known[l.What] == l.Outcome {
			continue
		}
		known[l.What] = l.Outcome
		d.add(Item{Lane: "postgres", From: e.AtUS, To: e.AtUS, Look: ReadTick, What: l.What, Outcome: l.Outcome, N: e.N, Job: e.Job})
	}
}

// faults draws a band from arming to healing, filled from where it fired.
func (d *drawing) faults() {
	last := d.from + d.span
	for _, f := range history.Faults(d.events) {
		until := last
		if f.Healed.N != 0 {
			until = f.Healed.AtUS
		}
		d.add(Item{Lane: "fault", From: f.Armed.AtUS, To: until, Look: FaultArmed, Label: f.Armed.Op, What: f.Armed.Op + " armed", Outcome: faultText(f.Armed), N: f.Armed.N})
		for i, fired := range f.Fired {
			to := fired.AtUS
			if i == 0 {
				to = until
			}
			d.add(Item{Lane: "fault", From: fired.AtUS, To: to, Look: FaultFired, Label: f.Armed.Op + " fired", What: f.Armed.Op + " fired", Outcome: faultText(fired), N: fired.N, Job: fired.Job})
		}
	}
}

// marks draws phases and probes.
func (d *drawing) marks() {
	for _, e := range d.events {
		l := Item{Lane: "harness", From: e.AtUS, To: e.AtUS, Label: e.Op, N: e.N, Job: e.Job}
		switch e.Kind {
		case history.Phase:
			l.Look, l.What = PhaseLine, "phase "+e.Op
		case history.Reached:
			l.Look, l.What = Probe, "reached "+e.Op
		case history.Note:
			l.Look, l.What = Probe, strings.TrimSpace(e.Op+" "+e.Actor)
		default:
			continue
		}
		d.add(l)
	}
}
