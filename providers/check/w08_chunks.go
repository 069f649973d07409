package check

import (
	"bytes"
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/sse"
)

// w08 demands that the pieces in which a stream arrives change nothing: every
// split of the recorded bytes in two, and every byte by itself, give the same
// events; and no character was lost where the provider cut its own pieces.
var w08 = Check{
	ID: "W08", Title: "the pieces in which a stream arrives change nothing",
	Kind: Relational, Severity: Must, Probes: []Probe{Base, Other},
	judge: func(r *Run, t *tally) {
		left := streamsToSplit
		for _, o := range r.of(Base, Other) {
			switch {
			case !o.Stream():
			case o.owner == t.check.ID:
				t.fail(o, "stream.characters", o.Judgement.Place, "characters were lost where the stream was cut into pieces")
			case o.lost:
				t.skip(o, "no stream came")
			case left > 0 && !lines(o) && len(o.Transcript.Body) <= longestToSplit:
				left--
				if at := firstSplit(o.Transcript.Body); at >= 0 {
					t.fail(o, "stream.split", "byte "+strconv.Itoa(at), "cut there, the stream reads differently")
					continue
				}
				t.pass(o)
			default:
				t.pass(o)
			}
		}
	},
}

// Splitting is quadratic: the longest streams are left to the first splits of
// others, and a few stand for all.
const (
	streamsToSplit = 3
	longestToSplit = 4 << 10
)

// lines tells streams that are JSON lines, where a line is the event.
func lines(o *Observation) bool { return o.Transcript.Protocol == providers.OllamaChat }

// firstSplit is the first place at which a cut changes the events, or -1.
func firstSplit(body []byte) int {
	whole := events(body)
	for at := range body {
		if !gives(whole, body[:at], body[at:]) {
			return at
		}
	}
	var single [][]byte
	for i := range body {
		single = append(single, body[i:i+1])
	}
	if !gives(whole, single...) {
		return 0
	}
	return -1
}

// events are the events of a stream, one after another.
func events(body []byte) []sse.Event {
	var p sse.Parser
	var all []sse.Event
	_ = p.Feed(body, func(e sse.Event) { all = append(all, e) })
	return all
}

// gives reports whether a stream that comes in pieces has these events.
func gives(want []sse.Event, pieces ...[]byte) bool {
	p := sse.Parser{Lend: true}
	next, same := 0, true
	for _, piece := range pieces {
		_ = p.Feed(piece, func(e sse.Event) {
			same = same && next < len(want) && e.Type == want[next].Type && bytes.Equal(e.Data, want[next].Data)
			next++
		})
	}
	return same && next == len(want)
}
