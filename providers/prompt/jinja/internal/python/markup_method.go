package python

import (
	"html"
	"regexp"
	"strings"
)

// markupMethods are the methods of str that Markup overrides: their str
// arguments are escaped and the result is safe. Source: MarkupSafe.
var markupMethods map[string]method

// escapingMethods makes markupMethods out of textMethods.
func escapingMethods() map[string]method {
	methods := map[string]method{
		"join":      markupJoin,
		"format":    formatMethod,
		"escape":    func(t *Thread, _ Value, a Args) Value { return Escape(t, a.Bind("escape", 1, "s")[0]) },
		"striptags": func(t *Thread, self Value, a Args) Value { a.Plain("striptags", 0, 0); return StripTags(t, own(self)) },
		"unescape":  func(t *Thread, self Value, a Args) Value { a.Plain("unescape", 0, 0); return unescape(t, own(self)) },
		"partition": func(t *Thread, self Value, a Args) Value {
			return partition("str.partition", false)(t, self, Positional(Escape(t, a.Bind("partition", 1, "sep")[0])))
		},
		"rpartition": func(t *Thread, self Value, a Args) Value {
			return partition("str.rpartition", true)(t, self, Positional(Escape(t, a.Bind("rpartition", 1, "sep")[0])))
		},
	}
	for _, name := range strings.Fields("capitalize title lower upper replace ljust rjust lstrip rstrip center strip translate expandtabs swapcase zfill") {
		methods[name] = escaping(textMethods[name])
	}
	return methods
}

// escaping wraps a method of str: text arguments are escaped, the result is
// marked safe.
func escaping(m method) method {
	return func(t *Thread, self Value, a Args) Value {
		escaped := Args{Names: a.Names}
		for _, v := range a.Pos {
			escaped.Pos = append(escaped.Pos, escapeText(t, v))
		}
		for _, v := range a.Named {
			escaped.Named = append(escaped.Named, escapeText(t, v))
		}
		return Markup(own(m(t, self, escaped)))
	}
}

func escapeText(t *Thread, v Value) Value {
	if s, ok := v.(string); ok {
		return EscapeText(t, s)
	}
	return v
}

func markupJoin(t *Thread, self Value, a Args) Value {
	seq := a.Bind("join", 1, "seq")[0]
	b := NewBuffer(t)
	for i, item := range Collect(t, seq) {
		if i > 0 {
			b.WriteString(own(self))
		}
		b.WriteString(string(Escape(t, item)))
	}
	return Markup(b.String())
}

var (
	comments = regexp.MustCompile(`(?s)<!--.*?-->`)
	tags     = regexp.MustCompile(`(?s)<.*?>`)
)

// StripTags returns Markup(s).striptags(): the text without tags and comments,
// entities resolved, white space collapsed.
func StripTags(t *Thread, s string) string {
	t.Spend(len(s) >> 2)
	s = tags.ReplaceAllString(comments.ReplaceAllString(s, ""), "")
	return unescape(t, strings.Join(Fields(s, -1, false), " "))
}

func unescape(t *Thread, s string) string {
	t.Text(len(s))
	return html.UnescapeString(s)
}
