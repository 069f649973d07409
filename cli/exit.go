package cli

import (
	"context"
	"errors"
	"fmt"
)

// Exit codes, one table for every command. When several apply, the order is
// usage, violation, infrastructure, inconclusive, ok.
const (
	ExitOK             = 0
	ExitViolation      = 1  // evidence says no
	ExitInconclusive   = 2  // no usable evidence
	ExitInfrastructure = 3  // the evidence could not be made or read
	ExitUsage          = 64 // unknown flag, name, file
	ExitInterrupted    = 130
	ExitTerminated     = 143
)

// exitError carries an exit code through cobra. An empty message means that the
// command has already said all there is to say.
type exitError struct {
	code    int
	message string
	// settled: the result was told before a signal ended the command, which therefore
	// changes nothing.
	settled bool
}

func (e *exitError) Error() string { return e.message }

// usagef is a mistake of the caller: exit 64.
func usagef(format string, args ...any) error {
	return &exitError{code: ExitUsage, message: fmt.Sprintf(format, args...)}
}

// infrastructuref is something that the machine lacks or lost: exit 3.
func infrastructuref(format string, args ...any) error {
	return &exitError{code: ExitInfrastructure, message: fmt.Sprintf(format, args...)}
}

// brokenOff is infrastructuref for what failed under ctx. Where a signal ended the
// command that is the reason, whatever it made fail.
func brokenOff(ctx context.Context, format string, args ...any) error {
	if by, ended := endedBy(ctx); ended {
		return by
	}
	return infrastructuref(format, args...)
}

// endedBy is the signal that ended ctx, if one did.
func endedBy(ctx context.Context) (signalled, bool) {
	return errors.AsType[signalled](context.Cause(ctx))
}

// endWord says what ended ctx, at the head of a sentence; "" where it goes on.
func endWord(ctx context.Context) string {
	if _, ended := endedBy(ctx); ended {
		return "Interrupted"
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "The time is over"
	}
	return ""
}

// exitWith ends a command that has already printed its result.
func exitWith(code int) error {
	if code == ExitOK {
		return nil
	}
	return &exitError{code: code}
}
