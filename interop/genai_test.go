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

func askGenerateContent(ctx context.Context, client *http.Client, url string, q question) (answer, error) {
	options := genai.HTTPOptions{BaseURL: url}
	if q.retries > 0 { // without options the SDK asks once
		options.RetryOptions = &genai.HTTPRetryOptions{
			Attempts: genai.Ptr(int32(1 + q.retries)), InitialDelay: genai.Ptr(0.001), Jitter: genai.Ptr(0.0),
		}
	}
	c, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: options})
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
			a.tool += part.FunctionCall.Name
			a.arguments += strings.TrimSuffix(arguments.String(), "\n")
		}
	}
	return nil
}
