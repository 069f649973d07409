package builtin

import (
	"strings"
	"unicode"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

func splitText(s, sep string) []string { return strings.Split(s, sep) }

// textOf returns the characters of a str.
func textOf(v python.Value) string {
	s, _ := python.Text(v)
	return s
}

func center(t *python.Thread, v python.Value, a python.Args) python.Value {
	width := a.Bind("do_center", 0, "width")[0]
	return python.CallMethod(t, python.SoftStr(t, v), "center", python.Or(width, 80))
}

func trim(t *python.Thread, v python.Value, a python.Args) python.Value {
	chars := a.Bind("do_trim", 0, "chars")[0]
	return python.CallMethod(t, python.SoftStr(t, v), "strip", python.Or(chars, nil))
}

func softString(t *python.Thread, v python.Value, a python.Args) python.Value {
	alone("soft_str", a)
	return python.SoftStr(t, v)
}

func format(t *python.Thread, v python.Value, a python.Args) python.Value {
	if len(a.Pos) > 0 && len(a.Names) > 0 {
		python.Raise(python.FilterArgumentError, "can't handle positional and keyword arguments at the same time")
	}
	if len(a.Names) > 0 {
		return python.Mod(t, python.SoftStr(t, v), a.Dict())
	}
	return python.Mod(t, python.SoftStr(t, v), python.NewTuple(a.Pos...))
}

// replace replaces text. With escaping on it works on safe text as soon as one
// of its inputs is safe.
func replace(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_replace", 2, "old", "new", "count")
	count := python.Or(p[2], nil)
	if count == nil {
		count = -1
	}
	if !t.Autoescape {
		return python.CallMethod(t, python.Str(t, v), "replace", python.Str(t, p[0]), python.Str(t, p[1]), count)
	}
	var s python.Value = python.SoftStr(t, v)
	if isSafe(p[0]) || isSafe(p[1]) && !isSafe(v) {
		s = python.Escape(t, v)
	}
	return python.CallMethod(t, s, "replace", python.SoftStr(t, p[0]), python.SoftStr(t, p[1]), count)
}

func isSafe(v python.Value) bool {
	_, ok := v.(python.Markup)
	return ok
}

// startsWord says whether a letter behind r begins a word for the title filter.
func startsWord(r rune) bool { return python.IsSpace(r) || strings.ContainsRune("-({[<", r) }

// title makes the first letter of every word a capital and all others small.
// Words end at white space, hyphens and opening brackets, and nowhere else:
// doc_id becomes Doc_id.
func title(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_title", 0)
	s := textOf(python.SoftStr(t, v))
	b := python.NewBuffer(t)
	for s != "" {
		end := strings.IndexFunc(s, startsWord)
		if end == 0 { // the characters between words are a part of their own
			end = strings.IndexFunc(s, func(r rune) bool { return !startsWord(r) })
		}
		if end < 0 {
			end = len(s)
		}
		word := []rune(s[:end])
		b.WriteString(python.Upper(string(word[:1])))
		b.WriteString(python.Lower(string(word[1:])))
		s = s[end:]
	}
	return b.String()
}

func wordCount(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_wordcount", 0)
	n, inWord := 0, false
	for _, r := range textOf(python.SoftStr(t, v)) {
		letter := isWord(r)
		if letter && !inWord {
			n++
		}
		inWord = letter
	}
	return n
}

// isWord says whether \w matches r.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// indent puts width spaces, or width itself, before every line but the first.
func indent(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_indent", 0, "width", "first", "blank")
	width := python.Or(p[0], 4)
	indention, ok := python.Text(width)
	if !ok {
		indention = textOf(python.Mul(t, " ", width))
	}
	if list, ok := v.(*python.List); ok { // grows by a newline, and then has no lines
		python.Raise("AttributeError", "'%s' object has no attribute 'splitlines'", python.TypeName(list))
	}
	s := textOf(python.Add(t, v, "\n"))
	lines := python.SplitLines(s, false)
	b := python.NewBuffer(t)
	blank := python.Truth(t, python.Or(p[2], false))
	if python.Truth(t, python.Or(p[1], false)) {
		b.WriteString(indention)
	}
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\n")
			if line != "" || blank {
				b.WriteString(indention)
			}
		}
		b.WriteString(line)
	}
	if isSafe(v) {
		return python.Markup(b.String())
	}
	return b.String()
}

// truncate cuts text that is longer than length plus leeway.
func truncate(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_truncate", 0, "length", "killwords", "end", "leeway")
	length, end, leeway := python.Or(p[0], 255), python.Or(p[2], "..."), python.Or(p[3], nil)
	if leeway == nil {
		leeway = 5
	}
	endLength := mustLen(t, end)
	if !python.Compare(t, python.GreaterEqual, length, endLength) {
		python.Raise("AssertionError", "expected length >= %d, got %s", endLength, python.Str(t, length))
	}
	if !python.Compare(t, python.GreaterEqual, leeway, 0) {
		python.Raise("AssertionError", "expected leeway >= 0, got %s", python.Str(t, leeway))
	}
	if python.Compare(t, python.LessEqual, mustLen(t, v), python.Add(t, length, leeway)) {
		return v
	}
	cut := python.GetSlice(t, v, nil, python.Sub(t, length, endLength), nil)
	if !python.Truth(t, python.Or(p[1], false)) {
		if _, ok := python.Text(cut); !ok {
			python.Raise("AttributeError", "'%s' object has no attribute 'rsplit'", python.TypeName(cut))
		}
		words := python.CallMethod(t, cut, "rsplit", " ", 1)
		cut = words.(*python.List).Items[0]
	}
	return python.Add(t, cut, end)
}

// mustLen returns len(v) or raises.
func mustLen(t *python.Thread, v python.Value) int {
	n, ok := python.Len(t, v)
	if !ok {
		python.Raise(python.TypeError, "object of type '%s' has no len()", python.TypeName(v))
	}
	return n
}
