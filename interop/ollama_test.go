package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"

	"github.com/interlock-harness/interlock/providers"
)

// The client of Ollama never asks again, and it takes whatever ends a stream for
// its end: it says no error. Ollama has no word for a tool call, and none by which
// one is required.
func TestOllamaChat(t *testing.T) {
	talk(t, sdk{
		protocol: providers.OllamaChat, ask: askOllama, stated: ollamaStated, unforced: true,
		stopped: "stop", called: "stop", cut: "length",
		final: []int{400, 404, 429, 500, 503}, resetIsFinal: true, silent: []string{"a close", "a reset"},
	})
}

func ollamaStated(err error) (int, string) {
	var stated api.StatusError
	if errors.As(err, &stated) {
		return stated.StatusCode, stated.ErrorMessage
	}
	return 0, ""
}

func askOllama(ctx context.Context, web *http.Client, base string, q question) (answer, error) {
	to, err := url.Parse(base)
	if err != nil {
		return answer{}, err
	}
	r := &api.ChatRequest{
		Model: model, Stream: &q.stream, Messages: []api.Message{{Role: "user", Content: prompt}},
		Options: map[string]any{"num_predict": q.limit},
	}
	if q.tool {
		parameters, err := json.Marshal(schema)
		if err != nil {
			return answer{}, err
		}
		offered := api.Tool{Type: "function", Function: api.ToolFunction{Name: tool}}
		if err := json.Unmarshal(parameters, &offered.Function.Parameters); err != nil {
			return answer{}, err
		}
		r.Tools = api.Tools{offered}
	}
	var got answer
	err = api.NewClient(to, web).Chat(ctx, r, func(part api.ChatResponse) error {
		got.text += part.Message.Content
		for _, k := range part.Message.ToolCalls {
			got.call(k.ID, k.Function.Name, k.Function.Arguments.String())
		}
		if part.Done {
			got.finish = part.DoneReason
			got.prompt, got.output = int64(part.PromptEvalCount), int64(part.EvalCount)
		}
		return nil
	})
	return got, err
}
