package certificate_test

import (
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
)

// A certificate binds how prompts are rendered and counted, by digests; where the
// files lie is nobody's business.
func TestTheDigestOfAProfileBindsItsPrompts(t *testing.T) {
	digest := func(change func(*providers.Prompt)) string {
		p := profiles["anthropic-demo"]
		section := providers.Prompt{
			Template: "a.jinja", TemplateSHA256: certificate.Hash([]byte("a")), Oracle: "anthropic", K: 3,
			Tokenizer: providers.PromptTokenizer{File: "t.json", SHA256: certificate.Hash([]byte("t"))}, Deviations: []string{"R8 trims", "R1 raises"},
		}
		change(&section)
		p.Prompt = &section
		return certificate.ProfileDigest(p)
	}
	one := digest(func(*providers.Prompt) {})
	for name, change := range map[string]func(*providers.Prompt){
		"the place of the template":  func(p *providers.Prompt) { p.Template = "b/a.jinja" },
		"the place of the tokenizer": func(p *providers.Prompt) { p.Tokenizer.File = "b/t.json" },
		"the order of deviations":    func(p *providers.Prompt) { p.Deviations = []string{"R1 raises", "R8 trims", "R8 trims"} },
	} {
		if digest(change) != one {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, change := range map[string]func(*providers.Prompt){
		"template":   func(p *providers.Prompt) { p.TemplateSHA256 = certificate.Hash([]byte("b")) },
		"tokenizer":  func(p *providers.Prompt) { p.Tokenizer.SHA256 = certificate.Hash([]byte("b")) },
		"deviations": func(p *providers.Prompt) { p.Deviations = p.Deviations[:1] },
		"k":          func(p *providers.Prompt) { p.K = 4 },
		"oracle":     func(p *providers.Prompt) { p.Oracle = "" },
		"variables":  func(p *providers.Prompt) { p.Variables = map[string]string{"bos_token": "<s>"} },
	} {
		if digest(change) == one {
			t.Errorf("another %s does not change the digest", name)
		}
	}
	if plain := certificate.ProfileDigest(profiles["anthropic-demo"]); plain == one {
		t.Error("a profile without the section has the digest of one with it")
	}
}
