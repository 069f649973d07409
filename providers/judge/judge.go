// Package judge says what one answer of a provider is worth under a contract.
//
// A transcript is read in thirteen steps, in this order, and the first that fails
// gives the verdict:
//
//	1 status          5 cut streams     9 parameters       13 schema, rules
//	2 body            6 refusals       10 output as text
//	3 stated errors   7 the end        11 output as a call
//	4 streams         8 the model      12 exactly one JSON value
//
// How a connection ended never outweighs an end that the provider stated; where
// none was stated, anything but a stated failure is unknown, and unknown is never
// a failure. Nothing is repaired. Unknown fields, parts and events are passed
// over.
package judge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/wire"
)

// Judge reads t under contract c. k is the case that was asked: its input and its
// reference are what rules compare with; either may be missing, and so may k.
func Judge(c *contract.Contract, k *contract.Case, t providers.Transcript) providers.Judgement {
	if j, done := status(t); done {
		return j
	}
	r := wire.Decode(t)
	return Response(c, k, t, &r)
}

// Response is Judge for an answer with a 2xx status that is already decoded.
func Response(c *contract.Contract, k *contract.Case, t providers.Transcript, r *providers.Response) providers.Judgement {
	steps := []func(providers.Transcript, *providers.Response) (providers.Judgement, bool){
		limits, body, statedErrors, stream, refusal, end, model, parameters,
	}
	for _, step := range steps {
		if j, done := step(t, r); done {
			return j
		}
	}
	return output(c, k, t, r)
}

func found(v providers.Verdict, reason, place, format string, args ...any) (providers.Judgement, bool) {
	return providers.Judgement{Verdict: v, Reason: reason, Place: plain(place), Detail: plain(fmt.Sprintf(format, args...))}, true
}

func next() (providers.Judgement, bool) { return providers.Judgement{}, false }

// Unclear are statuses of gateways that stopped waiting.
var timeouts = []int{http.StatusRequestTimeout, http.StatusGatewayTimeout, 524}

// status is step 1. Statuses that no server should answer a POST with (below 200,
// 206, 304, from 600 on) say nothing about the request.
func status(t providers.Transcript) (providers.Judgement, bool) {
	s := t.Status
	place := "status " + strconv.Itoa(s)
	switch {
	case t.Reach == providers.ReachNotSent:
		return found(providers.DefiniteFailure, "error.not_sent", "", "no byte of the request has left")
	case s == 0:
		return found(providers.Unknown, "unknown.no_answer", "", "the request was sent and no answer came (%s)", t.End)
	case slices.Contains(t.Refused, s):
		return found(providers.DefiniteFailure, "error.rejected", place, "the profile says that the provider refuses with this status before execution")
	case slices.Contains(timeouts, s):
		return found(providers.Unknown, "unknown.upstream_timeout", place, "somebody stopped waiting; the work may still go on")
	case s < 200 || s == http.StatusPartialContent || s == http.StatusNotModified || s >= 600:
		return found(providers.Unknown, "unknown.unreadable_body", place, "the status says nothing about the request")
	case s < 300:
		return next()
	case s < 500:
		return found(providers.DefiniteFailure, "error.rejected", place, "the request was refused%s", said(wire.Failure(t)))
	}
	f := wire.Failure(t)
	switch {
	case f == nil:
		return found(providers.Unknown, "unknown.unreadable_body", place, "the answer comes without an error object and does not say what became of the request")
	case s == 529:
		return found(providers.DefiniteFailure, "error.rejected", place, "the provider shed the request before execution%s", said(f))
	case s == http.StatusServiceUnavailable && retryAfter(t.Header):
		return found(providers.DefiniteFailure, "error.rejected", "header Retry-After", "the provider shed the request before execution%s", said(f))
	}
	return found(providers.Unknown, "unknown.upstream_error", place, "the provider failed and does not say whether the work goes on%s", said(f))
}

func said(f *providers.Failure) string {
	if f == nil || f.Message == "" && f.Type == "" {
		return ""
	}
	text := f.Message
	if text == "" {
		text = f.Type
	}
	return ": " + strconv.QuoteToASCII(cut(text, 128))
}

// retryAfter reports whether the header holds a number of seconds or a date. What
// cannot be read says nothing.
func retryAfter(h http.Header) bool {
	for _, v := range h.Values("Retry-After") {
		v = strings.TrimSpace(v)
		digits := v != "" && strings.Trim(v, "0123456789") == ""
		if _, err := http.ParseTime(v); err == nil || digits {
			return true
		}
	}
	return false
}

// limits: an answer that was too much to be read is finished, and useless.
func limits(t providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	switch {
	case t.Limit != "":
		return found(providers.Reject, "envelope."+t.Limit, "body", "the answer was not read to its end: %s", t.Limit)
	case r.Malformed == envelope.TooLong:
		return found(providers.Reject, "envelope.oversize", at(r.At.Malformed), "%s", r.Malformed)
	}
	return next()
}

