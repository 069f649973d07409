// Package interop_test has the official SDKs of the vendors talk to the
// stand-ins of Interlock: what a stand-in says must be understood by the client
// that the vendor itself ships, and how often that client sent a request must
// stand in the ledger. It is a module of its own, so that no SDK becomes a
// dependency of the project.
package interop_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

const (
	model  = "standin-orion-1"
	prompt = "Read invoice 7 please"
	tool   = "submit"
	want   = `{"id":"7","note":"ബിൽ 7"}`

	bound   = 10 * time.Second // for one conversation, retries included
	retries = 2                // of an SDK that may repeat a request
	unset   = -1               // leaves it to the SDK
)

// schema is of the tool's arguments.
var schema = map[string]any{
	"type":       "object",
	"properties": map[string]any{"id": map[string]any{"type": "string"}, "note": map[string]any{"type": "string"}},
	"required":   []string{"id"},
}

// question is what an SDK is to ask: prompt of model, with the tool required or
// without any tool.
type question struct {
	stream  bool
	tool    bool
	limit   int64    // of output tokens
	retries int      // how often the SDK may repeat the request
	null    []string // parameters that are sent as null
}

func (q question) String() string {
	return map[bool]string{false: "body", true: "stream"}[q.stream] + map[bool]string{false: " of text", true: " with a tool call"}[q.tool]
}

// questions are all forms of a question that an SDK has.
func (s sdk) questions() []question {
	list := []question{{limit: 800}, {limit: 800, tool: true}}
	if s.unstreamed {
		return list
	}
	return append(list, question{limit: 800, stream: true}, question{limit: 800, stream: true, tool: true})
}

// answer is what an SDK understood.
type answer struct {
	text      string // as far as it came
	calls     int    // of tools
	tool      string // name of the tool that is called
	arguments string // JSON of the call
	finish    string // the protocol's word for the end
	prompt    int64  // tokens
	output    int64  // tokens
}

// call adds a tool call. The vendors give every call an id.
func (a *answer) call(id, name, arguments string) {
	if id == "" {
		name += " without an id"
	}
	a.calls++
	a.tool += name
	a.arguments += arguments
}

// sdk is one official client.
type sdk struct {
	protocol providers.Protocol
	// ask sends one question to the server at url and returns what was understood
	// until the end or the error.
	ask func(ctx context.Context, client *http.Client, url string, q question) (answer, error)
	// stated is what the provider said in err: HTTP status and message. It is 0 and
	// "" for an error by which the provider said nothing.
	stated func(err error) (status int, message string)

	stopped, called, cut string   // the words for the end: by itself, for a tool, at the limit
	rereads              bool     // asks again when the body of an answer ends early
	resetIsFinal         bool     // asks no more after a reset, whatever it may
	unforced             bool     // has no word by which a tool call is required
	unstreamed           bool     // its streams are spoken by no stand-in
	silent               []string // breaks of a stream that it takes for the end: it says no error
	repeated             []int    // statuses after which the SDK asks again, if it may
	final                []int    // statuses after which it never does
}

