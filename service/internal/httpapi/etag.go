package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// etag of a job: its version, which only completion and cancellation raise, and
// the number of its newest event, which every move raises.
func etag(version, event int64) string {
	return fmt.Sprintf(`"%d-%d"`, version, event)
}

// ifMatch reads the condition of a change: one strong tag, either as a job's
// ETag gave it or its version alone (`"1"`). A weak tag never matches.
func ifMatch(h http.Header) (*job.Match, error) {
	lines := h.Values("If-Match")
	if len(lines) == 0 {
		return nil, nil
	}
	malformed := refuse(headerInvalid, "If-Match takes one entity tag of the job, in quotes")
	if len(lines) > 1 {
		return nil, malformed
	}
	text, weak := strings.CutPrefix(lines[0], "W/")
	opaque, ok := unquoteTag(text)
	if !ok {
		return nil, malformed
	}
	if weak {
		return nil, refuse(versionMismatch, "a weak entity tag cannot guard a change")
	}
	version, event, both := strings.Cut(opaque, "-")
	m := job.Match{}
	if m.Version, ok = positive(version); !ok {
		return nil, refuse(versionMismatch, "this is no entity tag of a job")
	}
	if both {
		if m.Event, ok = positive(event); !ok {
			return nil, refuse(versionMismatch, "this is no entity tag of a job")
		}
	}
	return &m, nil
}

// positive reads 1, 2, ... in plain digits.
func positive(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == s
}

func unquoteTag(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	return s, !strings.ContainsAny(s, "\" \t,")
}

// notModified reports whether If-None-Match names tag. Weak comparison, a list
// and `*` are legal there.
func notModified(h http.Header, tag string) (bool, error) {
	for _, line := range h.Values("If-None-Match") {
		for item := range strings.SplitSeq(line, ",") {
			item = strings.TrimSpace(item)
			if item == "*" {
				return true, nil
			}
			text, _ := strings.CutPrefix(item, "W/")
			if _, ok := unquoteTag(text); !ok {
				return false, refuse(headerInvalid, "If-None-Match takes entity tags in quotes")
			}
			if text == tag {
				return true, nil
			}
		}
	}
	return false, nil
}

// cached answers v with its tag, or 304 where the client has it already.
func (c *call) cached(tag string, v any) error {
	h := c.w.Header()
	h.Set("Etag", tag)
	h.Set("Cache-Control", "private, no-cache") // may be kept, must be asked about
	fresh, err := notModified(c.r.Header, tag)
	if err != nil {
		h.Del("Etag")
		return err
	}
	if fresh {
		c.status = http.StatusNotModified
		c.w.WriteHeader(c.status)
		return nil
	}
	return c.answer(http.StatusOK, v)
}
