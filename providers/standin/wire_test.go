package standin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/wire"
)

// exchange sends one neutral request through the adapter of a protocol and reads
// the answer back through it.
func exchange(t *testing.T, s *standin.Server, p providers.Protocol, r providers.Request, play standin.Situation) (providers.Transcript, providers.Response) {
	t.Helper()
	h, err := wire.Encode(providers.Profile{Name: "p", Protocol: p, BaseURL: s.URL(), Model: "standin-orion-1"}, r)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, h.Method, h.URL, bytes.NewReader(h.Body))
	req.Header = h.Header
	req.Header.Set(standin.HeaderPlay, string(play))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	tr := providers.Transcript{Protocol: p, Request: r, Status: res.StatusCode, Header: res.Header, Body: data, End: providers.EndEOF}
	return tr, wire.Decode(tr)
}

func TestEveryProtocolIsReadBackByItsAdapter(t *testing.T) {
	const want = `{"id":"7","note":"ബിൽ 7"}`
	long, short := int64(800), int64(3)
	zero := json.Number("0")
	schema := json.RawMessage(`{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}`)
	for _, p := range wire.Protocols() {
		for _, streamed := range []bool{false, true} {
			for _, mode := range []providers.Mode{providers.ModeJSONSchema, providers.ModeTool} {
				if streamed && p == providers.BedrockConverse {
					continue // its streams are binary
				}
				name := string(p) + " " + string(mode) + map[bool]string{true: " streamed"}[streamed]
				t.Run(name, func(t *testing.T) {
					s := start(t, standin.Options{Protocol: p, Model: "standin-orion-1", References: answers})
					r := providers.Request{
						System: "Be exact.", User: "Read Invoice 7 please", Mode: mode, Stream: streamed, Schema: schema, SchemaName: "x",
						ToolName: "submit", Temperature: &zero, MaxOutputTokens: &long,
					}
					tr, got := exchange(t, s, p, r, "")
					if tr.Status != 200 || got.Failure != nil || got.Malformed != "" || got.Unreadable != "" {
						t.Fatalf("%d %+v\n%s", tr.Status, got, tr.Body)
					}
					output := got.Text
					if mode == providers.ModeTool {
						if len(got.Calls) != 1 || got.Calls[0].Name != "submit" || got.Calls[0].ID == "" {
							t.Fatalf("calls %+v\n%s", got.Calls, tr.Body)
						}
						output = string(got.Calls[0].Arguments)
					}
					if output != want {
						t.Errorf("output %q", output)
					}
					if got.End != providers.FinishNormal || streamed && p != providers.Gemini && !got.EndMarker {
						t.Errorf("end %q %q marker %v", got.Finish, got.End, got.EndMarker)
					}
					if got.Model != "" && got.Model != "standin-orion-1" {
						t.Errorf("model %q", got.Model)
					}
					if got.Usage == nil || got.Usage.Output == nil || *got.Usage.Output == 0 {
						t.Errorf("usage %+v", got.Usage)
					}

					r.MaxOutputTokens = &short
					if tr, got = exchange(t, s, p, r, ""); got.End != providers.FinishLength {
						t.Errorf("cut: end %q %q\n%s", got.Finish, got.End, tr.Body)
					}
					r.MaxOutputTokens = &long
					r.Model = "nobody"
					if tr, _ = exchange(t, s, p, r, ""); tr.Status != 404 || wire.Failure(tr) == nil {
						t.Errorf("wrong model: %d %s", tr.Status, tr.Body)
					}
				})
			}
		}
	}
}

func TestEveryProtocolPlaysItsSituations(t *testing.T) {
	long := int64(800)
	silent := map[providers.Protocol]bool{providers.MistralChat: true, providers.CohereChat: true, providers.OllamaChat: true, providers.Gemini: true, providers.VLLMChat: true, providers.LlamaCppChat: true}
	for _, p := range wire.Protocols() {
		s := start(t, standin.Options{Protocol: p, Model: "standin-orion-1", References: answers})
		r := providers.Request{User: "Read Invoice 7 please", Mode: providers.ModeJSONSchema, Schema: json.RawMessage(`{"type":"object"}`), SchemaName: "x", MaxOutputTokens: &long}
		for _, streamed := range []bool{false, true} {
			r.Stream = streamed && p != providers.BedrockConverse
			if tr, _ := exchange(t, s, p, r, standin.PlayRateLimit); tr.Status != 429 || tr.Header.Get("Retry-After") != "2" || wire.Failure(tr) == nil {
				t.Errorf("%s rate limit: %d %s", p, tr.Status, tr.Body)
			}
			if tr, _ := exchange(t, s, p, r, standin.PlayOverload); tr.Status < 500 || wire.Failure(tr) == nil {
				t.Errorf("%s overload: %d %s", p, tr.Status, tr.Body)
			}
			if _, got := exchange(t, s, p, r, standin.PlayRefusal); !silent[p] && !got.Refusal && got.End != providers.FinishRefusal {
				t.Errorf("%s refusal: %+v", p, got)
			}
			if _, got := exchange(t, s, p, r, standin.PlayFilter); got.End == providers.FinishNormal && strings.TrimSpace(got.Text) != "" || !silent[p] && got.End == providers.FinishNormal {
				t.Errorf("%s filter: %+v", p, got)
			}
			if r.Stream {
				if tr, got := exchange(t, s, p, r, standin.PlayMidStream); got.Failure == nil || !got.Failure.MidStream {
					t.Errorf("%s mid-stream: %+v\n%s", p, got, tr.Body)
				}
			}
		}
	}
}
