// Package live asks servers how they render and count prompts: vLLM, llama.cpp
// and TGI show the text and the ids that their model sees, Anthropic and Gemini
// count only.
//
// The rule it keeps: one request for one question, nothing repaired and nothing
// retried; what a server answers counts as its word. A status other than 200 is
// a *StatusError, which is what a refusal to render looks like from outside.
//
// Sources: vllm/entrypoints/serve/tokenize/protocol.py of vLLM,
// tools/server/README.md of llama.cpp, router/src/server.rs of TGI, the API
// references of Anthropic (count_tokens) and Gemini (countTokens).
package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// Client sends requests to one server.
type Client struct {
	Base   string       // scheme, host and port
	Model  string       // as the server names it
	Header http.Header  // sent along, such as the key
	HTTP   *http.Client // nil for http.DefaultClient
}

// StatusError is an answer with a status other than 200.
type StatusError struct {
	Status int
	Body   string // its beginning
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %.200s", e.Status, e.Body) }

const maxAnswer = 64 << 20

// ask sends body, or nothing with GET if that is nil, and decodes the answer.
func (c *Client) ask(ctx context.Context, path string, body, answer any) error {
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		if content, err = encode(body); err != nil {
			return err
		}
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base, "/")+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case len(data) > maxAnswer:
		return fmt.Errorf("%s: the answer is larger than %d bytes", path, maxAnswer)
	case resp.StatusCode != http.StatusOK:
		return &StatusError{resp.StatusCode, string(data[:min(len(data), 400)])}
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("%s: the answer is not what was asked for: %w", path, err)
	}
	return nil
}

// encode is json.Marshal without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// chat is what the chat endpoints have in common.
type chat struct {
	Model    string           `json:"model,omitempty"`
	Messages []render.Message `json:"messages"`
	Tools    []render.Tool    `json:"tools,omitempty"`
}

func (c *Client) chat(of render.Conversation) chat { return chat{c.Model, of.Messages, of.Tools} }
