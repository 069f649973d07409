package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// parseTokenizerJSON reads a tokenizer.json (tokenizer/serialization.rs).
func parseTokenizerJSON(data []byte) (*Tokenizer, error) {
	parts := map[string]json.RawMessage{}
	var m *model
	s := &scanner{data: data}
	err := s.object(func(key string) (err error) {
		if key == "model" {
			m, err = readModel(s)
			return err
		}
		parts[key], err = s.value()
		if string(parts[key]) == "null" {
			delete(parts, key)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.peek(); s.pos != len(data) {
		return nil, s.fail("something follows the end")
	}
	if m == nil {
		return nil, errors.New("model is missing")
	}
	if v, ok := parts["version"]; ok && string(v) != `"1.0"` {
		return nil, fmt.Errorf("version %s of the format is not supported", v)
	}
	return assemble(m, parts)
}

// assemble builds the parts around the model.
func assemble(m *model, parts map[string]json.RawMessage) (*Tokenizer, error) {
	m.prepare()
	t := &Tokenizer{model: m}
	build := func(key string, with func(json.RawMessage) error) error {
		raw, ok := parts[key]
		if !ok {
			return nil
		}
		if err := with(raw); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	err := errors.Join(
		build("normalizer", func(raw json.RawMessage) (err error) { t.normalize, err = newNormalizer(raw); return err }),
		build("pre_tokenizer", func(raw json.RawMessage) (err error) { t.pre, err = newPreTokenizer(raw); return err }),
		build("post_processor", func(raw json.RawMessage) (err error) { t.process, err = newProcessor(raw); return err }),
		build("decoder", func(raw json.RawMessage) (err error) { t.decode, err = newDecoder(raw); return err }),
	)
	if err != nil {
		return nil, err
	}
	if t.added, err = newAdded(parts["added_tokens"], m.vocabulary, t.normalize); err != nil {
		return nil, err
	}
	t.tokenCount = countTokens(m.vocabulary, t.added)
	return t, nil
}

// readModel reads the model. Its fields may come in any order; merges that
// stand before what they need are read again at the end.
func readModel(s *scanner) (*model, error) {
	fields := map[string]json.RawMessage{}
	m := &model{}
	merges := -1 // where they begin
	err := s.object(func(key string) (err error) {
		switch {
		case key == "vocab" && s.peek() == '{':
			m.vocabulary, err = readVocabulary(s)
		case key == "merges" && m.vocabulary != nil && (fields["continuing_subword_prefix"] == nil || string(fields["continuing_subword_prefix"]) == "null"):
			s.space()
			merges = s.pos
			m.pairs, err = readMerges(s, m.vocabulary, "")
		case key == "merges":
			s.space()
			merges = s.pos
			_, err = s.value()
		case key == "vocab": // of a Unigram model, which is refused below
			_, err = s.value()
		default:
			fields[key], err = s.value()
		}
		return err
	})
	if err == nil {
		err = m.configure(fields, merges >= 0)
	}
	if err == nil && (m.vocabulary == nil || merges < 0) {
		err = errors.New("vocab or merges is missing")
	}
	if err == nil && (m.pairs == nil || m.prefix != "") {
		m.pairs, err = readMerges(&scanner{data: s.data, pos: merges}, m.vocabulary, m.prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// configure reads the small fields of the model.
func (m *model) configure(fields map[string]json.RawMessage, hasMerges bool) error {
	var c struct {
		Type         *string
		Dropout      *float64
		Unknown      string `json:"unk_token"`
		Prefix       string `json:"continuing_subword_prefix"`
		Suffix       string `json:"end_of_word_suffix"`
		FuseUnknown  bool   `json:"fuse_unk"`
		ByteFallback bool   `json:"byte_fallback"`
		IgnoreMerges bool   `json:"ignore_merges"`
	}
	raw, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	switch {
	case err != nil:
		return err
	case c.Type == nil && !hasMerges, c.Type != nil && *c.Type != "BPE":
		name := "without a type"
		if c.Type != nil {
			name = *c.Type
		}
		return fmt.Errorf("a model %s is not supported, only BPE is", name)
	case c.Dropout != nil && *c.Dropout != 0:
		return fmt.Errorf("dropout %v makes ids a matter of chance, so it is refused", *c.Dropout)
	}
	m.unknown, m.prefix, m.suffix = c.Unknown, c.Prefix, c.Suffix
	m.fuseUnknown, m.byteFallback, m.ignoreMerges = c.FuseUnknown, c.ByteFallback, c.IgnoreMerges
	return nil
}

func countTokens(v *vocabulary, a *addedVocabulary) int {
	n := 0
	for _, known := range v.known {
		if known {
			n++
		}
	}
	for id := range a.byID {
		if _, ok := v.token(id); !ok {
			n++
		}
	}
	return n
}

func sortedAdded(byID map[int]Added) []Added {
	var out []Added
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		out = append(out, byID[id])
	}
	return out
}

func firstRune(text string) (rune, int) {
	if text == "" {
		return 0, 0
	}
	return utf8.DecodeRuneInString(text)
}
