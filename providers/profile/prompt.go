package profile

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/interlock-harness/interlock/providers"
)

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// checkPrompt says what is wrong with the section prompt by itself: what a
// certificate binds must be in it. The files that it names are read by those who
// render.
func checkPrompt(p *providers.Prompt) error {
	switch {
	case p == nil:
		return nil
	case p.Name != "":
		return errors.New("prompt.name: the section has the name of its profile, leave it out")
	case p.Template == "" || p.Tokenizer.File == "":
		return errors.New("prompt needs template and tokenizer.file")
	case !digestForm.MatchString(p.TemplateSHA256):
		return errors.New("prompt.template_sha256 is not the SHA-256 of the template (64 hexadecimal digits, small letters)")
	case !digestForm.MatchString(p.Tokenizer.SHA256):
		return errors.New("prompt.tokenizer.sha256 is not the SHA-256 of the tokenizer's file (64 hexadecimal digits, small letters)")
	}
	switch p.Oracle {
	case "", "vllm", "llamacpp", "tgi", "anthropic", "gemini":
		return nil
	}
	return fmt.Errorf("prompt.oracle %.40q: there are vllm, llamacpp, tgi, anthropic and gemini", p.Oracle)
}
