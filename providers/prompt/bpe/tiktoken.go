package bpe

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// encoding is what a .tiktoken file leaves out, by the name of its encoding
// (tiktoken_ext/openai_public.py).
type encoding struct {
	name    string
	size    int // tokens in the file; 0 where the name alone decides
	pattern string
	special map[string]int
}

const (
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

var encodings = []encoding{
	{"o200k_harmony", 0, o200kPattern, harmony()},
	{"o200k", 199_998, o200kPattern, map[string]int{"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}},
	{"cl100k", 100_256, cl100kPattern, map[string]int{
		"<|endoftext|>": 100_257, "<|fim_prefix|>": 100_258, "<|fim_middle|>": 100_259, "<|fim_suffix|>": 100_260, "<|endofprompt|>": 100_276,
	}},
	{"p50k_edit", 0, gpt2Pattern, map[string]int{
		"<|endoftext|>": 50_256, "<|fim_prefix|>": 50_281, "<|fim_middle|>": 50_282, "<|fim_suffix|>": 50_283,
	}},
	{"p50k", 50_280, gpt2Pattern, map[string]int{"<|endoftext|>": 50_256}},
	{"r50k", 50_256, gpt2Pattern, map[string]int{"<|endoftext|>": 50_256}},
}

// harmony is the special tokens of gpt-oss.
func harmony() map[string]int {
	special := map[string]int{
		"<|startoftext|>": 199_998, "<|endoftext|>": 199_999, "<|return|>": 200_002, "<|constrain|>": 200_003, "<|channel|>": 200_005,
		"<|start|>": 200_006, "<|end|>": 200_007, "<|message|>": 200_008, "<|call|>": 200_012, "<|endofprompt|>": 200_018,
	}
	taken := map[int]bool{}
	for _, id := range special {
		taken[id] = true
	}
	for id := 200_000; id < 201_088; id++ {
		if !taken[id] {
			special[fmt.Sprintf("<|reserved_%d|>", id)] = id
		}
	}
	return special
}

// parseTiktoken reads lines of a token in base64 and its rank. name, that of
// the file, or else the number of tokens says which encoding it is.
func parseTiktoken(data []byte, name string) (*Tokenizer, error) {
	ranks := &rankTable{tokens: map[string]int32{}}
	for i, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			continue
		}
		token, number, ok := strings.Cut(string(line), " ")
		rank, err := strconv.ParseInt(number, 10, 32)
		if !ok || err != nil {
			return nil, fmt.Errorf("line %d is no token with its rank, and the file is no JSON either", i+1)
		}
		if err := ranks.add(token, int32(rank)); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, e := range encodings {
		if strings.Contains(name, e.name) || e.size == len(ranks.tokens) {
			var added []Added
			for content, id := range e.special {
				added = append(added, Added{ID: id, Content: content, Special: true})
			}
			return ranks.build(e.pattern, added)
		}
	}
	return nil, errNoPattern
}
