package render

import (
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// Span is a stretch of a rendered prompt that one source wrote.
type Span struct {
	Source string `json:"source"` // "template", "special", "tools", or the role of the message whose content it is
	Text   string `json:"text"`
	IDs    []int  `json:"ids"` // of this stretch by itself; where two meet, the server may join letters
}

// Spans renders c and parts the prompt by who wrote it: the contents of messages,
// what the tools add, special tokens, and the rest of the template.
func (s *Subject) Spans(c Conversation) ([]Span, error) {
	which, err := recognition(&s.Profile)
	if err != nil {
		return nil, err
	}
	hidden, contents, roles := hide(c)
	text, err := s.Route.Render(hidden)
	if err != nil {
		return nil, err
	}
	from, to := 0, 0 // what is there for the tools only
	if len(c.Tools) > 0 {
		bare := hidden
		bare.Tools = nil
		if without, err := s.Route.Render(bare); err == nil {
			from, to = between(text, without)
		}
	}
	var spans []Span
	at := 0
	for at < len(text) {
		offset, word := next(text[at:], contents)
		if spans, err = s.written(spans, text, at, at+offset, from, to); err != nil {
			return nil, err
		}
		if at += offset + len(word); word != "" {
			if spans, err = s.span(spans, roles[word], contents[word], which); err != nil {
				return nil, err
			}
		}
	}
	return spans, nil
}

// written adds the spans of text[at:end], which the template wrote; what lies in
// [from, to) is there for the tools.
func (s *Subject) written(spans []Span, text string, at, end, from, to int) ([]Span, error) {
	for at < end {
		source, stop := "template", end
		switch {
		case at < from:
			stop = min(end, from)
		case at < to:
			source, stop = "tools", min(end, to)
		}
		var err error
		if spans, err = s.parts(spans, source, text[at:stop]); err != nil {
			return nil, err
		}
		at = stop
	}
	return spans, nil
}

// parts adds text, with its special tokens as spans of their own.
func (s *Subject) parts(spans []Span, source, text string) ([]Span, error) {
	for text != "" {
		at, token := len(text), ""
		for _, added := range s.Tokenizer.AddedTokens() {
			if i := strings.Index(text, added.Content); added.Special && i >= 0 && (i < at || i == at && len(added.Content) > len(token)) {
				at, token = i, added.Content
			}
		}
		var err error
		if spans, err = s.span(spans, source, text[:at], bpe.AllAdded); err != nil {
			return nil, err
		}
		if spans, err = s.span(spans, "special", token, bpe.AllAdded); err != nil {
			return nil, err
		}
		text = text[at+len(token):]
	}
	return spans, nil
}

func (s *Subject) span(spans []Span, source, text string, which bpe.Recognition) ([]Span, error) {
	if text == "" {
		return spans, nil
	}
	ids, err := s.Tokenizer.Encode(text, bpe.Options{Added: which})
	return append(spans, Span{source, text, ids}), err
}

// hide returns c with a placeholder for each content that is text, and the
// contents and roles by placeholder.
func hide(c Conversation) (hidden Conversation, contents, roles map[string]string) {
	contents, roles = map[string]string{}, map[string]string{}
	hidden = c
	hidden.Messages = nil
	for i, m := range c.Messages {
		if text, ok := m.Content.(string); ok && text != "" {
			word := placeholder(i)
			contents[word], roles[word] = text, m.Role
			m.Content = word
		}
		hidden.Messages = append(hidden.Messages, m)
	}
	return hidden, contents, roles
}

// between returns the stretch of a that b does not have, where the rest is equal.
func between(a, b string) (from, to int) {
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	to = len(a)
	for n := len(b); to > from && n > from && a[to-1] == b[n-1]; n-- {
		to--
	}
	return from, to
}
