package providers

import (
	"net/http"
	"time"
)

// Reach says how far a request got. It decides between "not sent" and
// "unknown", so it is never guessed upwards: what cannot be proved unsent is
// ReachSent.
type Reach string

const (
	// ReachNotSent: no byte of the HTTP request can have left (refused, DNS,
	// dial time-out, TLS handshake). A new attempt is safe.
	ReachNotSent Reach = "not_sent"
	// ReachSent: at least a part of the request may have arrived.
	ReachSent Reach = "sent"
)

// End says how a response body ended after its last byte.
type End string

const (
	EndEOF          End = "eof"          // clean close of a complete message
	EndReset        End = "reset"        // connection reset
	EndUnterminated End = "unterminated" // closed before the framing said so
	EndStall        End = "stall"        // nothing more until the client gave up
	EndNone         End = "none"         // there was no response at all
)

// Chunk is one read from the wire.
type Chunk struct {
	Offset int           `json:"offset"` // of its first byte in Transcript.Body
	Length int           `json:"length"` // bytes
	At     time.Duration `json:"-"`      // since the request was begun
}

// Transcript is all that came back for one request: raw, unrepaired, with the
// timing of each chunk. Status is 0 when no status line arrived.
type Transcript struct {
	Protocol Protocol
	Request  Request
	Reach    Reach
	Status   int
	Header   http.Header
	Body     []byte // of streams too: the bytes as received, after content decoding
	Chunks   []Chunk
	End      End
	Err      error // the transport's error, for logs; never decides a verdict alone
	Duration time.Duration

	// Served and Refused come from the profile of the route: further model ids
	// that may be named, and statuses of requests shed before execution.
	Served  []string
	Refused []int
	// Limit names the bound that was hit while reading the answer ("oversize",
	// "encoding"); empty where none was. Such an answer is finished, but unusable.
	Limit string
	// Leaked says that the answer repeated the API key; it is blotted out.
	Leaked bool
}
