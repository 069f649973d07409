package render

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/jinja"
	"github.com/interlock-harness/interlock/providers/strictyaml"
)

// Profile says how one route renders prompts and counts tokens. Its file is
// strict YAML with these names; files that it names are relative to it.
type Profile struct {
	Name      string    `json:"name"`
	Template  string    `json:"template"` // file of the chat template
	Tokenizer Tokenizer `json:"tokenizer"`
	// Variables are further variables of the template: bos_token, eos_token, ...
	Variables map[string]string `json:"variables,omitempty"`
	// BOS is the token that begins a prompt, empty where the model has none.
	BOS string `json:"bos,omitempty"`
	// AddSpecialTokens: the server lets the tokenizer put its own special tokens
	// around the rendered prompt. Chat endpoints do not, as a rule.
	AddSpecialTokens bool `json:"add_special_tokens,omitempty"`
	// ContentTokens says which added tokens the server recognises inside the
	// content of a message: "all" (the default: it tokenizes the whole prompt at
	// once), "unflagged" (split_special_tokens) or "none".
	ContentTokens string `json:"content_tokens,omitempty"`
	// FlattensParts: the server turns content in parts into text before the
	// template sees it.
	FlattensParts bool `json:"flattens_parts,omitempty"`
	// ArgumentsAs is the only shape in which the server hands arguments of tool
	// calls to the template: "text" or "object"; empty for both.
	ArgumentsAs string `json:"arguments_as,omitempty"`
	// AnswerHeader is the text that asks for the answer, empty where it need not be known.
	AnswerHeader string `json:"answer_header,omitempty"`
	// ContextWindow is the most tokens of prompt and answer together, 0 if unknown.
	ContextWindow int `json:"context_window,omitempty"`
	// K is how many tokens the provider may count more than we do.
	K int `json:"k,omitempty"`
	// Deviations are what this route does otherwise and may: "R1 raises",
	// "R7 never", ...
	Deviations []string `json:"deviations,omitempty"`
}

// Tokenizer is a tokenizer's file and what is known about it.
type Tokenizer struct {
	File   string  `json:"file"`
	SHA256 string  `json:"sha256"`
	Known  []Known `json:"known,omitempty"`
}

// Known is a text and its ids, measured at the provider.
type Known struct {
	Text string `json:"text"`
	IDs  []int  `json:"ids"`
}

// declarable are the deviations that a profile may declare.
var declarable = []string{
	"R1 raises", "R2 raises", "R3 raises", "R7 always", "R7 never", "R8 trims", "R13 drops", "R13 raises", "R14 clock", "R16 rewrites",
}

func (p *Profile) check() error {
	for _, d := range p.Deviations {
		if !slices.Contains(declarable, d) {
			return fmt.Errorf("the deviation %q cannot be declared, only these can: %s", d, strings.Join(declarable, ", "))
		}
	}
	if _, err := p.recognition(); err != nil {
		return err
	}
	if p.ArgumentsAs != "" && p.ArgumentsAs != "text" && p.ArgumentsAs != "object" {
		return fmt.Errorf("arguments_as is %q, neither text nor object", p.ArgumentsAs)
	}
	if p.ContextWindow < 0 || p.K < 0 {
		return errors.New("context_window or k is negative")
	}
	return nil
}

func (p *Profile) recognition() (bpe.Recognition, error) {
	switch p.ContentTokens {
	case "", "all":
		return bpe.AllAdded, nil
	case "unflagged":
		return bpe.UnflaggedAdded, nil
	case "none":
		return bpe.NoAdded, nil
	}
	return 0, fmt.Errorf("content_tokens is %q, not all, unflagged or none", p.ContentTokens)
}

// Load reads a profile and the files that it names.
func Load(file string) (*Subject, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p Profile
	if err := strictyaml.Decode(file, data, &p); err != nil {
		return nil, err
	}
	beside := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(filepath.Dir(file), name)
	}
	source, err := os.ReadFile(beside(p.Template))
	if err != nil {
		return nil, fmt.Errorf("%s: template: %w", file, err)
	}
	tokenizer, err := bpe.Load(beside(p.Tokenizer.File))
	if err != nil {
		return nil, fmt.Errorf("%s: tokenizer: %w", file, err)
	}
	s, err := New(p, string(source), tokenizer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// New returns the subject of a profile whose template and tokenizer are at hand.
func New(p Profile, source string, tokenizer *bpe.Tokenizer) (*Subject, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	template, err := jinja.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	local := &Local{Profile: p, Template: template, Tokenizer: tokenizer}
	return &Subject{Profile: p, Tokenizer: tokenizer, Route: local}, nil
}
