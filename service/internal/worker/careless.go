package worker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// What the mutants of the worker do. With the clean worker each of these returns
// at once and changes nothing.

// passed receives when the soft deadline has passed.
func (w *Worker) passed(soft *time.Timer) <-chan time.Time {
	if w.options.Mutant.Is(mutant.AnyByteRearms) {
		return nil // the connection lives, so the provider must be at work
	}
	return soft.C
}

// sendsAgain is what a client library with retries of its own does. The clean
// service never does: one attempt is one request.
func (w *Worker) sendsAgain(t providers.Transcript, err error) bool {
	return w.options.Mutant.Is(mutant.HiddenRetries) && err == nil && (t.Status == 0 || t.Status == 429 || t.Status >= 500)
}

// asksAgain is what somebody does who wants another answer in the same attempt.
func (w *Worker) asksAgain(ctx context.Context, j providers.Judgement, again int) bool {
	switch {
	case j.Verdict != providers.Reject || ctx.Err() != nil:
		return false
	case w.options.Mutant.Is(mutant.RejectedIsAskedForEver):
		return true
	}
	return again == 0 && w.options.Mutant.Is(mutant.SecondCallOnReject)
}

// misread turns what a call came to round.
func (w *Worker) misread(a *answered, t providers.Transcript) {
	is, kind := w.options.Mutant.Is, a.outcome.kind
	take := func(output []byte) {
		a.outcome, a.output = outcome{kind: accepted, reason: "ok"}, output
	}
	streamed := t.Status == http.StatusOK && kind == unknown
	switch {
	case is(mutant.ResetIsNotSent) && kind == unknown && t.Status == 0:
		a.outcome = outcome{kind: notSent, reason: "not_sent.reset"}
	case is(mutant.ServerErrorIsRefused) && kind == unknown && t.Status >= 500:
		a.outcome = outcome{kind: refused, reason: statusReason(t.Status)}
	case is(mutant.HardLimitIsFailure) && kind == unknown && errors.Is(t.Err, context.DeadlineExceeded):
		a.outcome = outcome{kind: refused, reason: "refused.too_slow"}
	case is(mutant.HandshakeTimeoutIsFailure) && kind == notSent && errors.Is(t.Err, context.DeadlineExceeded):
		a.outcome = outcome{kind: refused, reason: "refused.timeout"}
	case is(mutant.ReadErrorDiscards) && kind == accepted && t.Err != nil:
		a.outcome = outcome{kind: rejected, reason: "rejected.connection"}
	case is(mutant.PartialStreamIsResult) && streamed && !json.Valid([]byte(said(t))):
		text, _ := json.Marshal(map[string]string{"text": said(t)})
		take(text)
	case is(mutant.EndIsDone) && streamed && json.Valid([]byte(said(t))):
		take([]byte(said(t)))
	case is(mutant.HalfBodyIsRepaired) && t.Status == http.StatusOK && kind != accepted && !json.Valid(t.Body):
		text, _ := json.Marshal(map[string]string{"body": string(t.Body)})
		take(text)
	case is(mutant.ErrorBodyIsResult) && kind == refused && t.Status == http.StatusOK:
		text, _ := json.Marshal(map[string]string{"body": string(t.Body)})
		take(text)
	}
}

// said is the text of an OpenAI stream, as far as it came.
func said(t providers.Transcript) string {
	var text strings.Builder
	for line := range strings.Lines(string(t.Body)) {
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || json.Unmarshal([]byte(data), &chunk) != nil {
			continue
		}
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	return text.String()
}
