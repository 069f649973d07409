package standin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

const bound = 5 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o standin.Options) *standin.Server {
	t.Helper()
	s, err := standin.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var answers = []standin.Reference{{Text: "Invoice 7", Answer: `{"id":"7","note":"ബിൽ 7"}`}}

type call struct {
	prompt, attempt string
	stream, tool    bool
	max             int
	model           string
}

var paths = map[providers.Protocol]string{
	providers.OpenAIChat:        "/v1/chat/completions",
	providers.AnthropicMessages: "/v1/messages",
}

func request(p providers.Protocol, c call) string {
	if c.model == "" {
		c.model = "standin-orion-1"
	}
	if c.max == 0 {
		c.max = 800
	}
	q := map[string]any{"model": c.model, "stream": c.stream, "max_tokens": c.max,
		"messages": []any{map[string]any{"role": "user", "content": c.prompt}}}
	schema := map[string]any{"type": "object", "required": []string{"summary"}, "properties": map[string]any{"summary": map[string]any{"type": "string"}}}
	switch {
	case p == providers.OpenAIChat && c.tool:
		q["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "submit", "parameters": schema}}}
		q["tool_choice"] = "required"
	case p == providers.OpenAIChat:
		q["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "x", "schema": schema}}
	case c.tool:
		q["tools"] = []any{map[string]any{"name": "submit", "input_schema": schema}}
		q["tool_choice"] = map[string]any{"type": "any"}
	default:
		q["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}}
	}
	data, _ := json.Marshal(q)
	return string(data)
}

type outcome struct {
	status int
	header http.Header
	body   string
	err    error
}

func send(ctx context.Context, s *standin.Server, p providers.Protocol, c call) outcome {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+paths[p], strings.NewReader(request(p, c)))
	if err != nil {
		return outcome{err: err}
	}
	req.Header.Set(standin.HeaderAttempt, c.attempt)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return outcome{err: err}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return outcome{res.StatusCode, res.Header, string(data), err}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	return ctx
}

// said reads the answer back out of the wire form, enough of it to compare.
func said(t *testing.T, p providers.Protocol, body string) (text, arguments, finish string) {
	t.Helper()
	dig := func(data string) map[string]any {
		var v map[string]any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		return v
	}
	str := func(v any) string { s, _ := v.(string); return s }
	take := func(v map[string]any) {
		if p == providers.OpenAIChat {
			for _, c := range list(v["choices"]) {
				choice := c.(map[string]any)
				m, _ := choice["message"].(map[string]any)
				if m == nil {
					m, _ = choice["delta"].(map[string]any)
				}
				text += str(m["content"])
				for _, tc := range list(m["tool_calls"]) {
					arguments += str(tc.(map[string]any)["function"].(map[string]any)["arguments"])
				}
				finish += str(choice["finish_reason"])
			}
			return
		}
		for _, c := range list(v["content"]) {
			part := c.(map[string]any)
			text += str(part["text"])
			if part["input"] != nil {
				raw, _ := json.Marshal(part["input"])
				arguments += string(raw)
			}
		}
		finish += str(v["stop_reason"])
		if d, ok := v["delta"].(map[string]any); ok {
			text += str(d["text"])
			arguments += str(d["partial_json"])
			finish += str(d["stop_reason"])
		}
	}
	if !strings.Contains(body, "data: ") {
		take(dig(body))
		return
	}
	for _, line := range strings.Split(body, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "[DONE]" {
			take(dig(data))
		}
	}
	return
}

func list(v any) []any { l, _ := v.([]any); return l }

func TestGoodAnswersInEveryForm(t *testing.T) {
	const want = `{"id":"7","note":"ബിൽ 7"}`
	finishes := map[providers.Protocol][3]string{
		providers.OpenAIChat:        {"stop", "tool_calls", "length"},
		providers.AnthropicMessages: {"end_turn", "tool_use", "max_tokens"},
	}
	for p, finish := range finishes {
		for _, streamed := range []bool{false, true} {
			s := start(t, standin.Options{Protocol: p, Model: "standin-orion-1", References: answers})
			name := string(p) + map[bool]string{true: " streamed"}[streamed]

			got := send(within(t), s, p, call{prompt: "Read Invoice 7 please", stream: streamed})
			text, _, end := said(t, p, got.body)
			if got.err != nil || got.status != 200 || text != want || end != finish[0] {
				t.Errorf("%s: %d %v %q %q", name, got.status, got.err, text, end)
			}
			got = send(within(t), s, p, call{prompt: "Read Invoice 7 please", stream: streamed, tool: true})
			_, args, end := said(t, p, got.body)
			if !same(args, want) || end != finish[1] {
				t.Errorf("%s tool: %q %q", name, args, end)
			}
			got = send(within(t), s, p, call{prompt: "Read Invoice 7 please", stream: streamed, max: 3})
			text, _, end = said(t, p, got.body)
			if !strings.HasPrefix(want, text) || text == want || end != finish[2] {
				t.Errorf("%s cut by max tokens: %q %q", name, text, end)
			}
			got = send(within(t), s, p, call{prompt: "something else", attempt: "a-1", stream: streamed})
			text, _, _ = said(t, p, got.body)
			if text != `{"summary":"standin-orion-1 for attempt a-1, call 4"}` {
				t.Errorf("%s made from the schema: %q", name, text)
			}
			if got := send(within(t), s, p, call{prompt: "x", model: "nobody"}); got.status != 404 {
				t.Errorf("%s: a model it does not serve: %d", name, got.status)
			}
		}
	}
}

func same(a, b string) bool {
	var x, y any
	_ = json.Unmarshal([]byte(a), &x)
	_ = json.Unmarshal([]byte(b), &y)
	ra, _ := json.Marshal(x)
	rb, _ := json.Marshal(y)
	return x != nil && bytes.Equal(ra, rb)
}

func TestGatesDecideTheOrder(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.OpenAIChat, References: answers})
	first, second := s.Hold(standin.Match{Text: "job-1", Nth: 1}), s.Hold(standin.Match{Text: "job-1", Nth: 2})
	ended := make(chan string, 2)
	ctx := within(t)
	go func() { send(ctx, s, providers.OpenAIChat, call{prompt: "job-1", attempt: "a"}); ended <- "a" }()
	await(t, first.Arrived())
	go func() { send(ctx, s, providers.OpenAIChat, call{prompt: "job-1", attempt: "b"}); ended <- "b" }()
	await(t, second.Arrived())
	if len(ended) != 0 {
		t.Fatal("a held call was answered")
	}
	second.Release()
	if got := <-ended; got != "b" {
		t.Fatalf("%s ended first", got)
	}
	first.Release()
	<-ended
	if got := s.PerAttempt(); got["a"] != 1 || got["b"] != 1 {
		t.Errorf("ledger %v", got)
	}
}

func await(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-within(t).Done():
		t.Fatal("nothing arrived")
	}
}

