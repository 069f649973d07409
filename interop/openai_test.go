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

func openAIClient(client *http.Client, url string, q question) openai.Client {
	return openai.NewClient(option.WithAPIKey("k"), option.WithBaseURL(url+"/v1/"), option.WithHTTPClient(client), option.WithMaxRetries(q.retries))
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
			got.tool += call.Function.Name
			got.arguments += call.Function.Arguments
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
			got.tool += call.Name
			got.arguments += call.Arguments
		}
	}
	return got
}
