package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootHelp = `interlock checks that one click makes one job, whatever breaks in between.

  interlock verify                     run all scenarios on a built-in service and database
  interlock verify reverse-order       run one
  interlock verify --list              show all scenarios
  interlock verify --target URL        run them on your own service
  interlock up                         watch a race in the browser
  interlock certify anthropic-demo --contract invoice
                                       take a provider through the checks
  interlock gate --from openai-demo --to anthropic-demo --contract invoice
                                       may the first fail over to the second?
  interlock judge answer.json          would this recorded answer have passed?

More: interlock help, interlock doctor
`

// rootCommand builds the whole tree. Each command has its own file; this list
// is the table of contents.
func rootCommand(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "interlock",
		Short: "one click makes one job, and no failover to an unproven provider",
		Example: `  interlock verify
  interlock verify reverse-order
  interlock up
  interlock gate --from openai-demo --to anthropic-demo --contract invoice`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("no command %q.%s interlock help shows all.", args[0], didYouMean(args[0], commandNames(cmd)))
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			_, _ = fmt.Fprint(s.out, rootHelp)
			return nil
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			note := func(format string, args ...any) {
				if !s.quiet {
					_, _ = fmt.Fprintf(s.err, "interlock: note: "+format+"\n", args...)
				}
			}
			if err := settle(cmd, note); err != nil {
				return err
			}
			return s.check()
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.BoolVar(&s.json, "json", false, "JSON on standard output, talk on standard error")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "results only, no progress")
	flags.BoolVarP(&s.verbose, "verbose", "v", false, "say more")
	flags.StringVar(&s.color, "color", "auto", "auto, always or never")
	flags.BoolVar(&s.noColor, "no-color", false, "the same as --color never")
	flags.BoolVar(&s.noInput, "no-input", false, "ask nothing and open nothing, as in a script")
	flags.String("config", "", "file of settings (default: interlock.toml here, and in the user's configuration folder)")
	root.AddCommand(
		verifyCommand(s),
		upCommand(s),
		mutantsCommand(s),
		exploreCommand(s),
		replayCommand(s),
		reportCommand(s),
		explainCommand(s),
		versionCommand(s),
		benchCommand(s),
		doctorCommand(s),
		healthcheckCommand(s),
		certifyCommand(s),
		gateCommand(s),
		recordCommand(s),
		keyCommand(s),
		lockCommand(s),
		contractCommand(s),
		judgeCommand(s),
		promptCommand(s),
		standCommand(s),
		manCommand(s),
	)
	for _, c := range serviceCommands {
		root.AddCommand(serviceCommand(s, c.name, c.short, c.example))
	}
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Example = "  interlock completion bash"
			for _, shell := range c.Commands() {
				shell.Example = "  interlock completion " + shell.Name()
			}
		}
	}
	giveOnce(root)
	complete(root)
	return root
}

// given is a flag that may be named once, or twice with the same value: whoever
// names it with two values does not know which of them counts.
type given struct {
	pflag.Value
	value *string
}

func (g *given) Set(value string) error {
	if g.value != nil && *g.value != value {
		return fmt.Errorf("it is given twice, as %q and as %q", clip(*g.value, 40), clip(value, 40))
	}
	g.value = &value
	return g.Value.Set(value)
}

// giveOnce guards the flags of a command and of those below it. Lists are named as
// often as one likes.
func giveOnce(cmd *cobra.Command) {
	guard := func(f *pflag.Flag) {
		_, guarded := f.Value.(*given)
		_, list := f.Value.(pflag.SliceValue)
		if !guarded && !list {
			f.Value = &given{Value: f.Value}
		}
	}
	cmd.Flags().VisitAll(guard)
	cmd.PersistentFlags().VisitAll(guard)
	for _, below := range cmd.Commands() {
		giveOnce(below)
	}
}

// flagError turns pflag's error into one sentence with the command to ask.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		for _, secret := range []string{"key", "token", "password", "secret"} {
			if strings.Contains(name, secret) {
				return usagef("%s has no flag --%s: a secret comes from a file or from the environment variable that the provider's profile names, never from the command line", cmd.CommandPath(), name)
			}
		}
		return usagef("%s has no flag --%s.%s %s --help shows all.", cmd.CommandPath(), name, didYouMean(name, flagNames(cmd)), cmd.CommandPath())
	}
	return usagef("%s; %s --help shows what it takes", text, cmd.CommandPath())
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}