// server is a good provider of the SDK's protocol.
func (s sdk) server(t *testing.T) *standin.Server {
	t.Helper()
	server, err := standin.Start(standin.Options{
		Protocol: s.protocol, Model: model, References: []standin.Reference{{Text: "invoice 7", Answer: want}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return server
}

// converse asks over connections of its own, for net/http itself may repeat a
// request on a connection that was used before.
func (s sdk) converse(t *testing.T, server *standin.Server, q question) (answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	return s.ask(ctx, &http.Client{Transport: transport}, server.URL(), q)
}

// sent checks the ledger.
func sent(t *testing.T, server *standin.Server, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	if err := ledger(ctx, server, n); err != nil {
		t.Error(err)
	}
}

// ledger returns nil when n requests were sent, all of them are over before ctx
// is, and a repeated one says the same as the first.
func ledger(ctx context.Context, server *standin.Server, n int) error {
	if err := server.AwaitEnd(ctx, standin.Match{}, n); err != nil {
		return err
	}
	calls := server.Calls(standin.Match{})
	if len(calls) != n {
		return fmt.Errorf("%d requests in the ledger, not %d", len(calls), n)
	}
	for _, c := range calls {
		if !bytes.Equal(c.Body, calls[0].Body) {
			return fmt.Errorf("request %d differs from the first:\n%s\n%s", c.N, c.Body, calls[0].Body)
		}
	}
	return nil
}

// understood checks an answer.
func (s sdk) understood(t *testing.T, q question, got answer, err error) {
	t.Helper()
	if err == nil {
		err = s.whole(q, got)
	}
	if err != nil {
		t.Error(err)
	}
}

// whole returns nil when got is all that a good provider answers to q.
func (s sdk) whole(q question, got answer) error {
	expected := answer{text: want, finish: s.stopped, prompt: got.prompt, output: got.output}
	if q.tool {
		expected = answer{calls: 1, tool: tool, arguments: want, finish: s.called, prompt: got.prompt, output: got.output}
	}
	if got != expected || got.prompt == 0 || got.output == 0 {
		return fmt.Errorf("understood %+v, not %+v", got, expected)
	}
	return nil
}

// failing fails the first n requests with status; a retry need not wait.
func failing(server *standin.Server, status, n int) {
	for nth := 1; nth <= n; nth++ {
		server.Script(standin.Match{Nth: nth}, standin.Answer{Status: status, RetryAfter: "0", ErrorText: "try again"})
	}
}

// talk takes an SDK through everything that all of them have in common.
func talk(t *testing.T, s sdk) {
	for _, q := range s.questions() {
		t.Run(q.String(), func(t *testing.T) {
			t.Parallel() // SDKs sleep between a reset and the next request
			t.Run("is understood", func(t *testing.T) {
				server := s.server(t)
				got, err := s.converse(t, server, q)
				s.understood(t, q, got, err)
				sent(t, server, 1)
				if c := server.Calls(standin.Match{})[0]; c.Ask.User != prompt || c.Ask.Stream != q.stream || c.Ask.Model != model || c.Ask.ToolForced != (q.tool && !s.unforced) {
					t.Errorf("the stand-in understood %+v", c.Ask)
				}
			})
			for _, status := range s.repeated {
				s.fails(t, q, status)
			}
			for _, status := range s.final {
				s.givesUp(t, q, status)
			}
			s.isReset(t, q)
		})
	}
	for _, stream := range []bool{false, true} {
		if stream && s.unstreamed {
			continue
		}
		q := question{stream: stream, limit: 3}
		t.Run(q.String()+" at its limit", func(t *testing.T) {
			server := s.server(t)
			got, err := s.converse(t, server, q)
			if err != nil || got.finish != s.cut || !strings.HasPrefix(want, got.text) || got.text == want {
				t.Errorf("%+v %v", got, err)
			}
			sent(t, server, 1)
		})
	}
	s.isCut(t)
	if !s.unstreamed {
		s.breaksOff(t)
	}
}

// fails has the provider refuse some requests with a status that is repeated.
func (s sdk) fails(t *testing.T, q question, status int) {
	s.refused(t, fmt.Sprintf("%d without retries", status), q, status, 1)
	q.retries = retries
	for n := 1; n <= retries; n++ {
		t.Run(fmt.Sprintf("%d times %d, then good", n, status), func(t *testing.T) {
			server := s.server(t)
			failing(server, status, n)
			got, err := s.converse(t, server, q)
			s.understood(t, q, got, err)
			sent(t, server, n+1)
		})
	}
	s.refused(t, fmt.Sprintf("%d always", status), q, status, retries+1)
}

// givesUp has the provider refuse with a status that is not repeated.
func (s sdk) givesUp(t *testing.T, q question, status int) {
	q.retries = retries
	s.refused(t, fmt.Sprintf("%d is final", status), q, status, 1)
}

// refused has every request refused: the SDK states why, after so many requests.
func (s sdk) refused(t *testing.T, name string, q question, status, requests int) {
	t.Run(name, func(t *testing.T) {
		server := s.server(t)
		failing(server, status, requests+1)
		_, err := s.converse(t, server, q)
		if got, message := s.stated(err); got != status || message != "try again" {
			t.Errorf("status %d, message %q, error %v", got, message, err)
		}
		sent(t, server, requests)
	})
}

// isReset has the provider take the first request and reset the connection: it
// may have done the work, and an SDK that retries asks for it again.
func (s sdk) isReset(t *testing.T, q question) {
	t.Run("reset without retries", func(t *testing.T) {
		server := s.server(t)
		server.Script(standin.Match{Nth: 1}, standin.Reset())
		_, err := s.converse(t, server, q)
		if status, _ := s.stated(err); err == nil || status != 0 {
			t.Errorf("status %d, error %v", status, err)
		}
		sent(t, server, 1)
	})
	t.Run("reset, then good", func(t *testing.T) {
		server := s.server(t)
		server.Script(standin.Match{Nth: 1}, standin.Reset())
		q.retries = retries
		got, err := s.converse(t, server, q)
		if s.resetIsFinal {
			if status, _ := s.stated(err); err == nil || status != 0 {
				t.Errorf("status %d, error %v", status, err)
			}
			sent(t, server, 1)
			return
		}
		s.understood(t, q, got, err)
		sent(t, server, 2)
	})
}

// isCut has a whole answer arrive in part. The provider has done the work; an SDK
// that reads the body before it gives up has it done again.
func (s sdk) isCut(t *testing.T) {
	for _, may := range []int{0, retries} {
		t.Run(fmt.Sprintf("half a body, %d retries", may), func(t *testing.T) {
			server := s.server(t)
			server.Script(standin.Match{Nth: 1}, standin.Answer{Cut: &standin.Point{Bytes: 64}})
			q := question{limit: 800, retries: may}
			got, err := s.converse(t, server, q)
			if may > 0 && s.rereads {
				s.understood(t, q, got, err)
				sent(t, server, 2)
				return
			}
			if status, _ := s.stated(err); err == nil || status != 0 || got != (answer{}) {
				t.Errorf("understood %+v, status %d, error %v", got, status, err)
			}
			sent(t, server, 1)
		})
	}
}

// breaksOff has streams end before their time: no SDK asks again once it has
// part of an answer.
func (s sdk) breaksOff(t *testing.T) {
	for name, script := range map[string]standin.Answer{
		"an error event": {BreakAfter: 1},
		"a reset":        standin.CutAfter(1, standin.CutReset),
		"a close":        standin.CutAfter(1, standin.CutFIN),
	} {
		t.Run("stream of text broken off by "+name, func(t *testing.T) {
			server := s.server(t)
			server.Script(standin.Match{}, script)
			got, err := s.converse(t, server, question{stream: true, limit: 800, retries: retries})
			quiet := slices.Contains(s.silent, name)
			if (err == nil) != quiet || got.text == want || !strings.HasPrefix(want, got.text) || quiet && got.finish != "" {
				t.Errorf("understood %+v, error %v", got, err)
			}
			sent(t, server, 1)
		})
	}
}
