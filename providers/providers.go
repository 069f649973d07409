// Package providers says what an AI provider is to Interlock, independent of
// any wire protocol and of the network.
//
// A Request is what we ask, a Transcript is every byte of what came back, a
// Response is the neutral reading of a Transcript, and a Judgement is what that
// reading is worth under a contract. Nothing here repairs output: a provider
// whose answer needs repair is no drop-in fallback. Absent is kept apart from
// zero by pointers. The package imports the standard library only.
package providers

import "encoding/json"

// Protocol names one wire protocol.
type Protocol string

// The protocols that have an adapter.
const (
	OpenAIChat        Protocol = "openai-chat"
	OpenAIResponses   Protocol = "openai-responses"
	AnthropicMessages Protocol = "anthropic-messages"
	Gemini            Protocol = "gemini"
	MistralChat       Protocol = "mistral-chat"
	CohereChat        Protocol = "cohere-chat"
	BedrockConverse   Protocol = "bedrock-converse"
	OllamaChat        Protocol = "ollama-chat"
	VLLMChat          Protocol = "vllm-chat"
	LlamaCppChat      Protocol = "llamacpp-chat"
)

// Mode says where in a response the output is looked for.
type Mode string

const (
	// ModeJSONSchema: the text of the answer is the output.
	ModeJSONSchema Mode = "json_schema"
	// ModeTool: the arguments of the one call to the offered tool are the output.
	ModeTool Mode = "tool"
)

// Request is one call in neutral terms. A nil pointer means that the parameter
// is not sent at all.
type Request struct {
	Model           string          `json:"model"`
	System          string          `json:"system,omitempty"`
	User            string          `json:"user,omitempty"`
	Mode            Mode            `json:"mode"`
	Schema          json.RawMessage `json:"schema,omitempty"`      // JSON Schema of the output
	SchemaName      string          `json:"schema_name,omitempty"` // at most 64 characters
	ToolName        string          `json:"tool_name,omitempty"`
	ToolDescription string          `json:"tool_description,omitempty"`
	ToolOptional    bool            `json:"tool_optional,omitempty"` // mode tool: the model decides whether to call
	Stream          bool            `json:"stream"`
	Temperature     *json.Number    `json:"temperature,omitempty"`
	MaxOutputTokens *int64          `json:"max_output_tokens,omitempty"`
	Seed            *int64          `json:"seed,omitempty"`
	Stop            []string        `json:"stop,omitempty"`
}
