package live_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/live"
	"github.com/interlock-harness/interlock/providers/prompt/render"
	"github.com/interlock-harness/interlock/providers/prompt/standin"
)

// start starts a stand-in with the toy route, and returns that route too.
func start(t *testing.T, faults ...standin.Fault) (*render.Subject, live.Client) {
	t.Helper()
	toy, err := standin.Toy()
	if err != nil {
		t.Fatal(err)
	}
	server, err := standin.Start(toy, standin.ToyTemplate, faults...)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return toy, live.Client{Base: server.URL, Model: "toy-1", HTTP: &http.Client{Transport: transport}}
}

// through returns the toy route as the server at client shows it.
func through(toy *render.Subject, route render.Route) *render.Subject {
	s := *toy
	s.Route = route
	return &s
}

// cannotLook are checks that have nothing to look at on a live server.
var cannotLook = []string{"R14", "R18"}

func TestEachFaultOfALiveServerIsReportedByItsCheck(t *testing.T) {
	for _, c := range []struct {
		fault standin.Fault
		want  string // the check; empty for none
	}{
		{"", ""},
		{standin.DropsGenerationPrompt, "R7"}, // the three faults of Kimi K2 behind vLLM
		{standin.ListLiteral, "R12"},
		{standin.DropsSystem, "R1"},
		{standin.ExtraBOS, "R6"},
		{standin.OtherVocabulary, "R19"},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			toy, client := start(t, c.fault)
			report := render.Check(through(toy, &live.VLLM{Client: client, Context: t.Context()}))
			for _, r := range report.Results {
				switch {
				case r.ID == c.want:
					if r.Verdict != render.Fail {
						t.Errorf("%s: %s %s, want fail", r.ID, r.Verdict, r.Reason)
					}
				case r.Verdict == render.NotApplicable && (c.want != "" || slices.Contains(cannotLook, r.ID)):
				case r.Verdict != render.Pass:
					t.Errorf("%s: %s %s %+v", r.ID, r.Verdict, r.Reason, r.Findings)
				}
			}
		})
	}
}

func TestOtherServersShowTheSamePromptAndIDs(t *testing.T) {
	toy, client := start(t)
	conversation := render.FromRequest(toy.Requests[0])
	text, err := toy.Route.Render(conversation)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := toy.Tokenize(conversation)
	if err != nil {
		t.Fatal(err)
	}
	for name, server := range map[string]render.Tokenizing{
		"vLLM": &live.VLLM{Client: client, Context: t.Context()}, "llama.cpp": &live.LlamaCpp{Client: client, Context: t.Context()}, "TGI": &live.TGI{Client: client, Context: t.Context()},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := server.Render(conversation); err != nil || got != text {
				t.Errorf("rendered %q, %v, want %q", got, err, text)
			}
			if got, err := server.IDs(conversation); err != nil || !slices.Equal(got, ids) {
				t.Errorf("ids %v, %v, want %v", got, err, ids)
			}
			if differences := render.Compare(toy, server, []render.Conversation{conversation}); len(differences) > 0 {
				t.Errorf("differences: %+v", differences)
			}
		})
	}
}

func TestCompareNamesWhereAServerDiffers(t *testing.T) {
	for fault, want := range map[standin.Fault][]string{
		standin.DropsSystem: {"text", "ids"}, standin.OtherVocabulary: {"ids"}, standin.ExtraBOS: {"text", "ids"}, standin.DropsGenerationPrompt: {"text", "ids"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			toy, client := start(t, fault)
			var got []string
			for _, d := range render.Compare(toy, &live.VLLM{Client: client, Context: t.Context()}, []render.Conversation{render.FromRequest(toy.Requests[0])}) {
				got = append(got, d.What)
			}
			if !slices.Equal(got, want) {
				t.Errorf("differences %v, want %v", got, want)
			}
		})
	}
}

func TestVLLMDefaultsDifferForChatAndPrompt(t *testing.T) {
	toy, client := start(t)
	vllm := &live.VLLM{Client: client, Context: t.Context()}
	tokens, err := vllm.Chat(render.FromRequest(toy.Requests[0]))
	if err != nil || tokens.Count != len(tokens.Tokens) || tokens.MaxModelLen != toy.Profile.ContextWindow {
		t.Errorf("%+v, %v", tokens, err)
	}
	plain, err := vllm.Prompt("ab", false)
	if err != nil || !slices.Equal(plain.Tokens, []int{'a', 'b'}) {
		t.Errorf("%+v, %v", plain, err)
	}
}

func TestLlamaCppTellsTextFromTokensAndShowsItsTemplate(t *testing.T) {
	toy, client := start(t)
	llama := &live.LlamaCpp{Client: client, Context: t.Context()}
	bos, _ := toy.Tokenizer.ID("<s>")
	if ids, err := llama.Tokenize("<s>", false, true); err != nil || !slices.Equal(ids, []int{bos}) {
		t.Errorf("parsed: %v, %v", ids, err)
	}
	if ids, err := llama.Tokenize("<s>", false, false); err != nil || !slices.Equal(ids, []int{'<', 's', '>'}) {
		t.Errorf("as text: %v, %v", ids, err)
	}
	if template, err := llama.Template(); err != nil || template != standin.ToyTemplate {
		t.Errorf("template %.40q, %v", template, err)
	}
}

func TestCountsOfClosedProvidersAreComparedWithOurs(t *testing.T) {
	for _, c := range []struct {
		fault standin.Fault
		want  render.Verdict
	}{{"", render.Pass}, {standin.DropsSystem, render.Fail}, {standin.DoubleCount, render.Fail}} {
		toy, client := start(t, c.fault)
		for name, counter := range map[string]live.Counter{"Anthropic": &live.Anthropic{Client: client}, "Gemini": &live.Gemini{Client: client}} {
			usage, err := live.Usage(t.Context(), counter, toy)
			if err != nil {
				t.Fatal(name, err)
			}
			toy.Usage = usage
			if r := render.Check(toy).Result("R18"); r.Verdict != c.want {
				t.Errorf("%s with fault %q: %s %+v, want %s", name, c.fault, r.Verdict, r.Findings, c.want)
			}
		}
	}
}

func TestWhatCannotBeCountedIsAnError(t *testing.T) {
	_, client := start(t)
	for _, c := range []render.Conversation{
		{Messages: []render.Message{{Role: "user", Content: nil}}},
		{Messages: []render.Message{{Role: "user", Content: "a"}, {Role: "system", Content: "b"}}},
		{Messages: []render.Message{{Role: "tool", Content: "a"}}},
	} {
		for _, counter := range []live.Counter{&live.Anthropic{Client: client}, &live.Gemini{Client: client}} {
			if n, err := counter.Count(context.Background(), c); err == nil {
				t.Errorf("%+v counts %d", c.Messages, n)
			}
		}
	}
}

func TestAnswersThatSayNothingAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"refused":     {http.StatusBadRequest, `{"error":{"message":"roles must alternate"}}`, "roles must alternate"},
		"not JSON":    {http.StatusOK, "<html>", "not what was asked for"},
		"other shape": {http.StatusOK, `{"input_tokens":null}`, "input_tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			counter := &live.Anthropic{Client: live.Client{Base: server.URL, HTTP: server.Client()}}
			_, err := counter.Count(t.Context(), render.FromRequest(providers.Request{User: "a"}))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			var status *live.StatusError
			if errors.As(err, &status) != (c.status != http.StatusOK) {
				t.Errorf("error %v", err)
			}
		})
	}
}
