package standin

import (
	"net/http"

	"github.com/interlock-harness/interlock/providers"
)

// Message is what the model answers, before it takes the form of a protocol.
type Message struct {
	ID        string
	Model     string
	Build     string // the fingerprint that is stated where the protocol has a field for it
	Text      string
	Reasoning string
	Refusal   string
	Blocked   bool // a filter left nothing of the answer
	Calls     []ToolCall
	Finish    Finish
	Word      string // the protocol's word for the end, where it is not the one for Finish
	Input     int64  // tokens
	Output    int64
	Extra     int64 // added to the stated total
	NoUsage   bool  // no usage is stated at all

	piece int // tokens of a piece of a stream; 0 is the usual number
}

// end is the word by which a dialect states the end.
func (m Message) end(words map[Finish]string) string {
	if m.Word != "" {
		return m.Word
	}
	return words[m.Finish]
}

// total is the stated sum of tokens.
func (m Message) total() int64 { return m.Input + m.Output + m.Extra }

// stated is usage, or null when none is to be stated.
func (m Message) stated(usage object) any {
	if m.NoUsage {
		return nil
	}
	return usage
}

// ToolCall is one call to a tool; Arguments is one JSON document.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Finish is the end of an answer in neutral words; each dialect has its own.
type Finish string

const (
	FinishStop    Finish = "stop"
	FinishTool    Finish = "tool"
	FinishLength  Finish = "length"
	FinishFilter  Finish = "filter"
	FinishRefusal Finish = "refusal"
)

// Failure is an error that the provider states.
type Failure struct {
	Status     int
	Code       string // the protocol's own word; empty takes the usual one for Status
	Message    string
	RetryAfter string // the header, empty for none

	unknown []string // parameters for which the request was refused
}

// Reply is an answer as it will stand on the wire.
type Reply struct {
	Status int
	Header http.Header
	Stream bool
	Pieces []Piece // of a stream its events, else one piece with the body
}

// Piece is one event of a stream, or a whole body.
type Piece struct {
	Event  string // name of the event, empty for none
	Data   string
	Raw    []byte // sent as it is, instead of Event and Data
	Line   bool   // Data is a line of its own (NDJSON), not an event
	Finish bool   // states how the answer ended
	Marker bool   // the end marker of the protocol
	Delta  bool   // carries part of the answer
}

func (p Piece) bytes() []byte {
	switch {
	case p.Raw != nil:
		return p.Raw
	case p.Line:
		return []byte(p.Data + "\n")
	case p.Event != "":
		return []byte("event: " + p.Event + "\ndata: " + p.Data + "\n\n")
	}
	return []byte("data: " + p.Data + "\n\n")
}

// dialect is one wire protocol, seen from the server.
type dialect interface {
	// read understands a request. A failure is what the client gets instead.
	read(r *http.Request, body []byte) (Ask, *Failure)
	// reply renders an answer.
	reply(a Ask, m Message) Reply
	// failure renders an error response.
	failure(f Failure) Reply
	// broken is the piece by which a stream states that it failed.
	broken(f Failure) Piece
}

var dialects = map[providers.Protocol]dialect{
	providers.OpenAIChat:        openAIChat{},
	providers.OpenAIResponses:   openAIResponses{},
	providers.AnthropicMessages: anthropic{},
	providers.Gemini:            gemini{},
	providers.MistralChat:       mistral{},
	providers.CohereChat:        cohere{},
	providers.BedrockConverse:   bedrock{},
	providers.OllamaChat:        ollama{},
	providers.VLLMChat:          vllm{},
	providers.LlamaCppChat:      llamaCpp{},
}

func body(status int, data []byte) Reply {
	return Reply{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json"}},
		Pieces: []Piece{{Raw: data}},
	}
}

func stream(pieces []Piece) Reply {
	return Reply{
		Status: http.StatusOK, Stream: true, Pieces: pieces,
		Header: http.Header{"Content-Type": {"text/event-stream"}, "Cache-Control": {"no-cache"}},
	}
}
