// Package recording keeps what a provider answered, so that it can be played again
// byte for byte and gap for gap: every status, the headers of a short list, the
// body, and when each piece of it came.
//
// A recording lies in a folder PROFILE/CASE/N of four files. Nothing that is secret
// or personal is written: headers outside the list never are, and an answer that
// looks as if it held a credential is refused as a whole. What is read is not
// believed: paths stay below the folder, sizes and times are bounded.
package recording

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

// Recording is one answer and the request that it answers.
type Recording struct {
	Meta
	Header http.Header
	Body   []byte
	Chunks []providers.Chunk
}

// Meta says what was asked. Together the fields from Probe to Stream name the
// request within a plan.
type Meta struct {
	Version  int                `json:"version"` // of this format
	Profile  string             `json:"profile"`
	Protocol providers.Protocol `json:"protocol"`
	Model    string             `json:"model"`
	Contract string             `json:"contract"` // id@version
	Probe    string             `json:"probe"`
	Case     string             `json:"case"` // the name of its folder
	Label    string             `json:"label"`
	Repeat   int                `json:"repeat"`
	Mode     providers.Mode     `json:"mode"`
	Stream   bool               `json:"stream"`
	Request  string             `json:"request_sha256"` // of the body that was sent
	Status   int                `json:"status"`         // 0 where no answer came
	End      providers.End      `json:"end"`
	Recorded string             `json:"recorded"` // RFC 3339, UTC
	Redacted bool               `json:"redacted"` // something was made unreadable, byte for byte
}

// Version of the format.
const Version = 1

// Bounds of a recording.
const (
	maxBytes  = 16 << 20 // of all its files
	maxChunks = 100_000
	maxAge    = time.Hour // from the request to the last byte
	maxSmall  = 64 << 10  // of meta.json and the headers
)

// Error is what is wrong with a recording, in one sentence, and in which file.
type Error struct{ File, Text string }

func (e *Error) Error() string { return e.File + ": " + e.Text }

// ErrSecret is the error of an answer that looks as if it held a credential. Its
// text says where, never what.
var ErrSecret = errors.New("it looks as if it held a credential")

// Key names a request within a plan.
type Key struct {
	Probe, Label string
	Repeat       int
	Mode         providers.Mode
	Stream       bool
}

// Key of the recording.
func (m Meta) Key() Key { return Key{m.Probe, m.Label, m.Repeat, m.Mode, m.Stream} }

// Of makes a recording of a transcript. The headers that are not on the list are
// left out, personal data is made unreadable, and an answer with a credential in
// it is refused with ErrSecret.
func Of(m Meta, t providers.Transcript, request []byte, at time.Time) (Recording, error) {
	m.Version, m.Protocol, m.Model = Version, t.Protocol, t.Request.Model
	m.Mode, m.Stream, m.Status, m.End = t.Request.Mode, t.Request.Stream, t.Status, t.End
	m.Recorded, m.Redacted, m.Request = at.UTC().Format(time.RFC3339), t.Leaked, hash(request)
	r := Recording{Meta: m, Header: listed(t.Header), Body: t.Body, Chunks: t.Chunks}
	if place := Secret(r.Header, r.Body); place != "" {
		return r, fmt.Errorf("case %s: %s: %w", m.Label, place, ErrSecret)
	}
	masked, changed := mask(r.Body, request)
	r.Body, r.Redacted = masked, r.Redacted || changed
	return r, r.check("")
}

// kept are the headers that say something about an answer and nothing about who
// asked, in canonical form.
var kept = map[string]bool{
	"Content-Type": true, "Retry-After": true, "Retry-After-Ms": true, "X-Should-Retry": true, "Date": true,
	"X-Request-Id": true, "Request-Id": true, "X-Amzn-Requestid": true, "X-Amzn-Errortype": true,
	"Openai-Version": true, "Openai-Processing-Ms": true,
}

func listed(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		if c := http.CanonicalHeaderKey(name); kept[c] {
			out[c] = append(out[c], values...)
		}
	}
	return out
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,63}$`)

// check holds for every recording, written or read.
func (r Recording) check(file string) error {
	fail := func(format string, args ...any) error { return &Error{file, fmt.Sprintf(format, args...)} }
	switch {
	case r.Version != Version:
		return fail("version %d of the format is not known", r.Version)
	case !nameForm.MatchString(r.Profile) || !nameForm.MatchString(r.Case):
		return fail("profile and case are names of small letters, digits, dots, hyphens and underscores")
	case r.Status != 0 && (r.Status < 100 || r.Status > 599):
		return fail("status %d is none", r.Status)
	case r.End != providers.EndEOF && r.End != providers.EndReset && r.End != providers.EndUnterminated && r.End != providers.EndStall && r.End != providers.EndNone:
		return fail("end %.40q is none of eof, reset, unterminated, stall and none", r.End)
	case r.Repeat < 1:
		return fail("repeat %d: they count from 1", r.Repeat)
	case len(r.Chunks) > maxChunks:
		return fail("more than %d chunks", maxChunks)
	case len(r.Body) > maxBytes:
		return fail("more than %d bytes", maxBytes)
	}
	for name, values := range r.Header {
		if !kept[http.CanonicalHeaderKey(name)] {
			return fail("header %.60q is not on the list of those that are kept", name)
		}
		for _, v := range values {
			if !headerValue.MatchString(v) {
				return fail("header %s holds a control character", name)
			}
		}
	}
	return r.checkChunks(fail)
}

var headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)

// checkChunks makes sure that the chunks are the body, piece after piece, and that
// time goes forward.
func (r Recording) checkChunks(fail func(string, ...any) error) error {
	at, last := 0, time.Duration(0)
	for i, c := range r.Chunks {
		switch {
		case c.Offset != at || c.Length <= 0 || c.Length > len(r.Body)-at:
			return fail("chunk %d does not begin where the one before it ends, or goes past the body", i+1)
		case c.At < last || c.At > maxAge:
			return fail("chunk %d comes before the one before it, or after more than %s", i+1, maxAge)
		}
		at, last = at+c.Length, c.At
	}
	if at != len(r.Body) {
		return fail("the chunks hold %d bytes, the body %d", at, len(r.Body))
	}
	return nil
}
