package scenarios

import (
	"fmt"
	"io"
	"sync"

	"github.com/interlock-harness/interlock/harness/stage"
)

// theKept is the stack of the play that ended the run (Selection.Keep).
var theKept struct {
	mu     sync.Mutex
	places *stage.Places
}

// Kept says where the stack of a violated play listens that Run left as it was; nil
// where none is. Close takes it down.
func Kept() *stage.Places {
	theKept.mu.Lock()
	defer theKept.mu.Unlock()
	return theKept.places
}

// kept leaves the world of a violated play as it is, where that was asked for.
func (w *World) kept(o Outcome) bool {
	if !theRun.keeps() || !o.violated() {
		return false
	}
	places, err := w.Places()
	if err != nil {
		return false // it is taken down as always
	}
	theKept.mu.Lock()
	defer theKept.mu.Unlock()
	theKept.places = places
	return true
}

// Waiting tells what the run of this process waits for.
func Waiting(to io.Writer) {
	if !theStage.mu.TryLock() {
		_, _ = fmt.Fprintln(to, "the stage is being set")
		return
	}
	s := theStage.stage
	theStage.mu.Unlock()
	if s == nil {
		_, _ = fmt.Fprintln(to, "the stage is not set")
		return
	}
	s.Waiting(to)
}
