package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	cohere "github.com/cohere-ai/cohere-go/v2"
	"github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/core"
	"github.com/cohere-ai/cohere-go/v2/option"

	"github.com/interlock-harness/interlock/providers"
)

func TestCohereChat(t *testing.T) {
	talk(t, sdk{
		protocol: providers.CohereChat, ask: askCohere, stated: cohereStated,
		stopped: "COMPLETE", called: "TOOL_CALL", cut: "MAX_TOKENS",
		repeated: []int{429, 503}, final: []int{400, 401, 404}, resetIsFinal: true,
	})
}

func TestCohereParametersAreKnown(t *testing.T) {
	knows(t, sdk{protocol: providers.CohereChat, ask: askCohere}, cohere.V2ChatRequest{})
}

// The SDK takes the end of a read for the end of an event. If this fails, it does so
// no more, and cohereTransport may go.
func TestCohereSDKWantsAStreamInOneRead(t *testing.T) {
	server := sdk{protocol: providers.CohereChat}.server(t)
	aLineAtATime := func(from io.Reader, p []byte) (int, error) {
		for n := range p {
			if _, err := from.Read(p[n : n+1]); err != nil {
				return n, err
			}
			if p[n] == '\n' {
				return n + 1, nil
			}
		}
		return len(p), nil
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	web := &http.Client{Transport: &cohereTransport{transport, nil, aLineAtATime}}
	if _, err := cohereAnswer(t.Context(), web, server.URL(), question{stream: true, limit: 800}); err == nil {
		t.Error("a stream that came line by line was understood")
	}
	sent(t, server, 1)
}

// cohereTransport hands an answer over when all of it has come, read by read, since
// the SDK cannot read one that comes in parts; and it adds parameters that are
// null, which the SDK cannot be told to send.
type cohereTransport struct {
	http.RoundTripper
	null []string
	read func(from io.Reader, p []byte) (int, error)
}

func (c *cohereTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(c.null) > 0 {
		var request map[string]any
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			return nil, err
		}
		for _, name := range c.null {
			request[name] = nil
		}
		data, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	}
	answer, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(&whole{c.read, bytes.NewReader(data), err})
	return answer, nil
}

// whole are the bytes that came and the error by which they ended.
type whole struct {
	read func(from io.Reader, p []byte) (int, error)
	from io.Reader
	err  error
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.read(w.from, p)
	if err == io.EOF && w.err != nil {
		err = w.err
	}
	return n, err
}

func cohereStated(err error) (int, string) {
	var stated *core.APIError
	if !errors.As(err, &stated) {
		return 0, ""
	}
	var body struct {
		Message string `json:"message"`
	}
	if inner := stated.Unwrap(); inner != nil {
		_ = json.Unmarshal([]byte(inner.Error()), &body)
	}
	return stated.StatusCode, body.Message
}

func askCohere(ctx context.Context, web *http.Client, url string, q question) (answer, error) {
	return cohereAnswer(ctx, &http.Client{Transport: &cohereTransport{web.Transport, q.null, io.Reader.Read}}, url, q)
}

func cohereAnswer(ctx context.Context, web *http.Client, url string, q question) (answer, error) {
	c := client.NewClient(client.WithToken("k"), client.WithBaseURL(url), client.WithHTTPClient(web))
	attempts := option.WithMaxAttempts(uint(1 + q.retries))
	limit := int(q.limit)
	messages := cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{String: prompt}}}}
	var tools []*cohere.ToolV2
	if q.tool {
		tools = []*cohere.ToolV2{{Type: cohere.String("function"), Function: &cohere.ToolV2Function{Name: tool, Parameters: schema}}}
	}
	if !q.stream {
		r := &cohere.V2ChatRequest{Model: model, Messages: messages, MaxTokens: &limit, Tools: tools}
		if q.tool {
			r.ToolChoice = cohere.V2ChatRequestToolChoiceRequired.Ptr()
		}
		whole, err := c.V2.Chat(ctx, r, attempts)
		if err != nil {
			return answer{}, err
		}
		got := answer{finish: string(whole.FinishReason)}
		got.cohereUsage(whole.Usage)
		for _, part := range whole.Message.Content {
			got.text += part.Text.GetText()
		}
		for _, k := range whole.Message.ToolCalls {
			got.call(*k.Id, *k.Function.Name, *k.Function.Arguments)
		}
		return got, nil
	}
	r := &cohere.V2ChatStreamRequest{Model: model, Messages: messages, MaxTokens: &limit, Tools: tools}
	if q.tool {
		r.ToolChoice = cohere.V2ChatStreamRequestToolChoiceRequired.Ptr()
	}
	stream, err := c.V2.ChatStream(ctx, r, attempts)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = stream.Close() }()
	var got answer
	for {
		e, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		switch {
		case e.ContentDelta != nil:
			got.text += *e.ContentDelta.Delta.Message.Content.Text
		case e.ToolCallStart != nil:
			k := e.ToolCallStart.Delta.Message.ToolCalls
			got.call(*k.Id, *k.Function.Name, "")
		case e.ToolCallDelta != nil:
			got.arguments += *e.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments
		case e.MessageEnd != nil:
			got.finish = string(*e.MessageEnd.Delta.FinishReason)
			got.cohereUsage(e.MessageEnd.Delta.Usage)
			if why := e.MessageEnd.Delta.Error; why != nil {
				return got, errors.New(*why)
			}
		}
	}
}

func (a *answer) cohereUsage(u *cohere.Usage) {
	if t := u.GetTokens(); t != nil {
		a.prompt, a.output = int64(*t.InputTokens), int64(*t.OutputTokens)
	}
}
