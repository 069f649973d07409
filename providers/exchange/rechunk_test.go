package exchange_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/sse"
)

// longestStream is up to which length a stream is cut at every byte.
const longestStream = 4 << 10

// TestEveryRechunkingOfARecordedStreamGivesTheSameEvents cuts every recorded stream
// in two at every byte, in pieces of every size up to 64 bytes, and at every byte at
// once.
func TestEveryRechunkingOfARecordedStreamGivesTheSameEvents(t *testing.T) {
	streams := 0
	for id, x := range recorded(t) {
		body := x.Transcript.Body
		if !strings.HasPrefix(x.Transcript.Header.Get("Content-Type"), "text/event-stream") || len(body) > longestStream {
			continue
		}
		streams++
		whole := events(body)
		for at := range body {
			if got := events(body[:at], body[at:]); !bytes.Equal(got, whole) {
				t.Fatalf("%s: cut at byte %d it reads differently", id, at)
			}
		}
		for size := 1; size <= 64; size++ {
			var pieces [][]byte
			for rest := body; len(rest) > 0; {
				n := min(size, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			if got := events(pieces...); !bytes.Equal(got, whole) {
				t.Fatalf("%s: in pieces of %d bytes it reads differently", id, size)
			}
		}
	}
	if streams < 18 {
		t.Errorf("%d streams were tried", streams)
	}
}

// events are the events of a stream that comes in pieces, in one text.
func events(pieces ...[]byte) []byte {
	var p sse.Parser
	var all []byte
	for _, piece := range pieces {
		_ = p.Feed(piece, func(e sse.Event) {
			all = append(append(append(append(all, e.Type...), 0), e.Data...), 1)
		})
	}
	return all
}
