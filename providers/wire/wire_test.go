package wire_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/wire"
)

var update = flag.Bool("update", false, "write the golden requests anew")

func everything(mode providers.Mode, stream bool) providers.Request {
	temperature, most, seed := json.Number("0.20"), int64(800), int64(7)
	return providers.Request{
		Model: "m/1:0", System: "Answer <json> & nothing else.", User: "Hello ൧ \u2028", Mode: mode, Stream: stream,
		Schema: json.RawMessage(`{"type": "object"}`), SchemaName: "greeting", ToolName: "greet", ToolDescription: "Say it.",
		Temperature: &temperature, MaxOutputTokens: &most, Seed: &seed, Stop: []string{"\n\n"},
	}
}

// TestEncodeWritesTheGoldenRequest compares method, URL, headers and body byte by
// byte: a change of what a provider is sent must be seen in review.
func TestEncodeWritesTheGoldenRequest(t *testing.T) {
	for _, protocol := range wire.Protocols() {
		for _, mode := range []providers.Mode{providers.ModeJSONSchema, providers.ModeTool} {
			for _, stream := range []bool{false, true} {
				name := fmt.Sprintf("%s.%s.%v", protocol, mode, map[bool]string{true: "stream", false: "whole"}[stream])
				t.Run(name, func(t *testing.T) {
					p := providers.Profile{Name: "p", Protocol: protocol, BaseURL: "https://api.example/base/", Headers: map[string]string{"x-fixed": "1"}}
					got := describe(p, everything(mode, stream))
					file := filepath.Join("testdata", name+".txt")
					if *update {
						if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
							t.Fatal(err)
						}
					}
					want, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					if got != string(want) {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
				})
			}
		}
	}
}

// describe shows the request; a parameter that is refused is named and left out.
func describe(p providers.Profile, r providers.Request) string {
	h, err := wire.Encode(p, r)
	var unsupported *providers.UnsupportedError
	if errors.As(err, &unsupported) {
		switch unsupported.Param {
		case "seed":
			r.Seed = nil
		case "stop":
			r.Stop = nil
		case "stream":
			r.Stream = false
		}
		return "refused: " + err.Error() + "\n" + describe(p, r)
	}
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", h.Method, h.URL)
	if err := h.Header.Write(&b); err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n") + "\n" + string(h.Body) + "\n"
}

func TestEncodeSendsNothingThatIsAbsent(t *testing.T) {
	for _, protocol := range wire.Protocols() {
		p := providers.Profile{Protocol: protocol, BaseURL: "http://127.0.0.1:1", Model: "m"}
		h, err := wire.Encode(p, providers.Request{User: "u", Mode: providers.ModeJSONSchema, Schema: json.RawMessage(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"temperature", "seed", "stop", "system", "instructions"} {
			if strings.Contains(string(h.Body), word) {
				t.Errorf("%s sends %s: %s", protocol, word, h.Body)
			}
		}
		if !json.Valid(h.Body) {
			t.Errorf("%s: %s", protocol, h.Body)
		}
	}
}

func TestEncodeRefusesWhatItCannotSay(t *testing.T) {
	seed := int64(1)
	for protocol, params := range map[providers.Protocol][]string{
		providers.OpenAIResponses: {"seed", "stop"}, providers.AnthropicMessages: {"seed"}, providers.BedrockConverse: {"seed", "stream"},
	} {
		for _, param := range params {
			r := providers.Request{Model: "m", User: "u", Schema: json.RawMessage(`{}`)}
			switch param {
			case "seed":
				r.Seed = &seed
			case "stop":
				r.Stop = []string{"x"}
			case "stream":
				r.Stream = true
			}
			_, err := wire.Encode(providers.Profile{Protocol: protocol, BaseURL: "https://h"}, r)
			var unsupported *providers.UnsupportedError
			if !errors.As(err, &unsupported) || unsupported.Param != param {
				t.Errorf("%s with %s: %v", protocol, param, err)
			}
		}
	}
	for _, base := range []string{"", "ftp://h", "https://", "/v1", "https://user:pw@h", "https://h:port"} {
		_, err := wire.Encode(providers.Profile{Protocol: providers.OpenAIChat, BaseURL: base}, providers.Request{Schema: json.RawMessage(`{}`)})
		if err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("base %q: %v", base, err)
		}
	}
	if _, err := wire.Encode(providers.Profile{Protocol: "smoke-signals"}, providers.Request{}); err == nil {
		t.Error("unknown protocol accepted")
	}
}

func TestEncodeAsksForBackgroundWorkWhereTheProfileSaysSo(t *testing.T) {
	p := providers.Profile{Protocol: providers.OpenAIResponses, BaseURL: "https://h/v1", Model: "m", Background: true, Headers: map[string]string{"x-fixed": "1"}}
	h, err := wire.Encode(p, providers.Request{User: "u", Mode: providers.ModeJSONSchema, Schema: json.RawMessage(`{}`)})
	if err != nil || !strings.Contains(string(h.Body), `"store":true,"background":true`) {
		t.Errorf("%s, %v", h.Body, err)
	}
	adapter, ok := wire.BackgroundFor(p.Protocol)
	if !ok {
		t.Fatal("no adapter")
	}
	ask, err := adapter.Retrieve(p, "resp_1")
	if err != nil || ask.Method+" "+ask.URL != "GET https://h/v1/responses/resp_1" || ask.Header.Get("x-fixed") != "1" || ask.Body != nil {
		t.Errorf("%+v, %v", ask, err)
	}
	stop, err := adapter.Cancel(p, "resp_1")
	if err != nil || stop.Method+" "+stop.URL != "POST https://h/v1/responses/resp_1/cancel" || stop.Body != nil {
		t.Errorf("%+v, %v", stop, err)
	}
	for _, protocol := range wire.Protocols() {
		if _, can := wire.BackgroundFor(protocol); can != (protocol == providers.OpenAIResponses) {
			t.Errorf("%s: %v", protocol, can)
		}
	}
}
