package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// rendered is the answer with --json: the text, or the refusal.
type rendered struct {
	Text    *string `json:"text,omitempty"`
	Class   string  `json:"class,omitempty"`
	Message string  `json:"message,omitempty"`
	Line    int     `json:"line,omitempty"`
}

func promptRenderCommand(s *streams) *cobra.Command {
	var template, now, which string
	var p promptContract
	cmd := &cobra.Command{
		Use:   "render --template FILE | PROFILE... --contract T --case N",
		Short: "the exact text that a chat template makes of a conversation",
		Long: `With --template, reads one JSON object with messages, tools and whatever else the
template uses from standard input and writes the prompt to standard output, byte
for byte. A template that refuses is exit 1 with the class of the Python exception.

With profiles, shows the prompt of a contract's case: the same as prompt show.`,
		Example: `  echo '{"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": true}' |
    interlock prompt render --template chat.jinja --now 2026-11-29`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if template == "" && len(args) > 0 {
				return s.showPrompts(args, p, which)
			}
			if err := noArguments(cmd, args); err != nil {
				return err
			}
			return renderPrompt(s, template, now)
		},
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&which, "case", "", "id of the case (default: the first)")
	cmd.Flags().StringVar(&template, "template", "", "file of the chat template")
	cmd.Flags().StringVar(&now, "now", "", "what the template's clock shows, as 2026-11-29 or 2026-11-29T12:00:00Z (default the present)")
	return cmd
}

func renderPrompt(s *streams, template, now string) error {
	if template == "" {
		return usagef("prompt render needs --template FILE, or a PROFILE with --contract and --case")
	}
	clock, err := parseNow(now)
	if err != nil {
		return err
	}
	file, err := os.Open(template)
	if err != nil {
		return usagef("%v", err)
	}
	defer func() { _ = file.Close() }()
	var out bytes.Buffer
	err = jinja.RenderFile(file, s.in, clock, &out)
	var refused *jinja.Error
	switch {
	case errors.As(err, &refused) && s.json:
		if err := json.NewEncoder(s.out).Encode(rendered{Class: refused.Class, Message: refused.Message, Line: refused.Line}); err != nil {
			return err
		}
		return exitWith(ExitViolation)
	case errors.As(err, &refused):
		return &exitError{code: ExitViolation, message: refused.Error()}
	case err != nil:
		return usagef("%v", err)
	case s.json:
		text := out.String()
		return json.NewEncoder(s.out).Encode(rendered{Text: &text})
	}
	_, err = out.WriteTo(s.out)
	return err
}

// parseNow reads a moment, or a day, which is its midnight.
func parseNow(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--now %q is neither a day such as 2026-11-29 nor a time such as 2026-11-29T12:00:00Z", text)
}