func TestAClientThatLeavesIsSeen(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.AnthropicMessages})
	gate := s.Hold(standin.Match{})
	ctx, leave := context.WithCancel(within(t))
	done := make(chan outcome, 1)
	go func() { done <- send(ctx, s, providers.AnthropicMessages, call{prompt: "x", attempt: "a-9"}) }()
	await(t, gate.Arrived())
	leave()
	<-done
	if err := s.AwaitEnd(within(t), standin.Match{Attempt: "a-9"}, 1); err != nil {
		t.Fatal(err)
	}
	if c := s.Ledger()[0]; !c.Gone || c.Answered || c.Status != 0 {
		t.Errorf("ledger says %+v", c)
	}
}

func TestScriptsBreakAnswers(t *testing.T) {
	reset := func(o outcome) bool { return errors.Is(o.err, syscall.ECONNRESET) }
	cases := []struct {
		name   string
		answer standin.Answer
		stream bool
		right  func(outcome) bool
	}{
		{"says", standin.Says(`{"x":1}`), false, func(o outcome) bool { return strings.Contains(o.body, `{\"x\":1}`) }},
		{"status", standin.Answer{Status: 429, RetryAfter: "2"}, false, func(o outcome) bool {
			return o.status == 429 && o.header.Get("Retry-After") == "2" && strings.Contains(o.body, "rate_limit_exceeded")
		}},
		{"body and header", standin.Answer{Body: []byte("<html>"), Header: map[string]string{"Content-Type": "text/html"}}, false, func(o outcome) bool {
			return o.status == 200 && o.body == "<html>" && o.header.Get("Content-Type") == "text/html"
		}},
		{"reset before any byte", standin.Reset(), false, reset},
		{"close before any byte", standin.Answer{Cut: &standin.Point{}}, false, func(o outcome) bool { return errors.Is(o.err, io.EOF) }},
		{"reset in the stream", standin.CutAfter(1, standin.CutReset), true, func(o outcome) bool { return reset(o) || o.err != nil && o.status == 200 }},
		{"close in the stream", standin.CutAfter(1, standin.CutFIN), true, func(o outcome) bool {
			return o.status == 200 && errors.Is(o.err, io.ErrUnexpectedEOF) && strings.Contains(o.body, "content") && !strings.Contains(o.body, "DONE")
		}},
		{"cut a body after 10 bytes", standin.Answer{Cut: &standin.Point{Bytes: 10}}, false, func(o outcome) bool {
			return o.status == 200 && len(o.body) == 10 && o.err != nil
		}},
		{"close-delimited", standin.Answer{CloseFramed: true, Cut: &standin.Point{Bytes: 10}}, false, func(o outcome) bool {
			return o.status == 200 && len(o.body) == 10 && o.err == nil // the trap: a cut that looks whole
		}},
		{"no terminator", standin.Answer{NoTerminator: true}, true, func(o outcome) bool {
			return o.err == nil && !strings.Contains(o.body, "DONE") && !strings.Contains(o.body, `"finish_reason":"stop"`)
		}},
		{"error in the stream", standin.Answer{BreakAfter: 1}, true, func(o outcome) bool {
			return o.err == nil && strings.Contains(o.body, `{"error":`) && !strings.Contains(o.body, "DONE")
		}},
		{"raw", standin.Answer{Raw: []byte("HTTP/1.1 2OO OK\r\n\r\n")}, false, func(o outcome) bool { return o.err != nil && o.status == 0 }},
		{"drip", standin.Answer{Drip: time.Millisecond}, true, func(o outcome) bool { return o.err == nil && strings.HasSuffix(o.body, "data: [DONE]\n\n") }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, standin.Options{Protocol: providers.OpenAIChat, References: answers})
			s.Script(standin.Match{Text: "Invoice 7"}, c.answer)
			got := send(within(t), s, providers.OpenAIChat, call{prompt: "Invoice 7", stream: c.stream})
			if !c.right(got) {
				t.Errorf("%d %v %s", got.status, got.err, got.body)
			}
			other := send(within(t), s, providers.OpenAIChat, call{prompt: "another", stream: c.stream})
			if other.err != nil || other.status != 200 {
				t.Errorf("a call that does not match: %d %v", other.status, other.err)
			}
		})
	}
}

