package scenarios

import (
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers/standin"
)

// retried is an answer on which the official client libraries send a request
// again, up to three times, unless they are told not to.
type retried struct {
	answer  stage.Answer
	meaning string // what a right reader makes of it
	state   string // in which the attempt must end
}

var retriedAnswers = map[string]retried{
	"429":   {standin.Failed(429), history.Refused, "failed"}, // a rate limit is stated before any work
	"529":   {standin.Failed(529), history.Refused, "failed"}, // and so is overload
	"500":   {standin.Failed(500), history.Unknown, "unknown"},
	"502":   {standin.Failed(502), history.Unknown, "unknown"},
	"reset": {standin.Reset(), history.Unknown, "unknown"},
}
