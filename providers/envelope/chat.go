package envelope

import "github.com/interlock-harness/interlock/providers"

// NamedTool requires the one tool of a request by its name, in the words of OpenAI
// Chat Completions and of those that speak its dialect; or leaves the call to the
// model where the request does ("auto").
func NamedTool(r providers.Request) any {
	if r.ToolOptional {
		return "auto"
	}
	named := toolChoice{Type: "function"}
	named.Function.Name = r.ToolName
	return named
}

type toolChoice struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// StreamOptions asks a stream of that dialect for its token counts, which it
// leaves out by itself.
type StreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// StreamUsage is nil for a request without a stream.
func StreamUsage(r providers.Request) *StreamOptions {
	if !r.Stream {
		return nil
	}
	return &StreamOptions{IncludeUsage: true}
}
