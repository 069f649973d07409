package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"github.com/interlock-harness/interlock/providers"
)

// Streams of Bedrock are binary, and no stand-in speaks them.
func TestBedrockConverse(t *testing.T) {
	talk(t, sdk{
		protocol: providers.BedrockConverse, ask: askConverse, stated: bedrockStated, unstreamed: true,
		stopped: "end_turn", called: "tool_use", cut: "max_tokens",
		repeated: []int{429, 500, 503}, final: []int{400, 401, 404},
	})
}

// Without options the SDK asks three times.
func TestBedrockAsksThreeTimesByDefault(t *testing.T) {
	s := sdk{protocol: providers.BedrockConverse, ask: askConverse}
	server := s.server(t)
	failing(server, 503, 4)
	if _, err := s.converse(t, server, question{limit: 800, retries: unset}); err == nil {
		t.Error("no error")
	}
	sent(t, server, 3)
}

func bedrockStated(err error) (int, string) {
	var response *awshttp.ResponseError
	var stated smithy.APIError
	if errors.As(err, &response) && errors.As(err, &stated) {
		return response.HTTPStatusCode(), stated.ErrorMessage()
	}
	return 0, ""
}

func askConverse(ctx context.Context, web *http.Client, url string, q question) (answer, error) {
	c := bedrockruntime.New(bedrockruntime.Options{
		Region: "eu-central-1", BaseEndpoint: &url, HTTPClient: web,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "k", SecretAccessKey: "k"}, nil
		}),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			if q.retries != unset {
				o.MaxAttempts = 1 + q.retries
			}
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
	})
	in := &bedrockruntime.ConverseInput{
		ModelId:         aws.String(model),
		Messages:        []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: prompt}}}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(q.limit))},
	}
	if q.tool {
		in.ToolConfig = &types.ToolConfiguration{
			Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
				Name: aws.String(tool), InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(schema)},
			}}},
			ToolChoice: &types.ToolChoiceMemberAny{},
		}
	}
	whole, err := c.Converse(ctx, in)
	if err != nil {
		return answer{}, err
	}
	got := answer{finish: string(whole.StopReason), prompt: int64(*whole.Usage.InputTokens), output: int64(*whole.Usage.OutputTokens)}
	said, ok := whole.Output.(*types.ConverseOutputMemberMessage)
	if !ok {
		return got, errors.New("no message in the output")
	}
	for _, block := range said.Value.Content {
		switch b := block.(type) {
		case *types.ContentBlockMemberText:
			got.text += b.Value
		case *types.ContentBlockMemberToolUse:
			var arguments map[string]any
			if err := b.Value.Input.UnmarshalSmithyDocument(&arguments); err != nil {
				return got, err
			}
			data, err := json.Marshal(arguments)
			if err != nil {
				return got, err
			}
			got.call(aws.ToString(b.Value.ToolUseId), aws.ToString(b.Value.Name), string(data))
		}
	}
	return got, nil
}
