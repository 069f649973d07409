package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

func TestGeminiGenerateContent(t *testing.T) {
	talk(t, sdk{
		protocol: providers.Gemini, ask: askGenerateContent, stated: geminiStated,
		stopped: "STOP", called: "STOP", cut: "MAX_TOKENS",
		repeated: []int{429, 500, 503}, final: []int{400, 401, 404, 529}, // Google has no 529
	})
}

func geminiStated(err error) (int, string) {
	var stated genai.APIError
	if errors.As(err, &stated) {
		return stated.Code, stated.Message
	}
	return 0, ""
}

func geminiClient(ctx context.Context, client *http.Client, url string, retries int) (*genai.Client, error) {
	options := genai.HTTPOptions{BaseURL: url}
	if retries > 0 { // without options the SDK asks once
		options.RetryOptions = &genai.HTTPRetryOptions{
			Attempts: genai.Ptr(int32(1 + retries)), InitialDelay: genai.Ptr(0.001), Jitter: genai.Ptr(0.0),
		}
	}
	return genai.NewClient(ctx, &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: options})
}

// configured asks a stand-in that knows no answer, so that it makes one from the
// schema of the request, and returns what was understood.
func configured(t *testing.T, config *genai.GenerateContentConfig) answer {
	t.Helper()
	server, err := standin.Start(standin.Options{Protocol: providers.Gemini, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := geminiClient(t.Context(), &http.Client{Transport: transport}, server.URL(), 0)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := c.Models.GenerateContent(t.Context(), model, genai.Text(prompt), config)
	if err != nil {
		t.Fatal(err)
	}
	var got answer
	if err := got.add(whole); err != nil {
		t.Fatal(err)
	}
	sent(t, server, 1)
	return got
}

// The SDK has two forms of a schema, and shouts the types of the older one.
func TestGeminiSchemasAreUnderstood(t *testing.T) {
	older := &genai.Schema{Type: genai.TypeObject, Required: []string{"id", "n"}, Properties: map[string]*genai.Schema{
		"id": {Type: genai.TypeString, Enum: []string{"seven"}}, "n": {Type: genai.TypeArray, MinItems: genai.Ptr(int64(1)), Items: &genai.Schema{Type: genai.TypeInteger}},
	}}
	newer := map[string]any{"type": "object", "required": []string{"id", "n"}, "properties": map[string]any{
		"id": map[string]any{"enum": []string{"seven"}}, "n": map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "integer"}},
	}}
	calling := &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}}
	for name, config := range map[string]*genai.GenerateContentConfig{
		"older, of the output":    {ResponseMIMEType: "application/json", ResponseSchema: older},
		"newer, of the output":    {ResponseMIMEType: "application/json", ResponseJsonSchema: newer},
		"older, of the arguments": {ToolConfig: calling, Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: tool, Parameters: older}}}}},
		"newer, of the arguments": {ToolConfig: calling, Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: tool, ParametersJsonSchema: newer}}}}},
	} {
		if got := configured(t, config); got.text+got.arguments != `{"id":"seven","n":[0]}` {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestGeminiParametersAreKnown(t *testing.T) {
	for name, config := range map[string]*genai.GenerateContentConfig{
		"serviceTier":                {ServiceTier: genai.ServiceTierFlex},
		"store":                      {Store: genai.Ptr(true)},
		"continuationToken":          {ContinuationToken: []byte("t")},
		"imageConfig":                {ImageConfig: &genai.ImageConfig{AspectRatio: "1:1"}},
		"audioTranscriptionConfig":   {AudioTranscriptionConfig: &genai.AudioTranscriptionConfig{}},
		"enableEnhancedCivicAnswers": {EnableEnhancedCivicAnswers: genai.Ptr(true)},
		"the sampling parameters": {
			Temperature: genai.Ptr(float32(0)), TopP: genai.Ptr(float32(1)), TopK: genai.Ptr(float32(1)), Seed: genai.Ptr(int32(1)),
			CandidateCount: 1, StopSequences: []string{"END"}, PresencePenalty: genai.Ptr(float32(0)), FrequencyPenalty: genai.Ptr(float32(0)),
			ResponseLogprobs: true, Logprobs: genai.Ptr(int32(1)), ThinkingConfig: &genai.ThinkingConfig{}, ResponseModalities: []string{"TEXT"},
			MediaResolution: genai.MediaResolutionLow, SystemInstruction: genai.NewContentFromText("Be exact.", genai.RoleUser),
			SafetySettings: []*genai.SafetySetting{{Category: genai.HarmCategoryHarassment, Threshold: genai.HarmBlockThresholdBlockNone}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := configured(t, config); got.text != "{}" {
				t.Errorf("understood %+v", got)
			}
		})
	}
}

func askGenerateContent(ctx context.Context, client *http.Client, url string, q question) (answer, error) {
	c, err := geminiClient(ctx, client, url, q.retries)
	if err != nil {
		return answer{}, err
	}
	config := &genai.GenerateContentConfig{MaxOutputTokens: int32(q.limit)}
	if q.tool {
		config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: tool, ParametersJsonSchema: schema}}}}
		config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}}
	}
	var got answer
	if !q.stream {
		whole, err := c.Models.GenerateContent(ctx, model, genai.Text(prompt), config)
		if err == nil {
			err = got.add(whole)
		}
		return got, err
	}
	for part, err := range c.Models.GenerateContentStream(ctx, model, genai.Text(prompt), config) {
		if err != nil {
			return got, err
		}
		if err := got.add(part); err != nil {
			return got, err
		}
	}
	return got, nil
}

// add adds what one response says: the whole answer, or a part of a stream.
func (a *answer) add(r *genai.GenerateContentResponse) error {
	if u := r.UsageMetadata; u != nil {
		a.prompt, a.output = int64(u.PromptTokenCount), int64(u.CandidatesTokenCount)
	}
	for _, candidate := range r.Candidates {
		a.finish = string(candidate.FinishReason)
		if candidate.Content == nil {
			continue
		}
		for _, part := range candidate.Content.Parts {
			a.text += part.Text
			if part.FunctionCall == nil {
				continue
			}
			var arguments strings.Builder
			e := json.NewEncoder(&arguments)
			e.SetEscapeHTML(false)
			if err := e.Encode(part.FunctionCall.Args); err != nil {
				return err
			}
			a.call(part.FunctionCall.ID, part.FunctionCall.Name, strings.TrimSuffix(arguments.String(), "\n"))
		}
	}
	return nil
}
