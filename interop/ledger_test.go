package interop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
)

func TestLedgerFindsWhatIsWrong(t *testing.T) {
	s := sdk{protocol: providers.OpenAIChat, ask: askChatCompletions}
	server := s.server(t)
	post := func(limit int64) {
		if _, err := s.converse(t, server, question{limit: limit}); err != nil {
			t.Fatal(err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	says := func(ctx context.Context, n int, what string) {
		t.Helper()
		if err := ledger(ctx, server, n); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%d requests: %v", n, err)
		}
	}
	says(over, 1, "0 of 1 calls")
	post(800)
	post(800)
	if err := ledger(t.Context(), server, 2); err != nil {
		t.Error(err)
	}
	says(t.Context(), 1, "2 requests in the ledger, not 1")
	post(700)
	says(t.Context(), 3, "request 3 differs")
}

func TestWholeFindsWhatIsWrong(t *testing.T) {
	s := sdk{stopped: "stop", called: "tool"}
	text := answer{text: want, finish: "stop", prompt: 3, output: 3}
	call := answer{calls: 1, tool: tool, arguments: want, finish: "tool", prompt: 3, output: 3}
	if err := s.whole(question{}, text); err != nil {
		t.Error(err)
	}
	if err := s.whole(question{tool: true}, call); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*answer){
		"text":      func(a *answer) { a.text += " " },
		"arguments": func(a *answer) { a.arguments += " " },
		"tool":      func(a *answer) { a.tool += "x" },
		"calls":     func(a *answer) { a.calls++ },
		"finish":    func(a *answer) { a.finish = "" },
		"prompt":    func(a *answer) { a.prompt = 0 },
		"output":    func(a *answer) { a.output = 0 },
	} {
		for _, q := range []question{{}, {tool: true}} {
			got := text
			if q.tool {
				got = call
			}
			spoil(&got)
			if s.whole(q, got) == nil {
				t.Errorf("%s: a wrong %s is not found", q, name)
			}
		}
	}
}

func TestCallTellsOneWithoutAnID(t *testing.T) {
	var got answer
	got.call("", tool, want)
	if (sdk{}).whole(question{tool: true}, got) == nil || !strings.Contains(got.tool, "without an id") {
		t.Errorf("%+v", got)
	}
	got.call("c-2", tool, want)
	if got.calls != 2 {
		t.Errorf("%+v", got)
	}
}