func TestAStallEndsWithTheClientOrTheServer(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.OpenAIChat})
	s.Script(standin.Match{}, standin.CutAfter(1, standin.CutStall))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	got := send(ctx, s, providers.OpenAIChat, call{prompt: "x", stream: true})
	if !errors.Is(got.err, context.DeadlineExceeded) || got.status != 200 || got.body == "" {
		t.Errorf("%d %v %q", got.status, got.err, got.body)
	}
	if err := s.AwaitEnd(within(t), standin.Match{}, 1); err != nil {
		t.Fatal(err)
	}
	ended := make(chan outcome, 1)
	go func() { ended <- send(context.Background(), s, providers.OpenAIChat, call{prompt: "y", stream: true}) }()
	if err := s.Await(within(t), standin.Match{Text: "y"}, 1); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if got := <-ended; got.err == nil {
		t.Error("a stalled call outlived its server")
	}
}

func TestAGateInTheMiddleOfAStream(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.OpenAIChat, References: answers})
	gate := s.Hold(standin.Match{}, standin.Point{Delta: 1})
	done := make(chan outcome, 1)
	ctx := within(t)
	go func() { done <- send(ctx, s, providers.OpenAIChat, call{prompt: "Invoice 7", stream: true}) }()
	await(t, gate.Arrived())
	if len(done) != 0 {
		t.Fatal("answered in spite of the gate")
	}
	gate.Release()
	if got := <-done; got.err != nil || !strings.Contains(got.body, "[DONE]") {
		t.Errorf("%v %s", got.err, got.body)
	}
}

