package cli

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// isTerminal reports whether w is a screen that understands a carriage return.
func isTerminal(w io.Writer) bool {
	if r, wrapped := w.(*results); wrapped {
		w = r.Writer
	}
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// colored reports whether w may carry colour: --color decides, then NO_COLOR,
// then whether w is a terminal.
func (s *streams) colored(w io.Writer) bool {
	switch s.color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && isTerminal(w)
}

// check looks at the common flags before any command runs.
func (s *streams) check() error {
	switch s.color {
	case "auto", "always", "never":
		return nil
	}
	return usagef("--color is %q, but must be auto, always or never", s.color)
}

// line is the single moving line of a long command: drawn on a terminal only,
// erased before anything else is printed.
type line struct {
	w      io.Writer
	active bool
	shown  bool
}

// progress returns the moving line of s; it is mute with --quiet, --json or
// without a terminal.
func (s *streams) progress() *line {
	return &line{w: s.err, active: !s.quiet && !s.json && isTerminal(s.err)}
}

func (l *line) set(text string) {
	if !l.active {
		return
	}
	l.shown = true
	_, _ = io.WriteString(l.w, "\r\x1b[2K"+clip(printable(text), 79))
}

func (l *line) clear() {
	if l.shown {
		_, _ = io.WriteString(l.w, "\r\x1b[2K")
		l.shown = false
	}
}

// printable shows control and direction characters as escapes, so that text
// from outside cannot drive the terminal. Line feeds stay.
func printable(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(hexEscape(text[i]))
		case r == '\n':
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			b.WriteString(hexEscape(byte(r)))
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			b.WriteString(unicodeEscape(r))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

func hexEscape(c byte) string {
	return `\x` + string(hexDigits[c>>4]) + string(hexDigits[c&15])
}

func unicodeEscape(r rune) string {
	var b strings.Builder
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hexDigits[r>>shift&15])
	}
	return b.String()
}

func clip(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}
