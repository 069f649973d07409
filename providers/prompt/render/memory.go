package render

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// Bounds of a memory. What does not fit is made anew each time.
const (
	longestKept = 64 << 10 // bytes of a conversation
	mostKept    = 64 << 20 // bytes of all that is kept
)

// memory keeps what a template and a tokenizer made of conversations. Both are
// pure, but for a template that reads the clock: of one that does nothing is kept.
type memory struct {
	mu    sync.Mutex
	size  int
	clock bool // the template has read the clock
	texts map[string]string
	ids   map[string][]int
}

// Remember has s keep the texts and ids of the conversations that it renders here,
// for a caller that asks for the same ones again and again. It changes no answer.
// It is to be called before s is used.
func (s *Subject) Remember() {
	if local, ok := s.Route.(*Local); ok {
		local.memory = &memory{texts: map[string]string{}, ids: map[string][]int{}}
	}
}

// remembers is the memory of s, nil where it has none, or one of another tokenizer.
func (s *Subject) remembers() *memory {
	if local, ok := s.Route.(*Local); ok && local.Tokenizer == s.Tokenizer {
		return local.memory
	}
	return nil
}

// text is the text of c: one that is kept, or what render makes of it, which is to
// tell at what time.
func (m *memory) text(c Conversation, now func() time.Time, render func(now func() time.Time) (string, error)) (string, error) {
	key, ok := key(c)
	if !ok {
		return render(now)
	}
	m.mu.Lock()
	text, known := m.texts[key]
	m.mu.Unlock()
	if known {
		return text, nil
	}
	asked := false
	text, err := render(func() time.Time {
		asked = true
		return now()
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clock = m.clock || asked; err == nil && m.takes(len(key)+len(text)) {
		m.texts[key] = text
	}
	return text, err
}

// tokens are the ids of c, kept ones or what encode makes of it, with contents in
// which the tokens of which are found and with special tokens added or not. The
// caller may change them.
func (m *memory) tokens(c Conversation, which bpe.Recognition, special bool, encode func() ([]int, error)) ([]int, error) {
	key, ok := key(c)
	if !ok {
		return encode()
	}
	key += string(rune(which))
	if special {
		key += "+"
	}
	m.mu.Lock()
	ids, known := m.ids[key]
	m.mu.Unlock()
	if known {
		return slices.Clone(ids), nil
	}
	ids, err := encode()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && m.takes(len(key)+8*len(ids)) {
		m.ids[key] = slices.Clone(ids)
	}
	return ids, err
}

// takes makes room for n more bytes, where there is any.
func (m *memory) takes(n int) bool {
	if m.clock || m.size+n > mostKept {
		return false
	}
	m.size += n
	return true
}

// key tells conversations apart by all but the time; false for one that is long, or
// holds more than texts and tools.
func key(c Conversation) (string, bool) {
	var b []byte
	field := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = append(b, 0)
	if c.Generate {
		b[0] = 1
	}
	b = binary.AppendUvarint(b, uint64(len(c.Messages)))
	for _, m := range c.Messages {
		content, ok := m.Content.(string)
		if !ok || m.ToolCalls != nil || len(b)+len(content) > longestKept {
			return "", false
		}
		field(m.Role)
		field(content)
		field(m.CallID)
		field(m.Name)
	}
	for _, t := range c.Tools {
		if len(b)+len(t.Function.Parameters) > longestKept {
			return "", false
		}
		field(t.Type)
		field(t.Function.Name)
		field(t.Function.Description)
		field(string(t.Function.Parameters))
	}
	return string(b), true
}
