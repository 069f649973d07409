package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestTwoSignalsAtOnceAreOne(t *testing.T) {
	ctx, stop := signalContext()
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // as timeout(1) does: to the process, then to its group
		if err := self.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("the context did not end")
		}
	}
	var by signalled
	if !errors.As(context.Cause(ctx), &by) || by.signal != syscall.SIGTERM {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
	if code := exitCode(ctx, errors.New("something else")); code != ExitTerminated {
		t.Errorf("exit %d, want %d", code, ExitTerminated)
	}
	// That the process is still here is the point of the test.
}
