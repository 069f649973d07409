// Package service is the reference job service as a command: it reads the
// configuration, wires the store, the HTTP contract and the worker, and runs
// them until it is told to stop. It decides nothing about jobs itself.
//
// The rule it keeps: what it cannot run safely with it refuses at start, in one
// sentence and with the right exit code, and it never prints a secret.
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, those of the whole program.
const (
	exitOK             = 0
	exitInfrastructure = 3
	exitUsage          = 64
)

// usageError is a mistake of the one who called us: exit 64.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// errHelp: the help was asked for and printed.
var errHelp = errors.New("help was asked for")

// Main runs the command that args names, serve, migrate or interleave, and returns
// the exit code: 0, 3 when the database, a port or a file is not to be had, 64 for wrong
// flags or configuration. A signal (SIGINT, SIGTERM) drains and ends with 0.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, args, stdout, stderr)
}

// Run is Main under a context instead of signals: it drains when ctx ends.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name, err := "", error(nil)
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "serve":
		err = serve(ctx, args[1:], stdout, stderr)
	case "migrate":
		err = migrate(ctx, args[1:], stdout, stderr)
	case "interleave":
		err = exploreOrders(ctx, args[1:], stdout, stderr)
	default:
		err = usage("the commands are serve and migrate")
	}
	if err == nil || errors.Is(err, errHelp) {
		return exitOK
	}
	if told, ok := errors.AsType[*exitError](err); ok {
		return told.code
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	_, _ = fmt.Fprintf(stderr, "interlock %s: %v\n", name, err)
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitInfrastructure
}
