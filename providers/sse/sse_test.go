package sse_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/sse"
)

type seen struct{ Type, ID, Data string }

func parse(t testing.TB, pieces ...[]byte) []seen {
	t.Helper()
	var p sse.Parser
	out := []seen{}
	for _, piece := range pieces {
		if err := p.Feed(piece, func(e sse.Event) { out = append(out, seen{e.Type, e.ID, string(e.Data)}) }); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestParserFollowsTheStandard(t *testing.T) {
	tests := []struct {
		name, in string
		want     []seen
	}{
		{"one event", "data: a\n\n", []seen{{"", "", "a"}}},
		{"no blank after the colon", "data:a\n\n", []seen{{"", "", "a"}}},
		{"only one blank is removed", "data:  a \n\n", []seen{{"", "", " a "}}},
		{"CRLF", "data: a\r\ndata: b\r\n\r\n", []seen{{"", "", "a\nb"}}},
		{"CR", "data: a\rdata: b\r\rdata: c\r\r", []seen{{"", "", "a\nb"}, {"", "", "c"}}},
		{"mixed line ends", "data: a\rdata: b\n\r\ndata: c\n\n", []seen{{"", "", "a\nb"}, {"", "", "c"}}},
		{"comments", ": ping\n\n:\n\ndata: a\n: inside\n\n", []seen{{"", "", "a"}}},
		{"type", "event: error\ndata: a\n\ndata: b\n\n", []seen{{"error", "", "a"}, {"", "", "b"}}},
		{"event without data", "event: ping\n\nid: 4\n\ndata: a\n\n", []seen{{"", "4", "a"}}},
		{"id stays", "id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []seen{{"", "7", "a"}, {"", "7", "b"}, {"", "", "c"}}},
		{"id with NUL is ignored", "id: 7\ndata: a\n\nid: 8\x00\ndata: b\n\n", []seen{{"", "7", "a"}, {"", "7", "b"}}},
		{"unknown fields", "retry: 10\nfoo: bar\nDATA: x\n data: y\ndata: a\n\n", []seen{{"", "", "a"}}},
		{"field without colon", "data\n\ndata\ndata\n\ndata:", []seen{{"", "", ""}, {"", "", "\n"}}},
		{"colons in the data", "data: a:b: c\n\n", []seen{{"", "", "a:b: c"}}},
		{"comment as data", "data: : ping\n\n", []seen{{"", "", ": ping"}}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []seen{{"", "", "a"}}},
		{"byte order mark later", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []seen{{"", "", "a"}}},
		{"not closed by a blank line", "data: a\n\ndata: b\n", []seen{{"", "", "a"}}},
		{"not closed at all", "data: a", []seen{}},
		{"many blank lines", "\n\n\ndata: a\n\n\n\n", []seen{{"", "", "a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			if got := parse(t, in); !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
			for i := range in { // every split in two, and byte by byte
				if got := parse(t, in[:i], in[i:]); !reflect.DeepEqual(got, tt.want) {
					t.Errorf("split at %d: %q", i, got)
				}
			}
			if got := parse(t, bytes.SplitAfter(in, nil)...); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("byte by byte: %q", got)
			}
		})
	}
}

func TestEventsAreNumberedAndPlaced(t *testing.T) {
	var at, n []int
	for e, err := range sse.Events([]byte(": x\n\ndata: a\n\nevent: t\n\nid: 1\r\ndata: b\r\n\r\n")) {
		if err != nil {
			t.Fatal(err)
		}
		at, n = append(at, e.Offset), append(n, e.N)
	}
	if !reflect.DeepEqual(at, []int{5, 24}) || !reflect.DeepEqual(n, []int{1, 2}) {
		t.Errorf("offsets %v, numbers %v", at, n)
	}
}

// An event that is lent says the same while it is lent, whatever came before it.
func TestALentEventIsReadAsAKeptOne(t *testing.T) {
	in := []byte("data: a long line\ndata: and another\n\ndata: b\n\nevent: t\nid: 3\ndata: c\r\rdata\n\ndata: d\n\n")
	want := parse(t, in)
	if len(want) != 5 {
		t.Fatalf("%q", want)
	}
	for at := range in {
		lends, got := sse.Parser{Lend: true}, []seen{}
		for _, piece := range [][]byte{in[:at], in[at:]} {
			if err := lends.Feed(piece, func(e sse.Event) { got = append(got, seen{e.Type, e.ID, string(e.Data)}) }); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("cut at %d: %q, want %q", at, got, want)
		}
	}
}

// Lines that end in CR alone, in LF alone or in both are found by looking at each
// byte as often: a stream of line ends costs no more for the one it lacks.
func TestStreamsOfLineEndsAreReadInOneGo(t *testing.T) {
	const n = 4 << 20
	for name, unit := range map[string]string{"LF": "\n", "CR": "\r", "CRLF": "\r\n", "comments that CR ends": ":\r"} {
		piece := bytes.Repeat([]byte(unit), n/len(unit))
		begin := time.Now()
		if got := parse(t, piece); len(got) != 0 {
			t.Errorf("%s: %d events", name, len(got))
		}
		if took := time.Since(begin); took > 10*time.Second { // quadratic, it is a quarter of an hour
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestPendingTellsACutFromAnEnd(t *testing.T) {
	for in, want := range map[string]bool{"": false, "data: a\n\n": false, "data: a\n": true, "data: a": true, ": ping\n": false, "dat": true} {
		var p sse.Parser
		if err := p.Feed([]byte(in), func(sse.Event) {}); err != nil {
			t.Fatal(err)
		}
		if p.Pending() != want {
			t.Errorf("%q: pending %v", in, p.Pending())
		}
	}
}

func TestOneEventIsBounded(t *testing.T) {
	full := "data: " + strings.Repeat("x", sse.MaxEvent-6)
	if got := parse(t, []byte(full+"\n\n")); len(got) != 1 {
		t.Fatalf("%d events at the limit", len(got))
	}
	for name, in := range map[string]string{
		"a line without end": "data: " + strings.Repeat("x", 10<<20),
		"one byte more":      full + "x\n\n",
		"many lines":         strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", 1100) + "\n",
		"many empty fields":  "data: a\n" + strings.Repeat("foo\n", 400_000) + "\n",
	} {
		var got []sse.Event
		var last error
		for e, err := range sse.Events([]byte(in)) {
			if last = err; err == nil {
				got = append(got, e)
			}
		}
		if !errors.Is(last, sse.ErrTooLong) || len(got) != 0 {
			t.Errorf("%s: %d events, %v", name, len(got), last)
		}
	}
	pings := strings.Repeat(": ping\n", 400_000) + "data: a\n\n" // comments are no event, however many
	if got := parse(t, []byte(pings)); len(got) != 1 {
		t.Errorf("%d events after many comments", len(got))
	}
}

func FuzzEverySplitGivesTheSameEvents(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\nid: 1\rdata: b\n\n"), uint16(9))
	f.Add([]byte("\xef\xbb\xbfevent: x\ndata: \xe0\xb4\x85\n\n"), uint16(2))
	f.Fuzz(func(t *testing.T, in []byte, at uint16) {
		want := parse(t, in)
		i := int(at) % (len(in) + 1)
		if got := parse(t, in[:i], in[i:]); !reflect.DeepEqual(got, want) {
			t.Fatalf("split at %d: %q, want %q", i, got, want)
		}
		if got := parse(t, bytes.SplitAfter(in, nil)...); !reflect.DeepEqual(got, want) {
			t.Fatalf("byte by byte: %q, want %q", got, want)
		}
	})
}
