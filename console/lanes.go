package console

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
				l.add(m.When, m.When, bar{mark: true, Class: "end " + m.To, Sign: signs[m.To], Label: text, Title: label[a.ID] + " " + text})
				continue
			}
			until := time.Time{}
			if i+1 < len(mine) {
				until = mine[i+1].When
			}
			l.add(m.When, until, bar{Class: "state " + m.To, Pattern: patterns[m.To], Label: m.To, Title: strings.TrimSpace(label[a.ID] + " " + m.To + " " + m.Reason)})
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

// last is where the picture ends.
func (d *drawing) last(open bool) time.Time {
	if open {
		return d.now
	}
	last := d.begin.Add(time.Millisecond)
	for _, l := range d.rows {
		for _, b := range l.Bars {
			if b.from.After(last) {
				last = b.from
			}
			if b.until.After(last) {
				last = b.until
			}
		}
	}
	return last
}

// lanes places everything.
func (d *drawing) lanes(open bool, label string) lanes {
	s := d.scale()
	out := lanes{Label: label, Open: open}
	y := 4
	for _, l := range d.rows {
		if len(l.Bars) == 0 && l.Note == "" {
			continue
		}
		l.Y = y + nameHeight - 5
		l.Top = y + nameHeight
		used := d.place(&l, s)
		y = l.Top + used*(barHeight+3) + rowGap
		out.Rows = append(out.Rows, l)
	}
	out.Axis = y + 2
	out.Height = y + 24
	out.Ticks, out.Folds = s.ticks()
	return out
}

// Widths of text, in percent of a picture of 640 pixels.
const (
	perLetter = 6.4 / 640 * 100
	narrow    = 640.0 / 320
)

// place gives each bar its row, its place and, where there is room, its label.
func (d *drawing) place(l *lane, s *scale) (rows int) {
	var until []float64
	for i := range l.Bars {
		b := &l.Bars[i]
		if b.until.IsZero() {
			b.until = d.end
		}
		b.X = s.at(b.from)
		b.W = max(s.at(b.until)-b.X, 0.5)
		text := float64(utf8.RuneCountInString(b.Label)) * perLetter
		right := b.X + b.W
		b.Anchor = "start"
		switch {
		case b.mark:
			b.W, b.LabelX, b.Shift = 0, b.X, 13
			right = b.X + 2 + text
			b.Wide = b.X+4+text*narrow > 100
		case text+3 <= b.W:
			b.LabelX = b.X + 0.8
			b.Class += " in"
			b.Wide = text*narrow+4 > b.W
		case l.States:
			b.Label = "" // its colour, its title and the table say it
		default:
			b.LabelX, b.Wide = right+0.6, true
			if right = b.LabelX + text; right > 100 {
				b.LabelX, b.Anchor, right = b.X-0.6, "end", b.X+b.W
			}
		}
		left := b.X
		if b.Anchor == "end" {
			left = b.LabelX - text
		}
		k := 0
		if !l.States {
			if k = slices.IndexFunc(until, func(u float64) bool { return u <= left }); k < 0 {
				k = len(until)
			}
		}
		for len(until) <= k {
			until = append(until, -1)
		}
		until[k] = max(until[k], right+0.4)
		b.Y = l.Top + k*(barHeight+3)
	}
	return max(1, len(until))
}

// scale maps time to the width. What lies between two things that happened is
// drawn by the logarithm of its length, so that 5 ms can be seen beside 30 s; the
// times under the picture are the true ones, and very long stretches are marked.
type scale struct {
	begin  time.Time
	times  []time.Time
	places []float64
}

const (
	unit   = 20.0   // ms: what is shorter is drawn about as it is
	folded = 5000.0 // ms: what is longer is marked
	margin = 27.0   // percent on the right: the marks of an end have their words there
)

func (d *drawing) scale() *scale {
	s := &scale{begin: d.begin}
	s.times = append(s.times, d.begin, d.end)
	for _, l := range d.rows {
		for _, b := range l.Bars {
			s.times = append(s.times, b.from)
			if !b.until.IsZero() {
				s.times = append(s.times, b.until)
			}
		}
	}
	s.times = slices.DeleteFunc(s.times, func(t time.Time) bool { return t.Before(d.begin) || t.After(d.end) })
	slices.SortFunc(s.times, time.Time.Compare)
	at := 0.0
	for i, t := range s.times {
		if i > 0 {
			ms := float64(t.Sub(s.times[i-1]).Microseconds()) / 1000
			at += math.Log2(1 + ms/unit)
		}
		s.places = append(s.places, at)
	}
	width := 98.0
	if d.ended() {
		width -= margin
	}
	for i := range s.places {
		s.places[i] = 1 + s.places[i]/max(at, 0.001)*width
	}
	return s
}

// ended reports whether the mark of an end stands in the picture.
func (d *drawing) ended() bool {
	return slices.ContainsFunc(d.rows, func(l lane) bool { return slices.ContainsFunc(l.Bars, func(b bar) bool { return b.mark }) })
}

func (s *scale) at(t time.Time) float64 {
	i, found := slices.BinarySearchFunc(s.times, t, time.Time.Compare)
	switch {
	case found:
		return s.places[i]
	case i == 0:
		return s.places[0]
	case i == len(s.times):
		return s.places[i-1]
	}
	whole := s.times[i].Sub(s.times[i-1])
	return s.places[i-1] + (s.places[i]-s.places[i-1])*float64(t.Sub(s.times[i-1]))/float64(whole)
}

// ticks names the times at which something happens, as many as there is room
// for, and marks the stretches that are drawn shorter than they were.
func (s *scale) ticks() (ticks, folds []tick) {
	last := -100.0
	for i, t := range s.times {
		x := s.places[i]
		end := i == len(s.times)-1
		if x-last >= 13 && (end || s.places[len(s.places)-1]-x >= 13) || end && x-last >= 6 {
			anchor := "middle"
			if x < 6 {
				anchor = "start"
			} else if x > 92 {
				anchor = "end"
			}
			ticks = append(ticks, tick{X: x, Label: span(t.Sub(s.begin)), Anchor: anchor, Wide: !end && (x-last < 26 || s.places[len(s.places)-1]-x < 26)})
			last = x
		}
		if i > 0 && float64(t.Sub(s.times[i-1]).Milliseconds()) > folded {
			folds = append(folds, tick{X: (x + s.places[i-1]) / 2})
		}
	}
	return ticks, folds
}
