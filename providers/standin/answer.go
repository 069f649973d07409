package standin

import "time"

// Answer is a script for one call. The zero Answer is the good answer.
type Answer struct {
	Text       string            // what the model says: its output, usually one JSON document
	Message    func(*Message)    // changes the answer before it takes the form of the protocol
	Reply      func(*Reply)      // changes it afterwards
	Status     int               // an error response of the protocol with this status ...
	Code       string            // ... its code or type, ...
	ErrorText  string            // ... its message, ...
	RetryAfter string            // ... and its Retry-After header
	Header     map[string]string // set on the response
	Body       []byte            // the body, byte for byte
	Raw        []byte            // the whole response, status line and all, byte for byte; then the connection closes

	Delay time.Duration // before the first byte
	Drip  time.Duration // before each event of a stream, or each 64 bytes of a body

	BreakAfter   int  // stream: after so many parts of the answer an error event, then the end
	NoTerminator bool // stream: neither a finish nor the end marker, then a clean close
	CloseFramed  bool // no length and no chunks: the close of the connection ends the body

	Cut   *Point // stop there ...
	CutBy Cut    // ... in this way
	Deaf  bool   // a stall goes on although the client has gone away

	Recorded *Recorded // instead of all the rest
}

// Cut is how an answer stops short.
type Cut string

const (
	CutFIN   Cut = ""      // close the connection
	CutReset Cut = "reset" // reset it
	CutStall Cut = "stall" // say nothing more until the client goes away
)

// Failed is an answer that states an error with the given status, in the
// protocol's own shape.
func Failed(status int) Answer { return Answer{Status: status} }

// Says is an answer whose output is text.
func Says(text string) Answer { return Answer{Text: text} }

// CutAfter is a good answer that stops after n parts.
func CutAfter(n int, by Cut) Answer { return Answer{Cut: &Point{Delta: n}, CutBy: by} }

// Reset is no answer at all: the request is read and the connection reset.
func Reset() Answer { return Answer{Cut: &Point{}, CutBy: CutReset} }
