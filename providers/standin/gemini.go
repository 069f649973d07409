package standin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// gemini is Gemini generateContent (POST .../models/MODEL:generateContent).
type gemini struct{}

type geminiContent struct {
	Parts []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

type geminiRequest struct {
	System   geminiContent   `json:"systemInstruction"`
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name    string          `json:"name"`
			Schema  json.RawMessage `json:"parametersJsonSchema"`
			OpenAPI json.RawMessage `json:"parameters"` // the older form
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ToolConfig struct {
		Calling struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Generation json.RawMessage `json:"generationConfig"`
}

type geminiGeneration struct {
	Schema      json.RawMessage `json:"responseJsonSchema"`
	OpenAPI     json.RawMessage `json:"responseSchema"` // the older form
	Temperature json.Number     `json:"temperature"`
	MaxTokens   *int64          `json:"maxOutputTokens"`
	Stop        []string        `json:"stopSequences"`
}

var (
	geminiFields = fields(`systemInstruction contents tools toolConfig generationConfig safetySettings cachedContent labels
		serviceTier store continuationToken`)
	geminiGenerationFields = fields(`responseMimeType responseSchema responseJsonSchema temperature topP topK candidateCount
		maxOutputTokens seed stopSequences presencePenalty frequencyPenalty responseLogprobs logprobs thinkingConfig
		responseModalities speechConfig mediaResolution imageConfig audioTranscriptionConfig enableEnhancedCivicAnswers`)
)

func (gemini) read(r *http.Request, data []byte) (Ask, *Failure) {
	_, call, _ := strings.Cut(r.URL.EscapedPath(), "/models/")
	model, method, ok := strings.Cut(call, ":")
	if !ok || method != "generateContent" && method != "streamGenerateContent" {
		return Ask{}, notFound(r)
	}
	model, _ = url.PathUnescape(model)
	var q geminiRequest
	if f := decode(data, &q, geminiFields); f != nil {
		return Ask{}, f
	}
	var g geminiGeneration
	if len(q.Generation) > 0 {
		if f := decode(q.Generation, &g, geminiGenerationFields); f != nil {
			return Ask{}, f
		}
	}
	if len(q.Contents) == 0 {
		return Ask{}, badRequest("contents: required")
	}
	a := Ask{
		Model: model, System: q.System.text(), Stream: method == "streamGenerateContent", Temperature: g.Temperature.String(),
		MaxOutputTokens: g.MaxTokens, Stop: g.Stop, Schema: g.Schema,
	}
	if a.Schema == nil {
		a.Schema = g.OpenAPI
	}
	for _, c := range q.Contents {
		a.User = join(a.User, c.text())
	}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			a.Tools = append(a.Tools, f.Name)
			if a.Schema == nil {
				a.Schema = f.Schema
			}
			if a.Schema == nil {
				a.Schema = f.OpenAPI
			}
		}
	}
	a.ToolForced = len(a.Tools) > 0 && q.ToolConfig.Calling.Mode == "ANY"
	return a, nil
}

func (c geminiContent) text() string {
	var all strings.Builder
	for _, p := range c.Parts {
		all.WriteString(p.Text)
	}
	return all.String()
}

var geminiFinish = map[Finish]string{
	FinishStop: "STOP", FinishTool: "STOP", FinishLength: "MAX_TOKENS", FinishFilter: "SAFETY", FinishRefusal: "SAFETY",
}

func (gemini) reply(a Ask, m Message) Reply {
	usage := m.stated(object{"promptTokenCount": m.Input, "candidatesTokenCount": m.Output, "totalTokenCount": m.total()})
	whole := func(candidate object) object {
		return object{"candidates": []any{candidate}, "usageMetadata": usage, "modelVersion": m.Model, "responseId": m.ID}
	}
	if m.Blocked { // a blocked prompt has no candidates at all
		blocked := compact(object{"promptFeedback": object{"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage, "modelVersion": m.Model, "responseId": m.ID})
		if a.Stream {
			return stream([]Piece{{Data: string(blocked), Finish: true}})
		}
		return body(http.StatusOK, blocked)
	}
	var parts []any
	if m.Reasoning != "" {
		parts = append(parts, object{"text": m.Reasoning, "thought": true})
	}
	if !a.Stream {
		if m.Text != "" {
			parts = append(parts, object{"text": m.Text})
		}
		for _, c := range m.Calls {
			parts = append(parts, geminiCall(c))
		}
		return body(http.StatusOK, compact(whole(geminiCandidate(parts, m.end(geminiFinish)))))
	}
	var events []Piece
	say := func(part object) {
		events = append(events, Piece{Data: string(compact(whole(geminiCandidate([]any{part}, "")))), Delta: true})
	}
	for _, p := range parts {
		say(p.(object))
	}
	for _, part := range m.pieces(m.Text) {
		say(object{"text": part})
	}
	for _, c := range m.Calls {
		say(geminiCall(c))
	}
	return stream(append(events, Piece{Data: string(compact(whole(geminiCandidate([]any{object{"text": ""}}, m.end(geminiFinish))))), Finish: true}))
}

func geminiCandidate(parts []any, finish string) object {
	c := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if parts == nil {
		c["content"] = object{"role": "model"}
	}
	if finish != "" {
		c["finishReason"] = finish
	}
	return c
}

func geminiCall(c ToolCall) object {
	return object{"functionCall": object{"id": c.ID, "name": c.Name, "args": value(c.Arguments)}}
}

var geminiErrors = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

func (gemini) failure(f Failure) Reply {
	details := []any{}
	if f.RetryAfter != "" {
		details = append(details, object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f.RetryAfter + "s"})
	}
	reply := body(f.Status, compact(object{"error": object{"code": f.Status, "message": f.Message, "status": geminiStatus(f), "details": details}}))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (gemini) broken(f Failure) Piece {
	return Piece{Data: string(compact(object{"error": object{"code": 503, "message": f.Message, "status": "UNAVAILABLE"}}))}
}

func geminiStatus(f Failure) string {
	if s := geminiErrors[f.Status]; s != "" {
		return s
	}
	return "UNKNOWN"
}
