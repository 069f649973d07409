package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/service"
)

// serviceCommands are the commands that the reference service runs itself: its
// own flags, and signals that drain it instead of interrupting it.
var serviceCommands = []struct{ name, short string }{
	{"serve", "run the reference job service"},
	{"migrate", "bring the reference service's database to this version"},
}

// runService reports whether args name a command of the service, and runs it.
func runService(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int, ran bool) {
	if len(args) == 0 {
		return 0, false
	}
	for _, c := range serviceCommands {
		if args[0] == c.name {
			return service.Main(args, stdin, stdout, stderr), true
		}
	}
	return 0, false
}

// serviceCommand stands in the list of commands and in completion for one that
// runService has taken before cobra saw it.
func serviceCommand(s *streams, name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name + " [flags]", Short: short, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return exitWith(service.Main(append([]string{name}, args...), s.in, s.out, s.err))
		},
	}
}
