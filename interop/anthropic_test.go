package interop_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/interlock-harness/interlock/providers"
)

func TestAnthropicMessages(t *testing.T) {
	talk(t, sdk{
		protocol: providers.AnthropicMessages, ask: askMessages, stated: anthropicStated,
		stopped: "end_turn", called: "tool_use", cut: "max_tokens",
		repeated: []int{429, 500, 503, 529}, final: []int{400, 401, 404}, rereads: true,
	})
}

func TestAnthropicParametersAreKnown(t *testing.T) {
	knows(t, sdk{protocol: providers.AnthropicMessages, ask: askMessages}, anthropic.MessageNewParams{})
}

func anthropicStated(err error) (int, string) {
	var stated *anthropic.Error
	if errors.As(err, &stated) {
		return stated.StatusCode, stated.Message
	}
	return 0, ""
}

func askMessages(ctx context.Context, client *http.Client, url string, q question) (answer, error) {
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithAPIKey("k"),
		option.WithBaseURL(url), option.WithHTTPClient(client), option.WithMaxRetries(q.retries),
	}
	for _, name := range q.null {
		options = append(options, option.WithJSONSet(name, nil))
	}
	c := anthropic.NewClient(options...)
	params := anthropic.MessageNewParams{
		Model:     model,
		MaxTokens: q.limit,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	}
	if q.tool {
		params.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(
			anthropic.ToolInputSchemaParam{Properties: schema["properties"], Required: schema["required"].([]string)}, tool,
		)}
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(tool)
	}
	if !q.stream {
		whole, err := c.Messages.New(ctx, params)
		if err != nil {
			return answer{}, err
		}
		return messageAnswer(*whole), nil
	}
	stream := c.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	var whole anthropic.Message
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			return messageAnswer(whole), err
		}
	}
	return messageAnswer(whole), stream.Err()
}

func messageAnswer(whole anthropic.Message) answer {
	got := answer{finish: string(whole.StopReason), prompt: whole.Usage.InputTokens, output: whole.Usage.OutputTokens}
	for _, block := range whole.Content {
		switch b := block.AsAny().(type) {
		case anthropic.TextBlock:
			got.text += b.Text
		case anthropic.ToolUseBlock:
			got.call(b.ID, b.Name, string(b.Input))
		}
	}
	return got
}
