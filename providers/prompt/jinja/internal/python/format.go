package python

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatMethod is str.format as the sandbox runs it: attributes and items in a
// replacement field go through GetAttr and GetItem.
func formatMethod(t *Thread, self Value, a Args) Value {
	return formatWith(t, self, a.Pos, func(name string) (Value, bool) { return a.named(name) })
}

func formatMap(t *Thread, self Value, a Args) Value {
	if len(a.Names) > 0 {
		Raise(TypeError, "format_map() takes no keyword arguments")
	}
	if len(a.Pos) != 1 {
		Raise(TypeError, "format_map() takes exactly one argument (%d given)", len(a.Pos))
	}
	return formatWith(t, self, nil, func(name string) (Value, bool) {
		if v, ok := index(t, a.Pos[0], name); ok {
			return v, true
		}
		if !subscriptable(a.Pos[0]) {
			Raise(TypeError, "'%s' object is not subscriptable", TypeName(a.Pos[0]))
		}
		return nil, false
	})
}

func formatWith(t *Thread, self Value, pos []Value, named func(string) (Value, bool)) Value {
	_, safe := self.(Markup)
	f := &formatter{t: t, pos: pos, named: named, safe: safe}
	return like(self, f.format(own(self), 2))
}

// formatter is one str.format in progress (Python's string.Formatter).
type formatter struct {
	t     *Thread
	pos   []Value
	named func(string) (Value, bool)
	safe  bool
	auto  int // next automatic index; -1 once indices are written out
}

// format expands s; depth is how many levels of nested fields are left.
func (f *formatter) format(s string, depth int) string {
	if depth < 0 {
		Raise(ValueError, "Max string recursion exceeded")
	}
	b := NewBuffer(f.t)
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		c := s[i]
		s = s[i+1:]
		switch {
		case strings.HasPrefix(s, string(c)):
			_ = b.WriteByte(c)
			s = s[1:]
		case c == '}':
			Raise(ValueError, "Single '}' encountered in format string")
		case s == "":
			Raise(ValueError, "Single '{' encountered in format string")
		default:
			var f1 replacement
			f1, s = parseField(s)
			b.WriteString(f.field(f1, depth))
		}
	}
	return b.String()
}

// replacement is one {name!conversion:spec}.
type replacement struct{ name, conversion, spec string }

// parseField reads the replacement field at the start of s, behind its opening
// brace, and returns what follows it. A bracket hides braces in the name.
func parseField(s string) (r replacement, rest string) {
	at, end := 0, byte(0)
	for end == 0 {
		if at >= len(s) {
			Raise(ValueError, "expected '}' before end of string")
		}
		switch c := s[at]; c {
		case '{':
			Raise(ValueError, "unexpected '{' in field name")
		case '[':
			for at < len(s) && s[at] != ']' {
				at++
			}
			continue
		case '}', ':', '!':
			end = c
		}
		at++
	}
	r.name, s = s[:at-1], s[at:]
	if end == '}' {
		return r, s
	}
	if end == '!' {
		if s == "" {
			Raise(ValueError, "end of string while looking for conversion specifier")
		}
		_, n := utf8.DecodeRuneInString(s)
		r.conversion, s = s[:n], s[n:]
		if s != "" {
			end, s = s[0], s[1:]
			if end == '}' {
				return r, s
			}
			if end != ':' {
				Raise(ValueError, "expected ':' after conversion specifier")
			}
		}
	}
	for i, depth := 0, 1; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				r.spec = s[:i]
				return r, s[i+1:]
			}
		}
	}
	Raise(ValueError, "unmatched '{' in format spec")
	return r, ""
}

// field returns the text of one replacement field.
func (f *formatter) field(r replacement, depth int) string {
	f.t.Step()
	name := r.name
	switch {
	case name == "":
		if f.auto < 0 {
			Raise(ValueError, "cannot switch from manual field specification to automatic field numbering")
		}
		name = strconv.Itoa(f.auto)
		f.auto++
	case strings.Trim(name, "0123456789") == "":
		if f.auto > 0 {
			Raise(ValueError, "cannot switch from manual field specification to automatic field numbering")
		}
		f.auto = -1
	}
	v := f.value(name)
	switch r.conversion {
	case "":
	case "s":
		v = Str(f.t, v)
	case "r":
		v = Repr(f.t, v)
	case "a":
		v = Ascii(f.t, v)
	default:
		Raise(ValueError, "Unknown conversion specifier %s", r.conversion)
	}
	spec := f.format(r.spec, depth-1)
	if !f.safe {
		return Format(f.t, v, spec)
	}
	if m, ok := v.(Markup); ok {
		if spec != "" {
			Raise(ValueError, "Unsupported format specification for Markup.")
		}
		return string(m)
	}
	return string(EscapeText(f.t, Format(f.t, v, spec)))
}

// value resolves first.attr[item] and so on.
func (f *formatter) value(name string) Value {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := f.first(name[:end])
	for rest := name[end:]; rest != ""; {
		f.t.Step()
		if rest[0] == '.' {
			rest = rest[1:]
			n := strings.IndexAny(rest, ".[")
			if n < 0 {
				n = len(rest)
			}
			if n == 0 {
				Raise(ValueError, "Empty attribute in format string")
			}
			v, rest = GetAttr(f.t, v, rest[:n]), rest[n:]
			continue
		}
		if rest[0] != '[' {
			Raise(ValueError, "Only '.' or '[' may follow ']' in format field specifier")
		}
		n := strings.IndexByte(rest, ']')
		if n < 0 {
			Raise(ValueError, "Missing ']' in format string")
		}
		key := rest[1:n]
		if key == "" {
			Raise(ValueError, "Empty attribute in format string")
		}
		if i, ok := fieldIndex(key); ok {
			v = GetItem(f.t, v, i)
		} else {
			v = GetItem(f.t, v, key)
		}
		rest = rest[n+1:]
	}
	return v
}

func (f *formatter) first(name string) Value {
	if i, ok := fieldIndex(name); ok {
		if i >= len(f.pos) {
			Raise("IndexError", "Replacement index %d out of range for positional args tuple", i)
		}
		return f.pos[i]
	}
	v, ok := f.named(name)
	if !ok {
		Raise("KeyError", "%s", quote(name))
	}
	return v
}

// fieldIndex reads a field that is all digits.
func fieldIndex(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	i, err := strconv.Atoi(s)
	if err != nil {
		Raise(ValueError, "Too many decimal digits in format string")
	}
	return i, true
}
