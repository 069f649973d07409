package render

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/jinja"
	"github.com/interlock-harness/interlock/providers/strictyaml"
)

// Profile says how one route renders prompts and counts tokens.
type Profile = providers.Prompt

// Tokenizer is a tokenizer's file and what is known about it.
type Tokenizer = providers.PromptTokenizer

// Known is a text and its ids, measured at the provider.
type Known = providers.KnownIDs

// declarable are the deviations that a profile may declare.
var declarable = []string{
	"R1 raises", "R2 raises", "R3 raises", "R7 always", "R7 never", "R8 trims", "R13 drops", "R13 raises", "R14 clock", "R16 rewrites",
}

func sound(p *Profile) error {
	for _, d := range p.Deviations {
		if !slices.Contains(declarable, d) {
			return fmt.Errorf("the deviation %q cannot be declared, only these can: %s", d, strings.Join(declarable, ", "))
		}
	}
	if _, err := recognition(p); err != nil {
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

func recognition(p *Profile) (bpe.Recognition, error) {
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

// Load reads a profile, strict YAML, and the files that it names.
func Load(file string) (*Subject, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p Profile
	if err := strictyaml.Decode(file, data, &p); err != nil {
		return nil, err
	}
	s, err := Open(p, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		return os.ReadFile(name)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Open returns the subject of a profile whose files read returns. A template
// whose digest is not the one that the profile names is an error; a tokenizer's
// is the business of R19.
func Open(p Profile, read func(name string) ([]byte, error)) (*Subject, error) {
	source, err := read(p.Template)
	if err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	if sum := sha256.Sum256(source); p.TemplateSHA256 != "" && hex.EncodeToString(sum[:]) != p.TemplateSHA256 {
		return nil, fmt.Errorf("template %s has the digest %x, the profile names %s", p.Template, sum, p.TemplateSHA256)
	}
	data, err := read(p.Tokenizer.File)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	tokenizer, err := bpe.Shared(data, filepath.Base(p.Tokenizer.File))
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	s, err := New(p, string(source), tokenizer)
	if err == nil {
		s.Files = map[string][]byte{p.Template: source, p.Tokenizer.File: data}
	}
	return s, err
}

// New returns the subject of a profile whose template and tokenizer are at hand.
func New(p Profile, source string, tokenizer *bpe.Tokenizer) (*Subject, error) {
	if err := sound(&p); err != nil {
		return nil, err
	}
	template, err := jinja.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	local := &Local{Profile: p, Template: template, Tokenizer: tokenizer}
	return &Subject{Profile: p, Tokenizer: tokenizer, Route: local}, nil
}
