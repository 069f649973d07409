package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// stage splits a piece into words, or words into smaller ones, and hands each
// on. It hands on no empty piece.
type stage func(p piece, emit func(piece) error) error

// preTokenizer is the stages in order. Where the last one only writes bytes as
// letters, it is left out and asBytes set: the model then does that itself.
type preTokenizer struct {
	stages  []stage
	asBytes bool
}

// run hands the words of p to emit.
func (t preTokenizer) run(p piece, emit func(piece) error) error {
	for i := len(t.stages) - 1; i >= 0; i-- {
		next, do := emit, t.stages[i]
		emit = func(p piece) error { return do(p, next) }
	}
	return emit(p)
}

// gpt2Pattern is the pattern of GPT-2's encoder, which ByteLevel has built in.
const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// gpt2 is that pattern, compiled at first use: a program that tokenizes nothing
// does not pay for it at its start.
var gpt2 = sync.OnceValue(func() *onig.Regexp { return onig.MustCompile(gpt2Pattern) })

// newPreTokenizer builds what raw describes (pre_tokenizers/*).
func newPreTokenizer(raw json.RawMessage) (preTokenizer, error) {
	var t preTokenizer
	if err := t.add(raw, 0); err != nil {
		return t, err
	}
	return t, nil
}

func (t *preTokenizer) add(raw json.RawMessage, depth int) error {
	var c struct {
		Type             string
		Pretokenizers    []json.RawMessage
		Pattern          *pattern
		Behavior         behavior
		Invert           bool
		AddPrefixSpace   *bool `json:"add_prefix_space"`
		UseRegex         *bool `json:"use_regex"`
		IndividualDigits bool  `json:"individual_digits"`
		Delimiter        string
		Length           *int
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	if c.Type == "Sequence" {
		if depth > 16 {
			return errors.New("sequences are nested too deep")
		}
		for _, part := range c.Pretokenizers {
			if err := t.add(part, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if t.asBytes { // letters were left out for the last stage, which it is not
		t.stages, t.asBytes = append(t.stages, letters), false
	}
	switch c.Type {
	case "ByteLevel":
		if c.AddPrefixSpace != nil && *c.AddPrefixSpace {
			t.stages = append(t.stages, prefixSpace)
		}
		if c.UseRegex == nil || *c.UseRegex {
			t.stages = append(t.stages, cutter{gpt2().FindAll, "Isolated", false}.split)
		}
		t.asBytes = true
		return nil
	case "Split":
		if c.Pattern == nil {
			return errors.New("Split: pattern is missing")
		}
		find, err := c.Pattern.finder()
		if err != nil {
			return err
		}
		return t.cut(cutter{find, c.Behavior, c.Invert})
	case "Metaspace":
		do, err := newMetaspace(raw)
		t.stages = append(t.stages, do.stage)
		return err
	case "Digits":
		if c.IndividualDigits {
			return t.cut(cutter{runes(numeric), "Isolated", false})
		}
		return t.cut(cutter{runes(numeric), "Contiguous", false})
	case "Punctuation":
		if c.Behavior == "" {
			c.Behavior = "Isolated"
		}
		return t.cut(cutter{runes(punctuation), c.Behavior, false})
	case "WhitespaceSplit":
		return t.cut(cutter{runes(whitespace), "Removed", false})
	case "Whitespace":
		return t.cut(cutter{wordsAndSigns, "Removed", true})
	case "CharDelimiterSplit", "Delimiter":
		if utf8.RuneCountInString(c.Delimiter) != 1 {
			return errors.New("CharDelimiterSplit: delimiter is not one character")
		}
		return t.cut(cutter{literal(c.Delimiter), "Removed", false})
	case "FixedLength":
		length := 5
		if c.Length != nil {
			length = *c.Length
		}
		if length < 1 {
			return errors.New("FixedLength: length is below 1")
		}
		t.stages = append(t.stages, fixedLength(length))
		return nil
	}
	return fmt.Errorf("the pre-tokenizer %q is not supported", c.Type)
}

func (t *preTokenizer) cut(c cutter) error {
	t.stages = append(t.stages, c.split)
	return c.behavior.check()
}

// prefixSpace puts a space before a piece that has none.
func prefixSpace(p piece, emit func(piece) error) error {
	if !strings.HasPrefix(p.text, " ") {
		p = p.prepend(" ")
	}
	return emit(p)
}

// letters writes each byte as its letter.
func letters(p piece, emit func(piece) error) error {
	p, err := lettered(p)
	if err != nil {
		return err
	}
	return emit(p)
}

func lettered(p piece) (piece, error) {
	if err := p.budget.Write(len(p.text)); err != nil {
		return p, err
	}
	return p.with(toLetters(p.text), len(toLetters(p.text[:p.zero]))), nil
}

// wordsAndSigns finds \w+|[^\w\s]+ .
func wordsAndSigns(text string, _ *onig.Budget, found func(start, end int)) error {
	start, kind := 0, 0
	for i, r := range text {
		now := 2
		switch {
		case word(r):
			now = 1
		case whitespace(r):
			now = 0
		}
		if now != kind {
			if kind != 0 {
				found(start, i)
			}
			start, kind = i, now
		}
	}
	if kind != 0 {
		found(start, len(text))
	}
	return nil
}

func fixedLength(length int) stage {
	return func(p piece, emit func(piece) error) error {
		start, n := 0, 0
		for i := range p.text {
			if n == length {
				if err := emit(p.cut(start, i)); err != nil {
					return err
				}
				start, n = i, 0
			}
			n++
		}
		return emit(p.cut(start, len(p.text)))
	}
}
