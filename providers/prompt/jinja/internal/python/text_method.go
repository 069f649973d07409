package python

import "strings"

// textMethods are the methods of str. A Markup has them too, some of them in
// a version that escapes (markupMethods).
var textMethods map[string]method

func init() { // a map literal would refer to itself through Attr
	textMethods = map[string]method{
		"capitalize":   plainCase("str.capitalize", Capitalize),
		"casefold":     plainCase("str.casefold", Casefold),
		"lower":        plainCase("str.lower", Lower),
		"swapcase":     plainCase("str.swapcase", Swapcase),
		"title":        plainCase("str.title", Title),
		"upper":        plainCase("str.upper", Upper),
		"isalnum":      predicate("str.isalnum", func(s string) bool { return every(s, isAlnum) }),
		"isalpha":      predicate("str.isalpha", func(s string) bool { return every(s, isAlpha) }),
		"isascii":      predicate("str.isascii", isASCII),
		"isdecimal":    predicate("str.isdecimal", func(s string) bool { return every(s, isDecimal) }),
		"isdigit":      predicate("str.isdigit", IsDigit),
		"isidentifier": predicate("str.isidentifier", IsIdentifier),
		"islower":      predicate("str.islower", IsLower),
		"isnumeric":    predicate("str.isnumeric", func(s string) bool { return every(s, isNumeric) }),
		"isprintable":  predicate("str.isprintable", func(s string) bool { return s == "" || every(s, Printable) }),
		"isspace":      predicate("str.isspace", func(s string) bool { return every(s, IsSpace) }),
		"istitle":      predicate("str.istitle", IsTitle),
		"isupper":      predicate("str.isupper", IsUpper),
		"strip":        strip("strip", true, true),
		"lstrip":       strip("lstrip", true, false),
		"rstrip":       strip("rstrip", false, true),
		"center":       justify("center"),
		"ljust":        justify("ljust"),
		"rjust":        justify("rjust"),
		"zfill":        zfill,
		"split":        split("split", false),
		"rsplit":       split("rsplit", true),
		"splitlines":   splitlines,
		"partition":    partition("str.partition", false),
		"rpartition":   partition("str.rpartition", true),
		"join":         joinMethod,
		"replace":      replace,
		"removeprefix": removeAffix("str.removeprefix", strings.TrimPrefix),
		"removesuffix": removeAffix("str.removesuffix", strings.TrimSuffix),
		"count":        count,
		"find":         find("find", strings.Index, false),
		"index":        find("index", strings.Index, true),
		"rfind":        find("rfind", strings.LastIndex, false),
		"rindex":       find("rindex", strings.LastIndex, true),
		"startswith":   affix("startswith", strings.HasPrefix),
		"endswith":     affix("endswith", strings.HasSuffix),
		"expandtabs":   expandtabs,
		"encode":       encode,
		"maketrans":    maketrans,
		"translate":    translate,
		"format":       formatMethod,
		"format_map":   formatMap,
	}
	markupMethods = escapingMethods()
}

// own returns the characters of the str that a method is bound to.
func own(self Value) string {
	s, _ := Text(self)
	return s
}

// textArg returns an argument that must be a str; %s in message becomes the type
// that it has instead.
func textArg(v Value, message string) string {
	s, ok := Text(v)
	if !ok {
		Raise(TypeError, "%s", strings.Replace(message, "%s", TypeName(v), 1))
	}
	return s
}

func plainCase(name string, f func(string) string) method {
	return func(t *Thread, self Value, a Args) Value {
		a.Plain(name, 0, 0)
		s := own(self)
		t.Text(len(s))
		return f(s)
	}
}

func predicate(name string, f func(string) bool) method {
	return func(_ *Thread, self Value, a Args) Value {
		a.Plain(name, 0, 0)
		return f(own(self))
	}
}

func every(s string, f func(rune) bool) bool {
	for _, r := range s {
		if !f(r) {
			return false
		}
	}
	return s != ""
}

// Strip returns s without white space, or without the characters of chars, on
// the sides that are asked for.
func Strip(s string, chars Value, left, right bool) string {
	cut := IsSpace
	if chars != nil {
		set := textArg(chars, "strip arg must be None or str")
		cut = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, cut)
	}
	if right {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

func strip(name string, left, right bool) method {
	return func(t *Thread, self Value, a Args) Value {
		s := own(self)
		t.Spend(len(s) >> 6)
		if len(a.Pos) == 0 && len(a.Names) == 0 {
			return Strip(s, nil, left, right)
		}
		return Strip(s, a.Plain(name, 0, 1)[0], left, right)
	}
}

func justify(name string) method {
	return func(t *Thread, self Value, a Args) Value {
		p := a.Plain(name, 1, 2)
		width, fill := Size(p[0]), " "
		if Given(p[1]) {
			fill = textArg(p[1], "The fill character must be a unicode character, not %s")
			if runeCount(fill) != 1 {
				Raise(TypeError, "The fill character must be exactly one character long")
			}
		}
		s := own(self)
		if name == "center" {
			return Center(t, s, width, fill)
		}
		missing := width - runeCount(s)
		if missing <= 0 {
			return s
		}
		if name == "ljust" {
			return s + repeat(t, fill, missing)
		}
		return repeat(t, fill, missing) + s
	}
}

func zfill(t *Thread, self Value, a Args) Value {
	s := own(self)
	missing := Size(a.Plain("str.zfill", 1, 1)[0]) - runeCount(s)
	if missing <= 0 {
		return s
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		return s[:1] + repeat(t, "0", missing) + s[1:]
	}
	return repeat(t, "0", missing) + s
}

func expandtabs(t *Thread, self Value, a Args) Value {
	size := Size(Or(a.Bind("expandtabs", 0, "tabsize")[0], 8))
	b := NewBuffer(t)
	column := 0
	for _, r := range own(self) {
		switch {
		case r == '\t':
			if size > 0 {
				n := size - column%size
				b.Pad(" ", n)
				column += n
			}
			continue
		case r == '\n' || r == '\r':
			column = 0
		default:
			column++
		}
		b.WriteRune(r)
	}
	return b.String()
}
