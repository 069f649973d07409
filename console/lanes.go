package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// lanes is the picture of one job: who did what when. All it says, the tables
// beside it say too.
type lanes struct {
	Label  string // for who cannot see it
	Height int
	Axis   int // y of the axis
	Rows   []lane
	Ticks  []tick
	Folds  []tick
	Open   bool // it still grows
}

// lane is one row: its name above its bars.
type lane struct {
	Name, Note string
	States     bool // one thing after another: no two bars need a row of their own
	Y          int  // of the name
	Top        int  // of the bars
	Bars       []bar
}

// bar is an interval or, without a width, a mark. Places are percentages of the
// width, so that one drawing fits every screen.
type bar struct {
	X, W        float64
	Y           int
	Class       string
	Pattern     string // of its fill, where the state needs one
	Label       string
	LabelX      float64
	Shift       int    // of the label, in pixels
	Anchor      string // start, end
	Wide        bool   // the label is left out on a narrow screen
	Title       string
	Sign        string
	from, until time.Time
	mark        bool
}

type tick struct {
	X      float64
	Label  string
	Anchor string
	Wide   bool // left out on a narrow screen
}

// Sizes in pixels.
const (
	nameHeight = 18
	barHeight  = 20
	rowGap     = 8
)

// drawing collects the bars of a job before anybody knows how wide they are.
type drawing struct {
	rows  []lane
	begin time.Time
	now   time.Time
	end   time.Time
}

func (d *drawing) row(name, note string) *lane {
	d.rows = append(d.rows, lane{Name: name, Note: note})
	return &d.rows[len(d.rows)-1]
}

func (l *lane) add(from, until time.Time, b bar) {
	b.from, b.until = from, until
	l.Bars = append(l.Bars, b)
}

// lanesOf draws a job as it stands now.
func (c *Console) lanesOf(j target.LiveJob, now time.Time) lanes {
	d := &drawing{begin: j.Created, now: now}
	open := slices.ContainsFunc(j.Attempts, func(a target.LiveAttempt) bool { return a.Open() || a.State == "released" })
	label := map[string]string{}
	for _, a := range j.Attempts {
		label[a.ID] = fmt.Sprintf("a%d", a.N)
	}
	c.drawActs(d, j)
	drawAttempts(d, j, label)
	calling := c.drawCalls(d, j, label)
	drawResult(d, j, label)
	open = open || calling
	d.end = d.last(open)
	c.drawFaults(d)
	return d.lanes(open, describe(j))
}

func describe(j target.LiveJob) string {
	text := fmt.Sprintf("Lanes of the job: %s, %s", j.Status, count(len(j.Attempts), "attempt"))
	if len(j.Races) > 0 {
		text += ", " + count(len(j.Races), "late result") + " discarded"
	}
	return text + ". The events table says the same."
}

// drawActs draws what you and the operator did.
func (c *Console) drawActs(d *drawing, j target.LiveJob) {
	acts := c.hands.actsOn(j.ID)
	if len(acts) == 0 {
		return
	}
	if first := acts[0].From; first.Before(d.begin) {
		d.begin = first
	}
	l := d.row("you and the operator", "")
	if len(acts) > 12 { // a hundred clicks are one fact
		from, until := acts[0].From, acts[0].To
		for _, a := range acts {
			if a.To.After(until) {
				until = a.To
			}
		}
		l.add(from, until, bar{Class: "act", Label: fmt.Sprintf("%d calls", len(acts)), Title: fmt.Sprintf("%d calls about this job", len(acts))})
		return
	}
	for _, a := range acts {
		class := "act"
		switch {
		case a.Lost:
			class = "act lost"
		case a.Refused:
			class = "act refused"
		}
		l.add(a.From, a.To, bar{Class: class, Label: a.What + " → " + a.Outcome, Title: a.Actor + ": " + a.What + ", " + a.Outcome})
	}
}

// patterns are the fills of states that must not look like work.
var patterns = map[string]string{"unknown": "hatch-unknown", "released": "hatch-released", "held": "hatch-held"}

