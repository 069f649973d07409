package job_test

import (
	"testing"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// The rows are the whole of what the states mean to the rules: the statements and
// the console ask these three questions and no other.
func TestStatesKeepTheirMeaning(t *testing.T) {
	for state, want := range map[job.State]struct{ open, contends, terminal bool }{
		job.StateStarting:  {open: true},
		job.StateRunning:   {open: true, contends: true},
		job.StateUnknown:   {open: true, contends: true},
		job.StateReleased:  {contends: true},
		job.StateSucceeded: {terminal: true},
		job.StateLost:      {terminal: true},
		job.StateFailed:    {terminal: true},
		job.StateCancelled: {terminal: true},
		"no such state":    {},
	} {
		if state.Open() != want.open || state.Contends() != want.contends || state.Terminal() != want.terminal {
			t.Errorf("%s: open %v, contends %v, terminal %v, want %+v", state, state.Open(), state.Contends(), state.Terminal(), want)
		}
	}
}

func TestStatusesThatEndAWait(t *testing.T) {
	for status, want := range map[job.Status]bool{
		job.StatusOpen: false, job.StatusStarting: false, job.StatusRunning: false, job.StatusUnknown: false,
		job.StatusSucceeded: true, job.StatusFailed: true, job.StatusCancelled: true,
	} {
		if status.Ended() != want {
			t.Errorf("%s ends a wait: %v, want %v", status, status.Ended(), want)
		}
	}
}
