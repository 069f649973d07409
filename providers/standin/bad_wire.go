package standin

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Faults of the wire: statuses, envelopes, streams.
var wireFaults = []Fault{
	{Name: "html-200", Reply: func(_ Ask, _ Message, r *Reply) {
		r.Stream = false
		r.Header = http.Header{"Content-Type": {"text/html; charset=utf-8"}}
		r.Pieces = []Piece{{Raw: []byte("<!doctype html><title>Welcome</title><p>Please sign in.")}}
	}},
	{Name: "trailing-bytes", Reply: func(_ Ask, _ Message, r *Reply) {
		if !r.Stream {
			r.Pieces = append(r.Pieces, Piece{Raw: []byte("\n{}")})
		}
	}},
	{Name: "body-not-utf8", Reply: func(_ Ask, _ Message, r *Reply) {
		if !r.Stream {
			r.Pieces[0].Raw = bytes.Replace(r.Pieces[0].Raw, []byte("{"), []byte("{\"note\":\"caf\xe9\","), 1)
		}
	}},
	{Name: "error-as-content", Failure: func(f Failing, r *Reply) {
		if f.Failure.Status == http.StatusBadRequest && f.Failure.unknown == nil {
			*r = f.Render(Message{ID: "standin-error", Model: f.Ask.Model, Text: "Error: " + f.Failure.Message, Finish: FinishStop})
		}
	}},
	{Name: "error-without-shape", Failure: func(f Failing, r *Reply) {
		if f.Failure.Status == http.StatusBadRequest {
			r.Pieces = []Piece{{Raw: []byte("{\"ok\":false}")}}
		}
	}},
	{Name: "no-request-id", NoRequestID: true},
	{Name: "429-no-hint", Failure: func(f Failing, r *Reply) {
		if f.Failure.Status == http.StatusTooManyRequests {
			r.Header.Del("Retry-After")
		}
	}},
	{Name: "429-hint-unusable", Failure: func(f Failing, r *Reply) {
		if f.Failure.Status == http.StatusTooManyRequests {
			r.Header.Set("Retry-After", "-1")
		}
	}},
	{Name: "529-as-400", Failure: func(f Failing, r *Reply) {
		if f.Failure.Status >= 500 {
			r.Status = http.StatusBadRequest
		}
	}},
	{Name: "sse-error-after-200", Broken: func(a Ask, whole Reply) *Reply {
		cut, deltas := whole, 0
		cut = cut.without(func(p Piece) bool { // half of the answer, then an end as if it were whole
			if p.Delta {
				deltas++
			}
			return p.Delta && deltas > 2
		})
		return &cut
	}},
	{Name: "eof-no-done", Reply: func(_ Ask, _ Message, r *Reply) {
		if r.Stream {
			*r = r.without(func(p Piece) bool { return p.Finish || p.Marker })
		}
	}},
	{Name: "ping-as-data", Reply: func(_ Ask, _ Message, r *Reply) {
		if r.Stream && len(r.Pieces) > 2 {
			ping := Piece{Raw: []byte("data: ping\n\n")}
			if r.Pieces[0].Line {
				ping = Piece{Raw: []byte("ping\n")}
			}
			r.Pieces = append([]Piece{r.Pieces[0], ping}, r.Pieces[1:]...)
		}
	}},
	{Name: "stall-mid-json", Every: 40, Script: func(a Ask) *Answer {
		if a.Play != "" {
			return nil
		}
		return &Answer{Cut: &Point{Bytes: 200}, CutBy: CutStall}
	}},
	{Name: "ignores-cancel", Script: func(a Ask) *Answer {
		if Situation(a.Play) != PlayCancel {
			return nil
		}
		return &Answer{Cut: &Point{Bytes: 64}, CutBy: CutStall, Deaf: true}
	}},
	{Name: "slow-start", Every: 4, Script: func(a Ask) *Answer {
		if a.Play != "" {
			return nil
		}
		return &Answer{Delay: 60 * time.Millisecond}
	}},
	{Name: "echoes-auth-header", Reply: func(a Ask, _ Message, r *Reply) {
		if a.key != "" {
			r.Header.Set("X-Debug-Request", "authorization="+a.key)
		}
	}},
	{Name: "report-injection", Failure: func(f Failing, r *Reply) {
		if f.Failure.Status == http.StatusBadRequest {
			r.replace("the body is not a JSON object", `\u001b[2J\u001b]0;certified\u0007<script>alert(1)</script>`)
		}
	}},
	{Name: "drops-parameters", AnyField: true},
	{Name: "lossy-adapter", Store: func(answer []byte) []byte { // through a value and back: other spaces, other order
		var v any
		if json.Unmarshal(answer, &v) != nil {
			return answer
		}
		return compact(v)
	}},
	{Name: "fingerprint-rotates", Message: func(a Ask, m *Message) {
		m.Build = "fp_standin_" + string('1'+rune(a.Call%3))
	}},
	{Name: "utf8-split", Message: func(a Ask, m *Message) {
		if a.Stream {
			rewrite(splitCharacters)(a, m)
		}
	}},
	{Name: "stream-drops-last-delta", Reply: func(_ Ask, _ Message, r *Reply) {
		if !r.Stream {
			return
		}
		last := -1
		for i, p := range r.Pieces {
			if p.Delta {
				last = i
			}
		}
		n := -1
		*r = r.without(func(Piece) bool { n++; return n == last })
	}},
}

// splitCharacters decodes text in chunks of seven bytes, each by itself, as a
// server does that forgets that a character may lie across two chunks.
func splitCharacters(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(7, len(text))
		b.WriteString(strings.ToValidUTF8(text[:n], "\uFFFD"))
		text = text[n:]
	}
	return b.String()
}
