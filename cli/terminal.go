package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/interlock-harness/interlock/harness/report"
)

// isTerminal reports whether w is a screen that understands a carriage return.
func isTerminal(w io.Writer) bool {
	if r, wrapped := w.(*results); wrapped {
		w = r.Writer
	}
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// asks reports whether somebody at a terminal can be asked: one who sees the
// question and can answer it, and did not say --no-input.
func (s *streams) asks() bool {
	in := s.in
	if i, wrapped := in.(*input); wrapped {
		in = i.Reader
	}
	answer, readable := in.(*os.File)
	question, visible := s.err.(*os.File)
	return !s.noInput && readable && visible && term.IsTerminal(int(answer.Fd())) && term.IsTerminal(int(question.Fd()))
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
	if s.color != "auto" && s.color != "always" && s.color != "never" {
		return usagef("--color is %q, but must be auto, always or never", s.color)
	}
	if s.noColor && s.color == "always" {
		return usagef("--no-color and --color always contradict each other: leave one of them out")
	}
	if s.noColor {
		s.color = "never"
	}
	return nil
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
// from outside can drive neither the terminal nor the runner whose log it is.
// Line feeds stay.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = report.Untrusted(lines[i]).Line()
	}
	return strings.Join(lines, "\n")
}

func clip(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}

// told writes a result: the line for a person, or with --json the object.
func (s *streams) told(object any, line string) error {
	var err error
	if s.json {
		err = json.NewEncoder(s.out).Encode(object)
	} else {
		_, err = fmt.Fprintln(s.out, printable(line))
	}
	if err != nil {
		return infrastructuref("write: %v", err)
	}
	return nil
}