func TestObserveHearsOfAnAnswerBeforeItIsWhole(t *testing.T) {
	heard := make(chan string, 8)
	s := start(t, standin.Options{Protocol: providers.OpenAIChat, Observe: func(m standin.Moment, c standin.Call) {
		heard <- fmt.Sprint(m, " ", c.Ask.Attempt, " ", c.Status, " ", c.Answered, " ", c.Output)
	}, Fallback: func(standin.Ask) string { return "said" }})
	s.Script(standin.Match{Nth: 2}, standin.Answer{Cut: &standin.Point{Bytes: 3}})
	send(within(t), s, providers.OpenAIChat, call{prompt: "x", attempt: "a-1"})
	send(within(t), s, providers.OpenAIChat, call{prompt: "x", attempt: "a-2"})
	for _, want := range []string{
		"arrive a-1 0 false ", "answering a-1 200 true said", "answer a-1 200 true said",
		"arrive a-2 0 false ", "answering a-2 200 false said", "answer a-2 200 false said",
	} {
		if got := <-heard; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}

func TestAnswerFromASchemaReadsCountsInAnyForm(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.OpenAIChat})
	body := `{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":
		{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":1,"maxLength":1e1}}}}}}`
	res, err := http.Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if got := s.Ledger()[0].Output; got != `{"a":"m, call 1"}` {
		t.Errorf("answered %s", got)
	}
}

func TestForgetDropsWhatConcernsOneText(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.OpenAIChat})
	mine, other := s.Hold(standin.Match{Text: "mine/a"}), s.Hold(standin.Match{Text: "other/a"})
	s.Script(standin.Match{Text: "mine/b"}, standin.Failed(500))
	s.Script(standin.Match{Text: "other/b"}, standin.Failed(500))
	for _, prompt := range []string{"mine/b", "other/b"} {
		if got := send(within(t), s, providers.OpenAIChat, call{prompt: prompt}); got.status != 500 {
			t.Errorf("%s: %d before", prompt, got.status)
		}
	}
	s.Forget("mine")
	for prompt, want := range map[string]int{"mine/b": 200, "other/b": 500, "mine/a": 200} {
		if got := send(within(t), s, providers.OpenAIChat, call{prompt: prompt}); got.status != want {
			t.Errorf("%s: %d afterwards, want %d", prompt, got.status, want)
		}
	}
	if n := len(s.Calls(standin.Match{Text: "other"})); n != 2 {
		t.Errorf("%d calls of the other are left, want 2", n)
	}
	if n := len(s.Calls(standin.Match{Text: "mine"})); n != 2 {
		t.Errorf("%d calls of mine, want the 2 that came afterwards", n)
	}
	mine.Release()
	other.Release()
}

func TestUnknownFieldsAndProtocolsAreRefused(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.OpenAIChat})
	res, err := http.Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}],"temprature":0}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if res.StatusCode != 400 {
		t.Errorf("a field it does not know: %d", res.StatusCode)
	}
	if _, err := standin.Start(standin.Options{Protocol: "telepathy"}); err == nil {
		t.Error("no such protocol, no error")
	}
}

func TestEachCallIsHeldAndLetGoByItself(t *testing.T) {
	s := start(t, standin.Options{Protocol: providers.OpenAIChat})
	gates := make(chan *standin.Gate, 8)
	end := s.HoldEach(standin.Match{Text: "job-1"}, func(_ standin.Ask, g *standin.Gate) { gates <- g })
	done := make(chan string, 8)
	ctx := within(t)
	click := func(name string) {
		go func() { send(ctx, s, providers.OpenAIChat, call{prompt: "job-1 " + name}); done <- name }()
	}
	click("first")
	first := <-gates
	click("second")
	second := <-gates
	click("third")
	<-gates
	second.Release()
	if got := <-done; got != "second" {
		t.Errorf("%s came back, and the second was let go", got)
	}
	first.Release()
	if got := <-done; got != "first" {
		t.Errorf("%s came back, and the first was let go", got)
	}
	end() // lets go of what is held, and holds no more
	if got := <-done; got != "third" {
		t.Errorf("%s came back at the end", got)
	}
	click("fourth")
	if got := <-done; got != "fourth" || len(gates) != 0 {
		t.Errorf("%s came back, %d are held after the end", got, len(gates))
	}
}
