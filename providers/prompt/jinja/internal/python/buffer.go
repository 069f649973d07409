package python

import "strings"

// Buffer collects text and accounts for it.
type Buffer struct {
	t     *Thread
	b     strings.Builder
	alien string // the type of something added that is no text
}

// NewBuffer returns an empty buffer of t.
func NewBuffer(t *Thread) *Buffer { return &Buffer{t: t} }

// WriteString adds s.
func (b *Buffer) WriteString(s string) {
	if n := b.b.Len() + len(s); n > b.t.MaxBytes {
		b.t.Text(n)
	}
	b.t.Spend(len(s) >> 4)
	b.b.WriteString(s)
}

// WriteByte adds one ASCII character.
func (b *Buffer) WriteByte(c byte) error {
	if b.b.Len() >= b.t.MaxBytes {
		b.t.Text(b.b.Len() + 1)
	}
	return b.b.WriteByte(c)
}

// WriteRune adds one character.
func (b *Buffer) WriteRune(r rune) { b.b.WriteRune(r) }

// Pad adds n times the character c.
func (b *Buffer) Pad(c string, n int) {
	if n > 0 {
		b.WriteString(repeat(b.t, c, n))
	}
}

// Len returns the number of bytes so far.
func (b *Buffer) Len() int { return b.b.Len() }

// Add adds a value as it is. One that is no text is an error when the pieces
// are joined, at the end, as in Python.
func (b *Buffer) Add(v Value) {
	s, ok := Text(v)
	if !ok && b.alien == "" {
		b.alien = TypeName(v)
	}
	b.WriteString(s)
}

// Joined returns the text, or raises for what Add could not add.
func (b *Buffer) Joined() string {
	if b.alien != "" {
		Raise(TypeError, "sequence item 0: expected str instance, %s found", b.alien)
	}
	return b.b.String()
}

func (b *Buffer) String() string { return b.b.String() }

// repeat returns n times s.
func repeat(t *Thread, s string, n int) string {
	if n <= 0 || s == "" {
		return ""
	}
	if n > t.MaxBytes/len(s) {
		t.Text(-1)
	}
	t.Text(n * len(s))
	return strings.Repeat(s, n)
}
