package render

import (
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// Tokenize returns the ids of c: those that the server says itself, or else
// those of the rendered prompt as the profile says that the server tokenizes it,
// all at once or the contents by themselves.
func (s *Subject) Tokenize(c Conversation) ([]int, error) {
	if server, ok := s.Route.(Tokenizing); ok {
		return server.IDs(c)
	}
	which, err := recognition(&s.Profile)
	if err != nil {
		return nil, err
	}
	return s.idsOf(c, which)
}

// idsOf are the ids of c where contents are tokenized with the added tokens that
// which names.
func (s *Subject) idsOf(c Conversation, which bpe.Recognition) ([]int, error) {
	encode := func() ([]int, error) {
		if which != bpe.AllAdded {
			return s.inParts(c, which)
		}
		text, err := s.Route.Render(c)
		if err != nil {
			return nil, err
		}
		return s.Tokenizer.Encode(text, bpe.Options{AddSpecialTokens: s.Profile.AddSpecialTokens})
	}
	if m := s.remembers(); m != nil {
		return m.tokens(c, which, s.Profile.AddSpecialTokens, encode)
	}
	return encode()
}

// inParts tokenizes what the template writes with every added token and the
// contents with those that which names. The contents are found by rendering
// placeholders in their stead: words of letters, longer than what a template
// looks for at the start of a content.
func (s *Subject) inParts(c Conversation, which bpe.Recognition) ([]int, error) {
	hidden, contents, _ := hide(c)
	text, err := s.Route.Render(hidden)
	if err != nil {
		return nil, err
	}
	var ids []int
	first := true
	add := func(part string, o bpe.Options) error {
		o.AddSpecialTokens = first && s.Profile.AddSpecialTokens
		first = false
		more, err := s.Tokenizer.Encode(part, o)
		ids = append(ids, more...)
		return err
	}
	for {
		at, word := next(text, contents)
		if word == "" {
			return ids, add(text, bpe.Options{})
		}
		if err := add(text[:at], bpe.Options{}); err != nil {
			return nil, err
		}
		if err := add(contents[word], bpe.Options{Added: which}); err != nil {
			return nil, err
		}
		text = text[at+len(word):]
	}
}

// next returns where the first placeholder in text is, and which.
func next(text string, contents map[string]string) (int, string) {
	at, found := len(text), ""
	for word := range contents {
		if i := strings.Index(text, word); i >= 0 && i < at {
			at, found = i, word
		}
	}
	return at, found
}

func placeholder(i int) string {
	return fmt.Sprintf("QzPlaceholderOfTheContentOfMessageNumber%cInThisConversationzQ", 'A'+rune(i%26)+32*rune(i/26%2))
}
