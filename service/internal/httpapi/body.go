package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// body is the one reading of a request body: raw as received, its decoded value
// and its canonical form.
type body struct {
	raw       []byte
	value     any
	canonical []byte
}

// readJSON reads the body of a request once, to its announced end, and takes it
// for strict JSON. An empty body stands for {} where optional says so.
func (c *call) readJSON(optional bool) (body, error) {
	if optional && c.r.ContentLength == 0 && len(c.r.Header.Values("Content-Type")) == 0 {
		return body{raw: []byte("{}"), value: map[string]any{}, canonical: []byte("{}")}, nil
	}
	raw, err := c.readBody(c.s.limits.Body, "application/json")
	if err != nil {
		return body{}, err
	}
	value, err := strictjson.Decode(raw, c.s.limits.JSON)
	if err != nil {
		var fault *strictjson.Error
		if errors.As(err, &fault) {
			return body{}, refuse(bodyNotJSON, fmt.Sprintf("%s (byte %d)", fault.Detail, fault.Offset))
		}
		return body{}, err
	}
	return body{raw: raw, value: value, canonical: strictjson.AppendCanonical(make([]byte, 0, len(raw)), value)}, nil
}

// readBody reads the whole body under the limits of size and time. A body that
// ends early, or whose framing is wrong, is an error and never a shorter body.
func (c *call) readBody(limit int64, mediaTypes ...string) ([]byte, error) {
	if err := checkMediaType(c.r.Header, mediaTypes); err != nil {
		return nil, err
	}
	tooLarge := refuse(bodyTooLarge, fmt.Sprintf("at most %d bytes are taken", limit))
	if c.r.ContentLength > limit {
		return nil, tooLarge // before the first byte, and before any 100 Continue
	}
	raw, err := readAll(io.LimitReader(c.r.Body, limit+1), c.r.ContentLength)
	if c.consumed = err == nil && int64(len(raw)) <= limit; c.consumed {
		// The deadline of the body would end a long wait for the answer, too. It
		// stays for a body that is not read to its end: Go's server reads on.
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	}
	switch {
	case c.s.mutant.Is(mutant.PartialBody) && errors.Is(err, io.ErrUnexpectedEOF):
		return completed(raw), nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refuse(bodyTimeout, fmt.Sprintf("the body must arrive within %s", c.s.limits.BodyTime))
	case err != nil:
		return nil, refuse(bodyUnreadable, "the body broke off, or its framing is wrong")
	case int64(len(raw)) > limit:
		return nil, tooLarge
	}
	return raw, nil
}

// readAll is io.ReadAll with room for the announced length.
func readAll(r io.Reader, announced int64) ([]byte, error) {
	raw := make([]byte, 0, max(512, min(announced, 1<<20)+1))
	for {
		n, err := r.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		if err == io.EOF {
			return raw, nil
		}
		if err != nil {
			return raw, err
		}
		if len(raw) == cap(raw) {
			raw = slices.Grow(raw, len(raw))
		}
	}
}

// boundBody gives the body of this request its time, whether a handler reads it
// or Go's server drops it after a refusal.
func (c *call) boundBody() {
	if c.r.ContentLength == 0 || c.s.mutant.Is(mutant.NoBodyDeadline) {
		return
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(c.s.limits.BodyTime))
}

// checkMediaType accepts exactly one Content-Type of the wanted ones, in UTF-8
// where a charset is named, and no content coding.
func checkMediaType(h http.Header, wanted []string) error {
	no := refuse(mediaType, "send "+strings.Join(wanted, " or ")+" in UTF-8, without a content coding")
	if len(h.Values("Content-Encoding")) > 0 {
		return no
	}
	lines := h.Values("Content-Type")
	if len(lines) != 1 {
		return no
	}
	got, params, err := mime.ParseMediaType(lines[0])
	if err != nil || !slices.Contains(wanted, got) {
		return no
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return no
		}
	}
	return nil
}
