package providers

import "encoding/json"

// Response is the neutral reading of a transcript with a 2xx status. The
// adapters fill it from one body or from the events of a stream; a field that
// the provider did not state stays at its zero value.
type Response struct {
	Model       string      // as the provider names it first; empty where it names none
	Models      []string    // all distinct names, where a stream gives more than one
	Finish      string      // the provider's own word for the end; empty when none was stated
	End         FinishClass // Finish in neutral terms
	EndMarker   bool        // the protocol's own end marker was seen ([DONE], message_stop, ...)
	Text        string      // text parts, joined; reasoning and thoughts are left out
	Calls       []ToolCall  // in the order of the envelope
	Refusal     bool        // a refusal field or part
	RefusalText string      // what it says
	Failure     *Failure    // the provider states that the request failed
	Stream      bool        // it was read as a stream of events
	Malformed   string      // a stream that breaks its protocol: what is wrong; else empty
	Unreadable  string      // the body states neither a result nor a failure: why; else empty
	Temperature *json.Number
	Usage       *Usage
	At          Places
}

// Places tells where in the answer something was read: a JSON pointer into the
// body ("/choices/0/finish_reason"), or "event 7" and a pointer into its data
// ("event 7 /choices/0/finish_reason").
type Places struct {
	Model, Finish, Output, Refusal, Malformed, Temperature, Usage string
}

// ToolCall is one call to a tool. Arguments holds the raw bytes as sent: the
// content of the JSON string where the protocol sends a string, the value
// itself where it sends a value. Encoding tells which.
type ToolCall struct {
	ID        string
	Name      string
	Arguments []byte
	Encoding  ArgumentEncoding
	Place     string // as in Places
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
	FinishOpen     FinishClass = "open"     // the provider says that the work goes on (queued, in progress)
)

// Failure is an error object that the provider sent.
type Failure struct {
	Code      string // its code or status, as text; empty where absent
	Type      string
	Message   string
	MidStream bool   // it came as an event of a stream
	Place     string // as in Places
}

// Timeout reports whether the error says that somebody stopped waiting (408,
// 504, 524): the work behind it may still go on.
func (f *Failure) Timeout() bool {
	return f.Code == "408" || f.Code == "504" || f.Code == "524"
}

// Usage holds token counts. A nil pointer is "not stated", never zero.
type Usage struct {
	Input, Output, Total *int64
}
