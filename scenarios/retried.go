package scenarios

import (
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers/standin"
)

// retriedAnswers are the answers on which the official client libraries send a
// request again, up to three times, unless they are told not to.
func retriedAnswers() map[string]stage.Answer {
	answers := map[string]stage.Answer{
		"429": standin.Failed(429), "500": standin.Failed(500), "503": standin.Failed(503), "529": standin.Failed(529),
		"reset": standin.Reset(),
	}
	return answers
}
