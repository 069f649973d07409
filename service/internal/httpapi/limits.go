package httpapi

import (
	"time"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Limits bounds what one request may cost. The zero value is not usable; start
// from DefaultLimits.
type Limits struct {
	Target      int           // bytes of the request target
	Headers     int           // bytes of the header block
	HeaderLines int           // lines of the header block
	Body        int64         // bytes of a request body
	Certificate int64         // bytes of a certificate
	HeaderTime  time.Duration // from the first byte of a request to the end of its headers
	BodyTime    time.Duration // from the end of the headers to the end of the body
	WriteTime   time.Duration // for one answer, or one event of a stream
	IdleTime    time.Duration // between two requests of one connection
	StoreTime   time.Duration // for the statements of one request
	WaitTime    time.Duration // the longest Prefer: wait
	Deadline    time.Duration // the longest deadline_ms
	Streams     int           // open event streams of one owner
	Rate        float64       // submits and starts of one owner, a second
	Burst       int           // and at once
	JSON        strictjson.Limits
}

// DefaultLimits are the documented ones.
func DefaultLimits() Limits {
	return Limits{
		Target:      4 << 10,
		Headers:     16 << 10,
		HeaderLines: 100,
		Body:        1 << 20,
		Certificate: 256 << 10,
		HeaderTime:  5 * time.Second,
		BodyTime:    15 * time.Second,
		WriteTime:   15 * time.Second,
		IdleTime:    60 * time.Second,
		StoreTime:   10 * time.Second,
		WaitTime:    60 * time.Second,
		Deadline:    10 * time.Minute,
		Streams:     1000,
		Rate:        2000,
		Burst:       4000,
		JSON:        strictjson.Defaults,
	}
}
