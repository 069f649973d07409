package call_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/wire"
)

const toFollow = 20 * time.Second

func keeps(url string) providers.Profile {
	return providers.Profile{Name: "b", Protocol: providers.OpenAIResponses, BaseURL: url, Model: "m", AllowLoopback: true, Background: true}
}

func asks(stream bool) providers.Request {
	return providers.Request{User: "u", Mode: providers.ModeJSONSchema, Schema: json.RawMessage(`{"type":"object"}`), Stream: stream}
}

func TestFollowAsksUntilTheProviderStatesAnEnd(t *testing.T) {
	for _, tc := range []struct {
		name   string
		stream bool
		script standin.Answer
		held   bool
		known  int    // times that an id was told
		text   string // of the answer; empty: none was learnt
		calls  int
	}{
		{name: "work that takes a while", held: true, known: 1, text: `{"a":1}`},
		{name: "a stream that comes whole", stream: true, known: 1, text: `{"a":1}`},
		{name: "a stream that is cut", stream: true, script: standin.Answer{Cut: &standin.Point{Events: 2}, CutBy: standin.CutReset}, known: 1, text: `{"a":1}`},
		{name: "an answer that is lost as a whole", script: standin.Reset()},
		{name: "a refusal", script: standin.Failed(429)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := standin.Start(standin.Options{Protocol: providers.OpenAIResponses, Fallback: func(standin.Ask) string { return `{"a":1}` }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.Script(standin.Match{}, tc.script)
			if tc.held {
				gate := s.Hold(standin.Match{})
				go func() { <-gate.Arrived(); gate.Release() }()
			}
			ctx, cancel := context.WithTimeout(t.Context(), toFollow)
			defer cancel()
			var known []string
			got, err := call.Follow(ctx, keeps(s.URL()), "", asks(tc.stream), nil, func(id string) { known = append(known, id) })
			if err != nil {
				t.Fatal(err)
			}
			if calls := s.Ledger(); len(calls) != 1 || len(known) != tc.known || tc.known == 1 && known[0] != calls[0].ID {
				t.Errorf("%d requests, ids told %v", len(calls), known)
			}
			if r := wire.Decode(got); r.Text != tc.text {
				t.Errorf("status %d, text %q, want %q: %s", got.Status, r.Text, tc.text, got.Body)
			}
		})
	}
}

func TestFollowGivesUpWithItsContextAndKeepsWhatItKnew(t *testing.T) {
	s, err := standin.Start(standin.Options{Protocol: providers.OpenAIResponses})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Hold(standin.Match{})
	ctx, cancel := context.WithCancel(t.Context())
	got, err := call.Follow(ctx, keeps(s.URL()), "", asks(false), nil, func(string) { cancel() })
	if err != nil || got.Status != 200 || !strings.Contains(string(got.Body), `"queued"`) {
		t.Errorf("%d %s, %v", got.Status, got.Body, err)
	}
}

// answers is a provider that takes one request and then answers questions by
// turns; the last answer stays.
func answers(t *testing.T, questions *atomic.Int64, turns ...string) *peer {
	t.Helper()
	return listen(t, func(conn net.Conn, r *http.Request) {
		text := `200 {"id":"resp_1","object":"response","status":"queued","output":[]}`
		if r.Method == http.MethodGet {
			text = turns[min(int(questions.Add(1)), len(turns))-1]
		}
		status, body, _ := strings.Cut(text, " ")
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
	})
}

func TestFollowTakesTheWordOfTheSameWorkOnly(t *testing.T) {
	const done = `200 {"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"message","content":[{"type":"output_text","text":"{}"}]}]}`
	for _, tc := range []struct {
		name      string
		turns     []string
		questions int64
		status    string // in the transcript
	}{
		{"an outage in between", []string{`500 {"error":{"message":"x"}}`, `200 <html>`, `429 {}`, done}, 4, "completed"},
		{"another work's answer", []string{strings.Replace(done, "resp_1", "resp_2", 1), `200 {"status":"completed"}`, done}, 3, "completed"},
		{"an end without a status", []string{`200 {"id":"resp_1","output":[]}`, done}, 2, "completed"},
		{"a word that is none", []string{strings.Replace(done, "completed", "finished", 1), done}, 2, "completed"},
		{"an id that it does not know", []string{`404 {"error":{"message":"no such response"}}`}, 5, "queued"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel() // the pauses add up
			var questions atomic.Int64
			p := answers(t, &questions, tc.turns...)
			ctx, cancel := context.WithTimeout(t.Context(), toFollow)
			defer cancel()
			got, err := call.Follow(ctx, keeps(p.url), "", asks(false), nil, func(string) {})
			if err != nil || questions.Load() != tc.questions || !strings.Contains(string(got.Body), `"`+tc.status+`"`) {
				t.Errorf("%d questions, %s, %v", questions.Load(), got.Body, err)
			}
		})
	}
}

func TestAskRefusesWhatCannotBeAsked(t *testing.T) {
	p := listen(t, func(conn net.Conn, _ *http.Request) { _, _ = io.WriteString(conn, "HTTP/1.1 200 x\r\n\r\n") })
	for _, id := range []string{"", "../models", "a/b", "a?b", "a b", "%2e", strings.Repeat("a", 201)} {
		if _, kept, err := call.Ask(t.Context(), keeps(p.url), "", asks(false), id); err == nil || kept != (providers.Kept{}) {
			t.Errorf("id %.20q: %+v, %v", id, kept, err)
		}
		if _, _, err := call.Stop(t.Context(), keeps(p.url), "", asks(false), id); err == nil {
			t.Errorf("id %.20q can be stopped", id)
		}
	}
	chat := keeps(p.url)
	chat.Protocol = providers.OpenAIChat
	if _, _, err := call.Ask(t.Context(), chat, "", asks(false), "resp_1"); err == nil {
		t.Error("a protocol that keeps nothing can be asked")
	}
	if p.calls.Load() != 0 {
		t.Errorf("%d requests were sent", p.calls.Load())
	}
}

func TestStopIsAnsweredWithHowTheWorkStands(t *testing.T) {
	s, err := standin.Start(standin.Options{Protocol: providers.OpenAIResponses})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gate := s.Hold(standin.Match{Nth: 2})
	id := func() (id string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, err := call.Follow(ctx, keeps(s.URL()), "", asks(false), nil, func(known string) { id = known; cancel() }); err != nil {
			t.Fatal(err)
		}
		return id
	}
	done, goesOn := id(), id()
	<-gate.Arrived()
	for _, tc := range []struct {
		id, want string
		do       func(context.Context, providers.Profile, string, providers.Request, string) (providers.Transcript, providers.Kept, error)
	}{
		{done, "completed", call.Stop}, {goesOn, "in_progress", call.Ask}, {goesOn, "cancelled", call.Stop}, {goesOn, "cancelled", call.Stop}, {goesOn, "cancelled", call.Ask},
	} {
		if _, kept, err := tc.do(t.Context(), keeps(s.URL()), "", asks(false), tc.id); err != nil || kept.Status != tc.want || kept.Ended != (tc.want != "in_progress") {
			t.Errorf("%+v, %v; want %s", kept, err, tc.want)
		}
	}
}
