package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// decoder turns tokens back into text, token by token (decoders/*).
type decoder func(tokens []string, budget *onig.Budget) ([]string, error)

// newDecoder builds the decoder that raw describes.
func newDecoder(raw json.RawMessage) (decoder, error) {
	var c struct {
		Type     string
		Decoders []json.RawMessage
		Pattern  *pattern
		Content  string
		Start    int
		Stop     int
		Suffix   string
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	plain := func(d func([]string) []string) (decoder, error) {
		return func(tokens []string, _ *onig.Budget) ([]string, error) { return d(tokens), nil }, nil
	}
	switch c.Type {
	case "Sequence":
		return decoders(c.Decoders)
	case "ByteLevel":
		return plain(decodeLetters)
	case "ByteFallback":
		return plain(decodeBytes)
	case "Fuse":
		return plain(func(tokens []string) []string { return []string{strings.Join(tokens, "")} })
	case "Metaspace":
		m, err := newMetaspace(raw)
		if err != nil {
			return nil, err
		}
		return plain(m.decode)
	case "Strip":
		if utf8.RuneCountInString(c.Content) != 1 || c.Start < 0 || c.Stop < 0 {
			return nil, errors.New("Strip: content is not one character, or a count is negative")
		}
		return plain(func(tokens []string) []string { return stripTokens(tokens, c.Content, c.Start, c.Stop) })
	case "BPEDecoder":
		return func(tokens []string, budget *onig.Budget) ([]string, error) {
			for i, token := range tokens {
				space := " "
				if i == len(tokens)-1 {
					space = ""
				}
				tokens[i] = strings.ReplaceAll(token, c.Suffix, space)
				if err := budget.Write(len(tokens[i])); err != nil {
					return nil, err
				}
			}
			return tokens, nil
		}, nil
	case "Replace":
		if c.Pattern == nil {
			return nil, errors.New("Replace: pattern is missing")
		}
		find, err := c.Pattern.finder()
		return func(tokens []string, budget *onig.Budget) ([]string, error) {
			for i, token := range tokens {
				p, err := piece{text: token, budget: budget}.replace(find, c.Content)
				if err != nil {
					return nil, err
				}
				if token != "" { // nothing is found in an empty token
					tokens[i] = p.text
				}
			}
			return tokens, nil
		}, err
	}
	return nil, fmt.Errorf("the decoder %q is not supported", c.Type)
}

func decoders(parts []json.RawMessage) (decoder, error) {
	var all []decoder
	for _, raw := range parts {
		d, err := newDecoder(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return func(tokens []string, budget *onig.Budget) ([]string, error) {
		for _, d := range all {
			var err error
			if tokens, err = d(tokens, budget); err != nil {
				return nil, err
			}
		}
		return tokens, nil
	}, nil
}

func decodeLetters(tokens []string) []string {
	var bytes []byte
	for _, token := range tokens {
		bytes = fromLetters(bytes, token)
	}
	return []string{toValid(bytes)}
}

// decodeBytes joins runs of <0xNN>. A run that is not UTF-8 becomes one U+FFFD
// for each of its bytes.
func decodeBytes(tokens []string) []string {
	var out []string
	var run []byte
	flush := func() {
		if utf8.Valid(run) {
			if len(run) > 0 {
				out = append(out, string(run))
			}
		} else {
			for range run {
				out = append(out, "\uFFFD")
			}
		}
		run = run[:0]
	}
	for _, token := range tokens {
		if b, ok := byteToken(token); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, token)
	}
	flush()
	return out
}

// byteToken reads <0xNN>.
func byteToken(token string) (byte, bool) {
	if len(token) != 6 || !strings.HasPrefix(token, "<0x") || token[5] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(strings.TrimPrefix(token[3:5], "+"), 16, 8) // Rust reads a plus sign
	return byte(b), err == nil
}

// stripTokens takes up to start and stop times content from both ends of each.
func stripTokens(tokens []string, content string, start, stop int) []string {
	for i, token := range tokens {
		for n := 0; n < start && strings.HasPrefix(token, content); n++ {
			token = token[len(content):]
		}
		for n := 0; n < stop && strings.HasSuffix(token, content); n++ {
			token = token[:len(token)-len(content)]
		}
		tokens[i] = token
	}
	return tokens
}
