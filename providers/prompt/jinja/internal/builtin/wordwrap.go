package builtin

import (
	"strings"
	"unicode"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// wordWrap breaks lines that are longer than width, each existing line by
// itself, as Python's textwrap does. Source: Library Reference, "textwrap".
func wordWrap(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_wordwrap", 0, "width", "break_long_words", "wrapstring", "break_on_hyphens")
	width := python.Or(p[0], 79)
	long, hyphens := python.Truth(t, python.Or(p[1], true)), python.Truth(t, python.Or(p[3], true))
	join := python.Or(p[2], nil)
	if join == nil {
		join = "\n"
	}
	if u, ok := v.(*python.Undefined); ok {
		u.Fail()
	}
	s, ok := python.Text(v)
	if !ok {
		python.Raise("AttributeError", "'%s' object has no attribute 'splitlines'", python.TypeName(v))
	}
	var all []python.Value
	for _, line := range python.SplitLines(s, false) {
		w := &wrapper{t: t, width: width, long: long, hyphens: hyphens}
		var lines []python.Value
		for _, l := range w.wrap(line) {
			lines = append(lines, l)
		}
		all = append(all, python.CallMethod(t, join, "join", &python.List{Items: lines}))
	}
	return python.CallMethod(t, join, "join", &python.List{Items: all})
}

type wrapper struct {
	t             *python.Thread
	width         python.Value
	long, hyphens bool
}

func (w *wrapper) wrap(line string) []string {
	chunks := w.chunks([]rune(line))
	if python.Compare(w.t, python.LessEqual, w.width, 0) {
		python.Raise(python.ValueError, "invalid width %s (must be > 0)", python.Repr(w.t, w.width))
	}
	var lines []string
	for len(chunks) > 0 {
		if len(lines) > 0 && blank(chunks[0]) {
			chunks = chunks[1:]
		}
		current, length := []string(nil), 0
		for len(chunks) > 0 {
			w.t.Step()
			n := len([]rune(chunks[0]))
			if !w.fits(length + n) {
				break
			}
			current, length, chunks = append(current, chunks[0]), length+n, chunks[1:]
		}
		if len(chunks) > 0 && !w.fits(len([]rune(chunks[0]))) {
			current, chunks = w.breakLong(current, chunks, length)
		}
		if len(current) > 0 && blank(current[len(current)-1]) {
			current = current[:len(current)-1]
		}
		if len(current) > 0 {
			lines = append(lines, strings.Join(current, ""))
		}
	}
	return lines
}

func (w *wrapper) fits(n int) bool { return python.Compare(w.t, python.LessEqual, n, w.width) }

func blank(s string) bool { return strings.TrimFunc(s, python.IsSpace) == "" }

// breakLong deals with a word that is wider than a line: it is cut, behind a
// hyphen if one is near, or gets a line of its own.
func (w *wrapper) breakLong(current, chunks []string, length int) (line, rest []string) {
	space := 1
	if python.Compare(w.t, python.GreaterEqual, w.width, 1) {
		space = python.Index(python.Sub(w.t, w.width, length))
	}
	if !w.long {
		if len(current) == 0 {
			current, chunks = append(current, chunks[0]), chunks[1:]
		}
		return current, chunks
	}
	word := []rune(chunks[0])
	end := min(space, len(word))
	if w.hyphens && len(word) > space {
		hyphen := strings.LastIndexByte(string(word[:end]), '-')
		if hyphen > 0 && strings.Trim(string(word[:end])[:hyphen], "-") != "" {
			end = len([]rune(string(word[:end])[:hyphen])) + 1
		}
	}
	rest = append([]string{string(word[end:])}, chunks[1:]...)
	return append(current, string(word[:end])), rest
}

// wrapSpace is what textwrap takes for white space.
func wrapSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// chunks cuts a line into words, white space and dashes: the places where it
// may be broken.
func (w *wrapper) chunks(line []rune) []string {
	var chunks []string
	for i := 0; i < len(line); {
		w.t.Step()
		end := i + 1
		switch {
		case wrapSpace(line[i]):
			for end < len(line) && wrapSpace(line[end]) {
				end++
			}
		case !w.hyphens:
			for end < len(line) && !wrapSpace(line[end]) {
				end++
			}
		case i > 0 && wordPunct(line[i-1]) && dashes(line, i):
			for end < len(line) && line[end] == '-' {
				end++
			}
		default:
			end = wordEnd(line, i)
		}
		chunks = append(chunks, string(line[i:end]))
		i = end
	}
	return chunks
}

func wordPunct(r rune) bool { return isWord(r) || strings.ContainsRune(`!"'&.,?`, r) }

func letter(line []rune, i int) bool {
	return i >= 0 && i < len(line) && isWord(line[i]) && !unicode.Is(unicode.Nd, line[i])
}

// dashes says whether two or more dashes and then a word stand at i.
func dashes(line []rune, i int) bool {
	n := i
	for n < len(line) && line[n] == '-' {
		n++
	}
	return n-i >= 2 && n < len(line) && isWord(line[n])
}

// wordEnd returns the first place behind i where a word ends: behind a hyphen
// between letters, before white space, or before dashes.
func wordEnd(line []rune, i int) int {
	for end := i + 1; end < len(line); end++ {
		if wrapSpace(line[end]) || wordPunct(line[end-1]) && dashes(line, end) {
			return end
		}
		if line[end] != '-' {
			continue
		}
		before := letter(line, end-1) && (letter(line, end-2) || end-2 >= 0 && line[end-2] == '-' && letter(line, end-3))
		behind := letter(line, end+1) && (letter(line, end+2) || end+2 < len(line) && line[end+2] == '-' && letter(line, end+3))
		if before && behind {
			return end + 1
		}
	}
	return len(line)
}