// body is step 2.
func body(_ providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	if r.Unreadable == "" {
		return next()
	}
	return found(providers.Unknown, "unknown.unreadable_body", "body", "the body states neither a result nor a failure: %s", r.Unreadable)
}

// statedErrors is step 3, and that part of step 4 that is about failures.
func statedErrors(_ providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	f := r.Failure
	switch {
	case f == nil:
		return next()
	case f.Timeout():
		return found(providers.Unknown, "unknown.upstream_timeout", at(f.Place), "somebody stopped waiting (code %s); the work may still go on%s", f.Code, said(f))
	case f.MidStream:
		return found(providers.DefiniteFailure, "error.mid_stream", at(f.Place), "the provider states a failure in the stream%s", said(f))
	}
	return found(providers.DefiniteFailure, "error.in_body", at(f.Place), "the provider states a failure%s", said(f))
}

// stream is steps 4 and 5. A stream that nothing ended is cut, whatever else is
// wrong with it: its work may still go on.
func stream(t providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	ended := r.EndMarker || r.End != providers.FinishNone && r.End != providers.FinishOpen
	broken := t.End == providers.EndReset || t.End == providers.EndUnterminated || t.End == providers.EndStall
	switch {
	case !ended && (r.Stream || broken):
		return found(providers.Unknown, "unknown.cut_stream", "end of body", "neither a finish reason nor the end marker came (%s)", endOf(t))
	case r.Malformed != "":
		return found(providers.Reject, "envelope.malformed_stream", at(r.At.Malformed), "%s", r.Malformed)
	}
	return next()
}

func endOf(t providers.Transcript) string {
	if t.End == "" {
		return string(providers.EndEOF)
	}
	return string(t.End)
}

// refusal is step 6.
func refusal(_ providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	switch {
	case r.Refusal:
		return found(providers.Reject, "stop.refusal", at(r.At.Refusal), "the model declined: %s", strconv.QuoteToASCII(cut(r.RefusalText, 128)))
	case r.End == providers.FinishRefusal:
		return found(providers.Reject, "stop.refusal", at(r.At.Finish), "the model declined")
	}
	return next()
}

// end is step 7.
func end(_ providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	word := strconv.QuoteToASCII(cut(r.Finish, 64))
	switch r.End {
	case providers.FinishNormal:
		return next()
	case providers.FinishLength:
		return found(providers.Reject, "stop.length", at(r.At.Finish), "the provider stopped at a limit: %s", word)
	case providers.FinishFilter:
		return found(providers.Reject, "stop.content_filter", at(r.At.Finish), "prompt or answer was filtered: %s", word)
	case providers.FinishNone:
		return found(providers.Reject, "envelope.missing_finish", "body", "no end is stated, so it is not known whether the answer is whole")
	case providers.FinishOpen:
		return found(providers.Unknown, "unknown.unreadable_body", at(r.At.Finish), "the provider says that the work goes on: %s", word)
	}
	return found(providers.Reject, "stop.abnormal", at(r.At.Finish), "%s is no normal end of this protocol", word)
}

// parameters is step 9.
func parameters(t providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	if most := t.Request.MaxOutputTokens; most != nil && r.Usage != nil && r.Usage.Output != nil && *r.Usage.Output > *most {
		return found(providers.Reject, "param.ignored", at(r.At.Usage), "%d output tokens are stated, the cap was %d", *r.Usage.Output, *most)
	}
	sent, echo := t.Request.Temperature, r.Temperature
	if sent != nil && echo != nil && !equalNumbers(*sent, *echo) {
		return found(providers.Reject, "param.ignored", at(r.At.Temperature), "temperature %s was sent, %s is echoed", *sent, cut(string(*echo), 64))
	}
	return next()
}

// at names a place of the body; places in events name themselves.
func at(place string) string {
	if strings.HasPrefix(place, "event ") {
		return place
	}
	return strings.TrimSpace("body " + place)
}

// plain makes text from outside safe to show: what is invisible or steers a
// terminal is escaped, what is long is cut.
func plain(s string) string {
	s = cut(s, 320)
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return strings.Trim(strconv.QuoteToGraphic(s), `"`)
		}
	}
	return s
}

func cut(s string, most int) string {
	if len(s) <= most {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

func reject(reason, place, format string, args ...any) providers.Judgement {
	j, _ := found(providers.Reject, reason, place, format, args...)
	return j
}

func accept(out []byte) providers.Judgement {
	return providers.Judgement{Verdict: providers.Accept, Reason: "ok", Output: json.RawMessage(out)}
}
