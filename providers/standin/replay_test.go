package standin_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	provider "github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/standin"
)

func TestARecordingComesAgainByteForByteAndGapForGap(t *testing.T) {
	server, err := standin.Start(standin.Options{Protocol: providers.OpenAIChat})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	body := []byte("data: {\"a\":\xff}\n\nda" + "ta: [DONE]\n\n")
	gaps := []time.Duration{20 * time.Millisecond, 120 * time.Millisecond}
	for _, end := range []providers.End{providers.EndEOF, providers.EndUnterminated, providers.EndReset, providers.EndStall, providers.EndNone} {
		t.Run(string(end), func(t *testing.T) {
			server.Reset()
			server.Script(standin.Match{}, standin.Answer{Recorded: &standin.Recorded{
				Status: 207, Header: http.Header{"Content-Type": {"text/event-stream"}, "X-Request-Id": {"r-1"}}, Body: body, End: end,
				Chunks: []providers.Chunk{{Offset: 0, Length: 18, At: gaps[0]}, {Offset: 18, Length: len(body) - 18, At: gaps[1]}},
			}})
			ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond) // ends the stall
			defer cancel()
			p := providers.Profile{Name: "p", Protocol: providers.OpenAIChat, BaseURL: server.URL(), Model: "m", AllowLoopback: true}
			got, err := provider.Do(ctx, p, "", providers.Request{User: "x", Mode: providers.ModeJSONSchema}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if end == providers.EndNone {
				if got.Status != 0 {
					t.Errorf("status %d where nothing came", got.Status)
				}
				return
			}
			if got.Status != 207 || got.Header.Get("X-Request-Id") != "r-1" || got.End != end {
				t.Errorf("status %d, end %s, header %v", got.Status, got.End, got.Header)
			}
			if end != providers.EndReset && !bytes.Equal(got.Body, body) { // a reset may overtake what was sent
				t.Errorf("body %q", got.Body)
			}
			if end == providers.EndEOF && (len(got.Chunks) != 2 || got.Chunks[0].At < gaps[0] || got.Chunks[1].At < gaps[1] || got.Chunks[1].Offset != 18) {
				t.Errorf("chunks %v", got.Chunks)
			}
		})
	}
}
