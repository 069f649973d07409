package console

import (
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

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
	l.makeRoom()
	return max(1, len(until))
}

// makeRoom leaves out, on a narrow screen, the words after a mark where the next
// mark of its row would stand on them.
func (l *lane) makeRoom() {
	for i := range l.Bars {
		b := &l.Bars[i]
		end := b.X + 4 + float64(utf8.RuneCountInString(b.Label))*perLetter*narrow
		b.Wide = b.Wide || b.mark && slices.ContainsFunc(l.Bars, func(o bar) bool { return o.Y == b.Y && o.X > b.X && o.X < end })
	}
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
