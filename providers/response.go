package providers

import "encoding/json"

// Response is the neutral reading of a transcript with a 2xx status. The
// adapters fill it from one body or from the events of a stream; a field that
// the provider did not state stays at its zero value.
type Response struct {
	Model       string      // as the provider names it; empty where it names none
	Finish      string      // the provider's own word for the end; empty when none was stated
	End         FinishClass // Finish in neutral terms
	EndMarker   bool        // the protocol's own end marker was seen ([DONE], message_stop, ...)
	Text        string      // text parts, joined; reasoning and thoughts are left out
	Calls       []ToolCall  // in the order of the envelope
	Refusal     bool        // a refusal field, part or stop reason
	Failure     *Failure    // the provider states that the request failed
	Malformed   string      // a stream that breaks its protocol: the place; else empty
	Unreadable  bool        // the body states neither a result nor a failure
	Temperature *json.Number
	Usage       *Usage
}

// ToolCall is one call to a tool. Arguments holds the raw bytes as sent: the
// content of the JSON string where the protocol sends a string, the value
// itself where it sends a value. Encoding tells which.
type ToolCall struct {
	ID        string
	Name      string
	Arguments []byte
	Encoding  ArgumentEncoding
}

// ArgumentEncoding is how arguments stand on the wire.
type ArgumentEncoding string

const (
	ArgumentsString  ArgumentEncoding = "string"
	ArgumentsObject  ArgumentEncoding = "object"
	ArgumentsInvalid ArgumentEncoding = "invalid" // not the form that the protocol prescribes
)

// FinishClass groups the finish words of all protocols.
type FinishClass string

const (
	FinishNone     FinishClass = ""         // nothing stated
	FinishNormal   FinishClass = "normal"   // a normal end of this protocol
	FinishLength   FinishClass = "length"   // a limit was reached
	FinishFilter   FinishClass = "filter"   // content filter or blocked prompt
	FinishRefusal  FinishClass = "refusal"  // stop reason refusal
	FinishBroken   FinishClass = "broken"   // the provider says that it broke off
	FinishAbnormal FinishClass = "abnormal" // any other word
)

// Failure is an error object that the provider sent.
type Failure struct {
	Code      string // its code or status, as text; empty where absent
	Type      string
	Message   string
	MidStream bool // it came as an event of a stream
}

// Usage holds token counts. A nil pointer is "not stated", never zero.
type Usage struct {
	Input, Output, Total *int64
}
