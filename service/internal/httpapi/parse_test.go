package httpapi_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
)

func hexOf(sum [32]byte) string { return hex.EncodeToString(sum[:]) }

func TestCursorIsBoundToOwnerAndFilter(t *testing.T) {
	id := job.ID(uuid.NewString())
	text := httpapi.Cursor("a", job.StatusFailed, id)
	got, err := httpapi.ParseCursor("a", job.StatusFailed, text)
	if err != nil || got != id {
		t.Fatalf("the cursor gives %q, %v", got, err)
	}
	if _, err := httpapi.ParseCursor("b", job.StatusFailed, text); err == nil {
		t.Error("another owner may use it")
	}
	if _, err := httpapi.ParseCursor("a", "", text); err == nil {
		t.Error("another filter may use it")
	}
	for i := range text {
		for _, c := range []byte("AZaz09-_=\n %") {
			changed := text[:i] + string(c) + text[i+1:]
			if changed == text {
				continue
			}
			if _, err := httpapi.ParseCursor("a", job.StatusFailed, changed); err == nil {
				t.Errorf("byte %d changed to %q passes", i, c)
			}
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add("a", "failed", httpapi.Cursor("a", job.StatusFailed, job.ID(uuid.NewString())))
	f.Add("a", "", "")
	f.Add("a", "", strings.Repeat("A", 44))
	f.Fuzz(func(t *testing.T, owner, status, text string) {
		id, err := httpapi.ParseCursor(job.Owner(owner), job.Status(status), text)
		if err != nil {
			return
		}
		if httpapi.Cursor(job.Owner(owner), job.Status(status), id) != text {
			t.Fatalf("%q is a second spelling of a cursor", text)
		}
	})
}

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owner := job.Owner(rapid.String().Draw(t, "owner"))
		id := job.ID(uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")).String())
		got, err := httpapi.ParseCursor(owner, "", httpapi.Cursor(owner, "", id))
		if err != nil || got != id {
			t.Fatalf("%q gives %q, %v", id, got, err)
		}
	})
}

func TestParseLastEventID(t *testing.T) {
	for _, tc := range []struct {
		lines []string
		want  int64 // -1: refused
	}{
		{nil, 0}, {[]string{"0"}, 0}, {[]string{"17"}, 17}, {[]string{"9223372036854775807"}, 9223372036854775807},
		{[]string{"-1"}, -1}, {[]string{"abc"}, -1}, {[]string{""}, -1}, {[]string{"1.0"}, -1}, {[]string{"01"}, -1}, {[]string{"+1"}, -1},
		{[]string{"9223372036854775808"}, -1}, {[]string{"1", "2"}, -1}, {[]string{" 1"}, -1}, {[]string{"1e3"}, -1},
	} {
		got, err := httpapi.ParseLastEventID(http.Header{"Last-Event-Id": tc.lines})
		if (err != nil) != (tc.want < 0) || err == nil && got != tc.want {
			t.Errorf("%q gives %d, %v; want %d", tc.lines, got, err, tc.want)
		}
	}
}

func FuzzParseLastEventID(f *testing.F) {
	for _, seed := range []string{"0", "17", "-1", "abc", "01", "+1", "", "9223372036854775808", " 1", "1\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		n, err := httpapi.ParseLastEventID(http.Header{"Last-Event-Id": {line}})
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("%q gives %d", line, n)
		}
		for _, c := range line {
			if c < '0' || c > '9' {
				t.Fatalf("%q is taken for %d", line, n)
			}
		}
	})
}
