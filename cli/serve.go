package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/service"
)

// serviceText is what is said about a command of the service.
type serviceText struct{ name, short, example string }

// serviceCommands are the commands that the reference service runs itself: its
// own flags, and signals that drain it instead of interrupting it.
var serviceCommands = []serviceText{
	{"serve", "run the reference job service", "  DATABASE_URL=postgres://... interlock serve --migrate --keys keys.txt --listen 127.0.0.1:8080"},
	{"migrate", "bring the reference service's database to this version", "  DATABASE_URL=postgres://... interlock migrate"},
}

// runService reports whether args name a command of the service, and runs it. A
// signal drains it, which is exit 0; one that comes before it runs is told like
// that of any other command.
func runService(args []string, stdout, stderr io.Writer) (code int, ran bool) {
	if len(args) == 0 {
		return 0, false
	}
	for _, c := range serviceCommands {
		if args[0] == c.name {
			ctx, stop := signalContext()
			defer stop()
			code := service.Run(ctx, args, stdout, stderr)
			if by, ended := endedBy(ctx); ended && code != ExitOK { // it was not drained: it never ran
				code = signalCode(by.signal)
			}
			return code, true
		}
	}
	return 0, false
}

// serviceCommand stands in the list of commands and in completion for one that
// runService has taken before cobra saw it.
func serviceCommand(s *streams, name, short, example string) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " [flags]", Short: short, DisableFlagParsing: true,
		Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exitWith(service.Run(cmd.Context(), append([]string{name}, args...), s.out, s.err))
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { // its flags are not cobra's
		_ = service.Run(cmd.Context(), []string{name, "--help"}, s.out, s.err)
	})
	return cmd
}
