package cli

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

const promptShowHelp = `Shows the exact prompt that a route makes of one case of a contract: every stretch
with who wrote it (the template, a special token, the tools, a message) and how many
tokens it has. Of several profiles the budgets stand side by side: a prompt that
fits the primary may be five times as long for its fallback.`

func promptShowCommand(s *streams) *cobra.Command {
	var p promptContract
	var which string
	cmd := &cobra.Command{
		Use:     "show PROFILE... --contract T --case N",
		Short:   "the exact prompt of one case, stretch by stretch, and its budget",
		Long:    promptShowHelp,
		Example: "  interlock prompt show qwen3.yaml llama.yaml --contract triage --case plain",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("prompt show needs at least one PROFILE")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return s.showPrompts(args, p, which) },
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&which, "case", "", "id of the case (default: the first)")
	return cmd
}

// shownPrompt is one prompt with its spans.
type shownPrompt struct {
	Profile string        `json:"profile"`
	Spans   []render.Span `json:"spans"`
	Tokens  int           `json:"tokens"`           // of the prompt as the server tokenizes it
	Answer  int           `json:"answer"`           // most tokens of the answer
	Window  int           `json:"window,omitempty"` // of the profile
}

// showPrompts prints what each profile makes of a case of the contract.
func (s *streams) showPrompts(profiles []string, p promptContract, which string) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	if c == nil || len(c.Cases) == 0 {
		return usagef("name a contract with at least one case with --contract")
	}
	one := &c.Cases[0]
	if which != "" {
		if one = c.Case(which); one == nil {
			return usagef("the contract %s has no case %q", c.Ref(), which)
		}
	}
	request, err := c.Request(one.Input)
	if err != nil {
		return usagef("case %s: %v", one.ID, err)
	}
	var all []shownPrompt
	for _, file := range profiles {
		subject, err := promptSubject(file)
		if err != nil {
			return err
		}
		shown, err := show(subject, request)
		if err != nil {
			return &exitError{code: ExitViolation, message: fmt.Sprintf("%s: %v", subject.Profile.Name, err)}
		}
		all = append(all, shown)
	}
	if s.json {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(all)
	}
	for _, shown := range all {
		if err := s.showSpans(shown); err != nil {
			return err
		}
	}
	return s.showBudgets(all)
}

func show(subject *render.Subject, r providers.Request) (shownPrompt, error) {
	conversation := render.FromRequest(r)
	spans, err := subject.Spans(conversation)
	if err != nil {
		return shownPrompt{}, err
	}
	ids, err := subject.Tokenize(conversation)
	shown := shownPrompt{Profile: subject.Profile.Name, Spans: spans, Tokens: len(ids), Window: subject.Profile.ContextWindow}
	if r.MaxOutputTokens != nil {
		shown.Answer = int(*r.MaxOutputTokens)
	}
	return shown, err
}

var spanColors = map[string]string{"special": "\x1b[35m", "system": "\x1b[36m", "user": "\x1b[32m", "assistant": "\x1b[34m", "tools": "\x1b[33m", "tool": "\x1b[33m"}

func (s *streams) showSpans(shown shownPrompt) error {
	color := s.colored(s.out)
	if _, err := fmt.Fprintf(s.out, "%s\n%-10s %7s  text\n", shown.Profile, "written by", "tokens"); err != nil {
		return err
	}
	for _, span := range shown.Spans {
		text := strconv.Quote(span.Text)
		if start := spanColors[span.Source]; color && start != "" {
			text = start + text + "\x1b[0m"
		}
		if _, err := fmt.Fprintf(s.out, "%-10s %7d  %s\n", span.Source, len(span.IDs), text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(s.out)
	return err
}

func (s *streams) showBudgets(all []shownPrompt) error {
	sources := []string{"system", "user", "tools", "special", "template"}
	head := fmt.Sprintf("%-20s %8s", "budget", "prompt")
	for _, source := range sources {
		head += fmt.Sprintf(" %8s", source)
	}
	if _, err := fmt.Fprintf(s.out, "%s %8s %8s  left\n", head, "answer", "window"); err != nil {
		return err
	}
	for _, shown := range all {
		by := map[string]int{}
		for _, span := range shown.Spans {
			by[span.Source] += len(span.IDs)
		}
		line := fmt.Sprintf("%-20s %8d", clip(shown.Profile, 20), shown.Tokens)
		for _, source := range sources {
			line += fmt.Sprintf(" %8d", by[source])
		}
		left := "unknown"
		if shown.Window > 0 {
			left = strconv.Itoa(shown.Window - shown.Tokens - shown.Answer)
		}
		if _, err := fmt.Fprintf(s.out, "%s %8d %8d  %s\n", line, shown.Answer, shown.Window, left); err != nil {
			return err
		}
	}
	return nil
}
