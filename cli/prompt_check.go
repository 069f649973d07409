package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/prompt/live"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// promptContract is the contract whose prompts a command looks at.
type promptContract struct {
	deployed
	name string
}

func (p *promptContract) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.contractsDir, "contracts", "", "folder of contracts (default: the built-in ones)")
	cmd.Flags().StringVar(&p.name, "contract", "", "id of the contract, or id@version")
}

// load returns the contract, nil where none is named.
func (p *promptContract) load() (*contract.Contract, error) {
	if p.name == "" {
		return nil, nil
	}
	c, _, err := p.contract(p.name)
	return c, err
}

// requests are the prompts of the cases of c.
func requests(c *contract.Contract) ([]providers.Request, error) {
	var all []providers.Request
	if c == nil {
		return nil, nil
	}
	for _, one := range c.Cases {
		r, err := c.Request(one.Input)
		if err != nil {
			return nil, usagef("case %s: %v", one.ID, err)
		}
		all = append(all, r)
	}
	return all, nil
}

const promptCheckHelp = `Does the prompt that the contract means reach the model?

PROFILE is a YAML file that names a chat template, a tokenizer with its sha256, and
what this route may do otherwise. Twenty checks look at what the two make of
prompts; with --vllm, --llamacpp or --tgi at what a live server makes of them.

Exit codes: 0 no check failed; 1 at least one failed; 3 the server could not be
asked; 64 the profile, its files or the contract cannot be read.`

func promptCheckCommand(s *streams) *cobra.Command {
	var p promptContract
	var vllm, llamacpp, tgi, model string
	cmd := &cobra.Command{
		Use:     "check PROFILE",
		Short:   "does the prompt that the contract means reach the model?",
		Long:    promptCheckHelp,
		Example: "  interlock prompt check qwen3.yaml --contract triage\n  interlock prompt check qwen3.yaml --vllm http://127.0.0.1:8000 --model qwen3",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("prompt check needs one PROFILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			subject, err := promptSubject(args[0])
			if err != nil {
				return err
			}
			c, err := p.load()
			if err != nil {
				return err
			}
			if subject.Requests, err = requests(c); err != nil {
				return err
			}
			client := func(base string) live.Client { return live.Client{Base: base, Model: model} }
			switch {
			case vllm != "":
				subject.Route = &live.VLLM{Client: client(vllm), Context: cmd.Context()}
			case llamacpp != "":
				subject.Route = &live.LlamaCpp{Client: client(llamacpp), Context: cmd.Context()}
			case tgi != "":
				subject.Route = &live.TGI{Client: client(tgi), Context: cmd.Context()}
			}
			if err := reachable(subject); err != nil {
				return err
			}
			report := render.Check(subject)
			if err := s.promptReport(report); err != nil {
				return err
			}
			if !report.OK() {
				return exitWith(ExitViolation)
			}
			return nil
		},
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&vllm, "vllm", "", "ask the vLLM server at this `URL`")
	cmd.Flags().StringVar(&llamacpp, "llamacpp", "", "ask the llama.cpp server at this `URL`")
	cmd.Flags().StringVar(&tgi, "tgi", "", "ask the text-generation-inference server at this `URL`")
	cmd.Flags().StringVar(&model, "model", "", "the model's name at the server")
	cmd.MarkFlagsMutuallyExclusive("vllm", "llamacpp", "tgi")
	return cmd
}

// reachable asks a live server once, so that one that cannot be asked is not
// taken for one that refuses.
func reachable(subject *render.Subject) error {
	if _, local := subject.Route.(*render.Local); local {
		return nil
	}
	_, err := subject.Route.Render(render.Conversation{Messages: []render.Message{{Role: "user", Content: "Hello."}}, Generate: true})
	var refused *live.StatusError
	if err != nil && !errors.As(err, &refused) {
		return infrastructuref("the server cannot be asked: %v", err)
	}
	return nil
}

func (s *streams) promptReport(report *render.Report) error {
	if s.json {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(report)
	}
	for _, r := range report.Results {
		if _, err := fmt.Fprintf(s.out, "%-4s %-14s %s\n", r.ID, r.Verdict, r.Title); err != nil {
			return err
		}
		if r.Reason != "" {
			_, _ = fmt.Fprintf(s.out, "     %s\n", printable(r.Reason))
		}
		for _, f := range r.Findings {
			note := ""
			if f.Declared {
				note = " (declared)"
			}
			_, _ = fmt.Fprintf(s.out, "     - %s%s\n", printable(f.Text), note)
		}
	}
	for _, d := range report.Unused {
		_, _ = fmt.Fprintf(s.out, "the profile declares %q, which was not met\n", d)
	}
	return nil
}
