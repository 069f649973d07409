// Package cli is the command line: one file per command, the exit codes, and
// what a person sees on a terminal. It decides nothing that another program
// could not decide through the packages below it.
package cli

import (
	"fmt"
	"io"
)

// Main runs the command that args names (without the program's name) and
// returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	_, _ = fmt.Fprintln(stderr, "interlock: no command yet")
	return ExitUsage
}
