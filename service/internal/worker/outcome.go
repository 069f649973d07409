package worker

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// kind is what a call came to.
type kind string

const (
	accepted kind = "accepted"              // a judged output
	notSent  kind = kind(job.ClassNotSent)  // definite: no byte of the request can have left
	refused  kind = kind(job.ClassRefused)  // definite: refused before execution
	rejected kind = kind(job.ClassRejected) // definite: finished, and unusable
	unknown  kind = "unknown"               // everything else
)

// outcome of one provider call.
type outcome struct {
	kind       kind
	reason     string // one word, in front of a dot the class: rejected.schema
	retryAfter time.Duration
}

// neverDefinite are statuses after which the work may still go on, whatever the
// body says, unless the profile documents that the provider refuses with them.
var neverDefinite = []int{
	http.StatusRequestTimeout, http.StatusConflict,
	http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout,
	520, 521, 522, 523, 524, // gateways that lost sight of the origin
}

// classify reads the outcome of a call from its transcript and its judgement.
// What is not listed as definite is unknown.
func classify(t providers.Transcript, j providers.Judgement, now time.Time) outcome {
	switch {
	case t.Reach == providers.ReachNotSent:
		return outcome{kind: notSent, reason: "not_sent.connect"}
	case t.Status == 0: // sent, and nothing came back
		return outcome{kind: unknown, reason: "unknown.no_answer"}
	case slices.Contains(t.Refused, t.Status):
		return outcome{kind: refused, reason: statusReason(t.Status), retryAfter: retryAfter(t.Header, now)}
	case slices.Contains(neverDefinite, t.Status):
		return outcome{kind: unknown, reason: fmt.Sprintf("unknown.%d", t.Status)}
	}
	switch j.Verdict {
	case providers.Accept:
		return outcome{kind: accepted, reason: "ok"}
	case providers.Reject:
		return outcome{kind: rejected, reason: "rejected." + j.Reason}
	case providers.DefiniteFailure:
		if t.Status/100 == 2 {
			// An error stated inside a 200: before the first part of an answer it was
			// refused, after it the work was done and is void. Both are definite.
			return outcome{kind: refused, reason: "refused." + strings.TrimPrefix(j.Reason, "error.")}
		}
		return outcome{kind: refused, reason: statusReason(t.Status), retryAfter: retryAfter(t.Header, now)}
	}
	return outcome{kind: unknown, reason: "unknown." + strings.TrimPrefix(j.Reason, "unknown.")}
}

func statusReason(status int) string { return "refused." + strconv.Itoa(status) }

// longestRetryAfter bounds what a provider may ask for; a slip of its clock must
// not park a job for years.
const longestRetryAfter = time.Hour

// retryAfter reads Retry-After (seconds, or an HTTP date) and Retry-After-Ms.
// What cannot be read counts as absent.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseInt(strings.TrimSpace(h.Get("Retry-After-Ms")), 10, 64); err == nil && ms > 0 {
		return bounded(ms, time.Millisecond)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseInt(value, 10, 64); err == nil {
		return bounded(s, time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), longestRetryAfter)
	}
	return 0
}

func bounded(n int64, unit time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	if n > int64(longestRetryAfter/unit) {
		return longestRetryAfter
	}
	return time.Duration(n) * unit
}