// drawAttempts draws each attempt as a row of states with a mark at its end.
func drawAttempts(d *drawing, j target.LiveJob, label map[string]string) {
	for _, a := range j.Attempts {
		l := d.row("attempt "+label[a.ID], a.Provider)
		l.States = true
		var mine []target.LiveMove
		for _, m := range j.Moves {
			if m.AttemptID == a.ID && m.To != "" {
				mine = append(mine, m)
			}
		}
		for i, m := range mine {
			if terminal(m.To) {
				text := m.To
				for _, r := range j.Races {
					if r.AttemptID == a.ID && m.To != "succeeded" {
						text = fmt.Sprintf("%s, %d bytes discarded", m.To, r.PayloadBytes)
					}
				}
				if m.To == "failed" && m.Reason != "" {
					text += " " + report.Untrusted(m.Reason).Terminal()
				}
				l.add(m.When, m.When, bar{mark: true, Class: "end " + known(m.To), Sign: signs[m.To], Label: text, Title: label[a.ID] + " " + text})
				continue
			}
			until := time.Time{}
			if i+1 < len(mine) {
				until = mine[i+1].When
			}
			l.add(m.When, until, bar{Class: "state " + known(m.To), Pattern: patterns[m.To], Label: m.To, Title: strings.TrimSpace(label[a.ID] + " " + m.To + " " + m.Reason)})
		}
	}
}

func terminal(state string) bool {
	return state == "succeeded" || state == "lost" || state == "failed" || state == "cancelled"
}

// drawCalls draws what the providers saw. It reports whether one is at it.
func (c *Console) drawCalls(d *drawing, j target.LiveJob, label map[string]string) (open bool) {
	for _, p := range doubles() {
		calls := c.dolls[p.Name].Calls(stage.Match{Job: j.ID})
		if len(calls) == 0 {
			continue
		}
		_, _, waiting := c.dolls[p.Name].holding()
		l := d.row("provider "+p.Name, "")
		for _, call := range calls {
			b := bar{Class: "call", Label: label[call.Ask.Attempt] + " call"}
			held := slices.ContainsFunc(waiting, func(h held) bool { return h.Call == call.N })
			switch {
			case held:
				b.Class, b.Pattern, b.Label = "call held", patterns["held"], b.Label+" held"
			case call.Ended.IsZero():
				b.Label += " at work"
			case call.Status == 0 || !call.Answered:
				b.Class, b.Label = "call gone", b.Label+", cut"
			default:
				b.Label += fmt.Sprintf(" → %d", call.Status)
			}
			open = open || call.Ended.IsZero()
			b.Title = fmt.Sprintf("call %d of %s", call.N, b.Label)
			l.add(call.At, call.Ended, b)
		}
	}
	return open
}

// drawResult draws what was written, and what was not.
func drawResult(d *drawing, j target.LiveJob, label map[string]string) {
	l := d.row("the result", "")
	for _, m := range j.Moves {
		switch m.Type {
		case "job.succeeded":
			l.add(m.When, m.When, bar{mark: true, Class: "end succeeded", Sign: "✓", Label: fmt.Sprintf("%s: 1 row, version %d", label[j.CompletedBy], j.Version), Title: "the one result"})
		case "job.cancelled":
			l.add(m.When, m.When, bar{mark: true, Class: "end cancelled", Sign: "⊘", Label: "job cancelled", Title: "job cancelled"})
		case "failover.denied":
			l.add(m.When, m.When, bar{mark: true, Class: "end failed", Sign: "✗", Label: "gate shut, " + report.Untrusted(m.Reason).Terminal(), Title: "failover denied"})
		case "provider.suspected":
			l.add(m.When, m.When, bar{mark: true, Class: "end failed", Sign: "✗", Label: report.Untrusted(m.Reason).Terminal() + " suspected", Title: "the provider changed since it was certified"})
		}
	}
	for _, r := range j.Races {
		l.add(r.When, r.When, bar{mark: true, Class: "end lost", Sign: "↯", Label: label[r.AttemptID] + ": 0 rows, too late", Title: "a late result, discarded"})
	}
	if len(l.Bars) == 0 {
		l.Note = "nothing is written yet"
	}
}

// drawFaults draws the faults that were in place meanwhile.
func (c *Console) drawFaults(d *drawing) {
	var l *lane
	for _, s := range c.faults.all() {
		if s.Since.After(d.end) || !s.Ended.IsZero() && s.Ended.Before(d.begin) {
			continue
		}
		if l == nil {
			l = d.row("faults", "")
		}
		from := s.Since
		if from.Before(d.begin) {
			from = d.begin
		}
		until := s.Ended
		if until.After(d.end) {
			until = d.end
		}
		b := bar{Class: "fault", Label: s.Name, Title: s.Name + ", not fired"}
		if s.Fired() {
			b.Class, b.Title = "fault fired", s.Name+", fired: "+report.Untrusted(s.Evidence()).Terminal()
		}
		l.add(from, until, b)
	}
}
