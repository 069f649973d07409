package interop_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

func TestOpenAIChatCompletions(t *testing.T) {
	talk(t, sdk{
		protocol: providers.OpenAIChat, ask: askChatCompletions, stated: openAIStated,
		stopped: "stop", called: "tool_calls", cut: "length", repeated: []int{429, 500, 503, 529}, final: []int{400, 401, 404},
	})
}

func TestOpenAIResponses(t *testing.T) {
	talk(t, sdk{
		protocol: providers.OpenAIResponses, ask: askResponses, stated: openAIStated,
		stopped: "completed", called: "completed", cut: "incomplete", repeated: []int{429, 500, 503, 529}, final: []int{400, 401, 404},
	})
}

// The provider keeps the work: the SDK asks for it by its id, which is no request
// that the ledger counts.
func TestOpenAIResponsesInTheBackground(t *testing.T) {
	s := sdk{protocol: providers.OpenAIResponses, stopped: "completed"}
	server := s.server(t)
	gate := server.Hold(standin.Match{})
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := openAIClient(&http.Client{Transport: transport}, server.URL(), question{})
	begin := func() *responses.Response {
		t.Helper()
		begun, err := c.Responses.New(t.Context(), responses.ResponseNewParams{
			Model: model, Background: openai.Bool(true), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return begun
	}
	stands := func(id string, want responses.ResponseStatus) *responses.Response {
		t.Helper()
		work, err := c.Responses.Get(t.Context(), id, responses.ResponseGetParams{})
		if err != nil || work.ID != id || work.Status != want {
			t.Fatalf("%+v %v", work, err)
		}
		return work
	}
	first, second := begin(), begin()
	if first.Status != responses.ResponseStatusQueued {
		t.Errorf("begun as %q", first.Status)
	}
	stands(first.ID, responses.ResponseStatusInProgress)
	if stopped, err := c.Responses.Cancel(t.Context(), second.ID); err != nil || stopped.Status != responses.ResponseStatusCancelled {
		t.Errorf("cancel: %+v %v", stopped, err)
	}
	gate.Release()
	s.understood(t, question{}, responsesAnswer(*stands(first.ID, responses.ResponseStatusCompleted)), nil)
	stands(second.ID, responses.ResponseStatusCancelled)
	server.Lose(standin.Match{})
	if _, err := c.Responses.Get(t.Context(), first.ID, responses.ResponseGetParams{}); err == nil {
		t.Error("lost work is found")
	} else if status, _ := openAIStated(err); status != http.StatusNotFound {
		t.Errorf("lost work: %v", err)
	}
	sent(t, server, 2)
}

func openAIClient(client *http.Client, url string, q question) openai.Client {
	options := []option.RequestOption{
		option.WithAPIKey("k"), option.WithBaseURL(url + "/v1/"), option.WithHTTPClient(client), option.WithMaxRetries(q.retries),
	}
	for _, name := range q.null {
		options = append(options, option.WithJSONSet(name, nil))
	}
	return openai.NewClient(options...)
}

func TestOpenAIParametersAreKnown(t *testing.T) {
	knows(t, sdk{protocol: providers.OpenAIChat, ask: askChatCompletions}, openai.ChatCompletionNewParams{})
	knows(t, sdk{protocol: providers.OpenAIResponses, ask: askResponses}, responses.ResponseNewParams{})
}

func openAIStated(err error) (int, string) {
	var stated *openai.Error
	if errors.As(err, &stated) {
		return stated.StatusCode, stated.Message
	}
	return 0, ""
}

func askChatCompletions(ctx context.Context, client *http.Client, url string, q question) (answer, error) {
	c := openAIClient(client, url, q)
	params := openai.ChatCompletionNewParams{
		Model:               model,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		MaxCompletionTokens: openai.Int(q.limit),
	}
	if q.tool {
		params.Tools = []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: tool, Parameters: schema}),
		}
		params.ToolChoice.OfAuto = openai.String(string(openai.ChatCompletionToolChoiceOptionAutoRequired))
	}
	if !q.stream {
		whole, err := c.Chat.Completions.New(ctx, params)
		if err != nil {
			return answer{}, err
		}
		return chatAnswer(*whole), nil
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		if !whole.AddChunk(stream.Current()) {
			return answer{}, errors.New("a chunk does not fit those before it")
		}
	}
	return chatAnswer(whole.ChatCompletion), stream.Err()
}

func chatAnswer(whole openai.ChatCompletion) answer {
	got := answer{prompt: whole.Usage.PromptTokens, output: whole.Usage.CompletionTokens}
	for _, choice := range whole.Choices {
		got.text += choice.Message.Content
		got.finish = choice.FinishReason
		for _, call := range choice.Message.ToolCalls {
			got.call(call.ID, call.Function.Name, call.Function.Arguments)
		}
	}
	return got
}

func askResponses(ctx context.Context, client *http.Client, url string, q question) (answer, error) {
	c := openAIClient(client, url, q)
	params := responses.ResponseNewParams{
		Model:           model,
		Input:           responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)},
		MaxOutputTokens: openai.Int(q.limit),
	}
	if q.tool {
		params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction(tool, schema, false)}
		params.ToolChoice.OfToolChoiceMode = openai.Opt(responses.ToolChoiceOptionsRequired)
	}
	if !q.stream {
		whole, err := c.Responses.New(ctx, params)
		if err != nil {
			return answer{}, err
		}
		return responsesAnswer(*whole), nil
	}
	stream := c.Responses.NewStreaming(ctx, params)
	defer stream.Close()
	var got answer
	ended := false
	for stream.Next() {
		switch event := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			got.text += event.Delta
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			got.arguments += event.Delta
		case responses.ResponseErrorEvent:
			return got, errors.New(event.Message)
		case responses.ResponseCompletedEvent:
			ended = true
			got = agreed(got, responsesAnswer(event.Response))
		case responses.ResponseIncompleteEvent:
			ended = true
			got = agreed(got, responsesAnswer(event.Response))
		}
	}
	if stream.Err() == nil && !ended {
		return got, errors.New("the stream ended without a last event")
	}
	return got, stream.Err()
}

// agreed is the whole response of the last event, or nothing when the pieces
// before it said something else.
func agreed(pieces, whole answer) answer {
	if pieces.text != whole.text || pieces.arguments != whole.arguments {
		return answer{}
	}
	return whole
}

func responsesAnswer(whole responses.Response) answer {
	got := answer{
		text: whole.OutputText(), finish: string(whole.Status),
		prompt: whole.Usage.InputTokens, output: whole.Usage.OutputTokens,
	}
	for _, item := range whole.Output {
		if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
			got.call(call.CallID, call.Name, call.Arguments)
		}
	}
	return got
}
