// Package cli is the command line: one file per command, the exit codes, and
// what a person sees on a terminal. It decides nothing that another program
// could not decide through the packages below it.
//
// Results go to standard output, talk to standard error; with --json standard
// output holds JSON only. Every failure ends in one sentence and one exit code,
// never in a stack trace.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// streams are the three standard streams of one invocation, and what was said
// about them on the command line.
type streams struct {
	in       io.Reader
	out, err io.Writer
	json     bool
	quiet    bool
	verbose  bool
	color    string // auto, always, never
	noColor  bool
	noInput  bool // nobody is asked
	waits    waits
}

// Main runs the command that args names (without the program's name) and
// returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, ran := runService(args, stdout, stderr); ran {
		return code
	}
	results := &results{Writer: stdout}
	ctx, stop := signalContext()
	defer stop()
	s := &streams{in: &input{stdin, ctx}, out: results, err: stderr, color: "auto"}
	defer s.waits.listen(stderr)()
	root := rootCommand(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if by, ended := endedBy(ctx); ended && errors.Is(err, context.Canceled) {
		err = by
	}
	code := exitCode(ctx, err)
	var coded *exitError
	if results.failed != nil && (code == ExitOK || code == ExitInconclusive || !errors.As(err, &coded)) { // nobody may take for a yes what was not said
		err = infrastructuref("the result could not be written: %v", results.failed)
		code = ExitInfrastructure
	}
	if message := messageOf(err); message != "" {
		_, _ = fmt.Fprintln(stderr, "interlock: "+message)
	}
	return code
}

// results is standard output, which remembers that something could not be
// written.
type results struct {
	io.Writer
	failed error
}

func (r *results) Write(text []byte) (int, error) {
	n, err := r.Writer.Write(text)
	if err != nil && r.failed == nil {
		r.failed = err
	}
	return n, err
}

// input is standard input, of which a read ends when a signal ends the command.
type input struct {
	io.Reader
	ctx context.Context
}

func (i *input) Read(into []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	read, own := make(chan result, 1), make([]byte, len(into)) // into is the caller's again once this returns
	go func() {
		n, err := i.Reader.Read(own)
		read <- result{n, err}
	}()
	select {
	case r := <-read:
		return copy(into, own[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ signal os.Signal }

func (e signalled) Error() string {
	if e.signal == syscall.SIGTERM {
		return "ended by SIGTERM"
	}
	return "ended by SIGINT"
}

// sameSignal is how long after a signal another one counts as the same: timeout(1)
// and some CI runners send theirs to the process and then to its whole group.
const sameSignal = time.Second

// signalContext ends at the first SIGINT or SIGTERM so that commands can write
// what they have; a second one, later than sameSignal, ends the process at once.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case s := <-caught:
				if first.IsZero() {
					first = time.Now()
					cancel(signalled{s})
				} else if time.Since(first) > sameSignal {
					os.Exit(signalCode(s))
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		close(done)
		cancel(nil)
	}
}

func signalCode(s os.Signal) int {
	if s == syscall.SIGTERM {
		return ExitTerminated
	}
	return ExitInterrupted
}

// exitCode maps the error that a command returned. An interrupted command says
// so whatever else went wrong on its way out.
func exitCode(ctx context.Context, err error) int {
	var coded *exitError
	if errors.As(err, &coded) && coded.settled {
		return coded.code
	}
	if by, ended := endedBy(ctx); ended {
		return signalCode(by.signal)
	}
	if err == nil {
		return ExitOK
	}
	if errors.As(err, &coded) {
		return coded.code
	}
	return ExitUsage // cobra's own errors: unknown command, flag or argument
}

// longWord is a word that is cut: nobody reads further, and a terminal would
// scroll what matters away.
var longWord = regexp.MustCompile(`(\S{200})\S+`)

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	var coded *exitError
	if errors.As(err, &coded) && coded.message == "" {
		return ""
	}
	return longWord.ReplaceAllString(printable(strings.TrimSpace(err.Error())), "$1…")
}

// noArguments refuses arguments with a hint instead of cobra's bare sentence.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, but %q was given; %s --help shows its flags", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}
