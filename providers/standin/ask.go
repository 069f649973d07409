package standin

import (
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// Ask is one request as the stand-in understood it.
type Ask struct {
	Protocol providers.Protocol
	Call     int    // number of the call at this server, from 1
	Job      string // X-Job-Id
	Attempt  string // X-Attempt-Id
	Play     string // the situation that the certifier asks for, see Situation

	Model           string
	System          string
	User            string
	Stream          bool
	Background      bool     // the work is kept under an id, and may be asked for
	Schema          []byte   // of the output, or of the first tool's arguments
	Tools           []string // names on offer
	ToolForced      bool     // a call is required
	ToolFree        bool     // the protocol cannot require one; a good model calls where the tool may fit
	MaxOutputTokens *int64
	Temperature     string // as written, empty when absent
	Stop            []string

	key string // the API key, for faults that cannot keep it to themselves
}

// Prompt is all text of the request.
func (a Ask) Prompt() string { return a.System + "\n" + a.User }

// holds tells whether text occurs in the prompt.
func (a Ask) holds(text string) bool {
	return strings.Contains(a.User, text) || strings.Contains(a.System, text)
}

// Header names that tie a call to a job, and the one by which the certifier asks
// a stand-in to play a situation that cannot be provoked otherwise.
const (
	HeaderJob     = "X-Job-Id"
	HeaderAttempt = "X-Attempt-Id"
	HeaderPlay    = "X-Standin-Play"
)

// A Situation is something that a provider runs into by itself and that no
// request can bring about: the certifier asks a stand-in to play it.
type Situation string

const (
	PlayRateLimit Situation = "rate-limit" // too many requests, with a hint when to come back
	PlayOverload  Situation = "overload"   // shed before execution
	PlayMidStream Situation = "mid-stream" // an error event after some of the answer
	PlayRefusal   Situation = "refusal"    // the model declines
	PlayFilter    Situation = "filter"     // a filter blocks prompt or answer
	PlayStall     Situation = "stall"      // half an answer, then nothing
	PlayCancel    Situation = "cancel"     // half an answer, and the client will leave
)
