package exchange_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/sse"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/wire"
)

// longestStream is up to which length a stream is cut at every byte.
const longestStream = 4 << 10

// TestEveryRechunkingOfARecordedStreamGivesTheSameEvents cuts every recorded stream,
// and those of a good stand-in of every protocol that streams, in two at every byte,
// in pieces of every size up to 64 bytes, and at every byte at once.
func TestEveryRechunkingOfARecordedStreamGivesTheSameEvents(t *testing.T) {
	all := map[string]providers.Transcript{}
	for id, x := range recorded(t) {
		all[id] = x.Transcript
	}
	for _, good := range standInStreams(t) {
		all[fmt.Sprintf("stand-in, %s, %s", good.Protocol, good.Request.Mode)] = good
	}
	streams, protocols := 0, map[providers.Protocol]bool{}
	for id, x := range all {
		body := x.Body
		if !strings.HasPrefix(x.Header.Get("Content-Type"), "text/event-stream") || len(body) > longestStream {
			continue
		}
		streams++
		protocols[x.Protocol] = true
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
	t.Logf("%d streams of %d protocols", streams, len(protocols))
	if streams < 34 {
		t.Errorf("%d streams were tried", streams)
	}
	for _, p := range wire.Protocols() {
		// Converse is asked for whole answers only; a line of JSON is an event by itself.
		if !protocols[p] && p != providers.BedrockConverse && p != providers.OllamaChat {
			t.Errorf("no stream of %s was tried", p)
		}
	}
}

// TestAStreamThatComesByteByByteIsTheSameMessage sends the streams of every protocol
// over HTTP, whole, byte by byte, and cut in two at every 61st byte.
func TestAStreamThatComesByteByByteIsTheSameMessage(t *testing.T) {
	for _, good := range standInStreams(t) {
		t.Run(fmt.Sprintf("%s, %s", good.Protocol, good.Request.Mode), func(t *testing.T) {
			want := wire.Decode(good)
			for cut := 0; cut < len(good.Body); cut += 61 {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", good.Header.Get("Content-Type"))
					pieces := [][]byte{good.Body[:cut], good.Body[cut:]}
					if cut == 0 {
						pieces = bytes.SplitAfter(good.Body, nil)
					}
					for _, piece := range pieces {
						_, _ = w.Write(piece)
						_ = http.NewResponseController(w).Flush()
					}
				}))
				p := providers.Profile{Name: "p", Protocol: good.Protocol, BaseURL: server.URL, Model: "m-1", AllowLoopback: true}
				got, err := call.Do(t.Context(), p, "", good.Request, http.Header{})
				server.Close()
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Body, good.Body) || !reflect.DeepEqual(wire.Decode(got), want) {
					t.Fatalf("cut at byte %d it is another message", cut)
				}
			}
		})
	}
}

// standInStreams are the answers of good stand-ins that stream: as text, and as a call.
func standInStreams(t *testing.T) []providers.Transcript {
	t.Helper()
	c, err := contract.Load(fixtures.FS, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	refs, err := certify.References(c)
	if err != nil {
		t.Fatal(err)
	}
	var all []providers.Transcript
	for _, protocol := range wire.Protocols() {
		if protocol == providers.BedrockConverse {
			continue
		}
		server, err := standin.Start(standin.Options{Protocol: protocol, References: refs})
		if err != nil {
			t.Fatal(err)
		}
		p := providers.Profile{Name: "p", Protocol: protocol, BaseURL: server.URL(), Model: "m-1", AllowLoopback: true}
		for _, mode := range []providers.Mode{providers.ModeJSONSchema, providers.ModeTool} {
			r, err := c.Request(c.Cases[0].Input)
			if err != nil {
				t.Fatal(err)
			}
			r.Mode, r.Stream, r.Model = mode, true, "m-1"
			got, err := call.Do(t.Context(), p, "", r, http.Header{})
			if err != nil || got.Status != 200 {
				t.Fatal(got.Status, err)
			}
			all = append(all, got)
		}
		_ = server.Close()
	}
	return all
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
