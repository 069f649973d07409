package builtin

import (
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

func escape(t *python.Thread, v python.Value, a python.Args) python.Value {
	alone("escape", a)
	return python.Escape(t, v)
}

func forceEscape(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_forceescape", 0)
	return python.EscapeText(t, python.Str(t, v))
}

func safe(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_mark_safe", 0)
	return python.Markup(python.Str(t, v))
}

func stripTags(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_striptags", 0)
	return python.StripTags(t, python.Str(t, v))
}

// urlEncode quotes text for a URL; pairs become a query.
func urlEncode(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_urlencode", 0)
	if _, ok := python.Text(v); ok || !python.CanIterate(t, v) {
		return quoteURL(t, v, false)
	}
	if d, ok := v.(*python.Dict); ok {
		v = &python.View{Dict: d, Kind: python.Items}
	}
	b := python.NewBuffer(t)
	for i, pair := range python.Collect(t, v) {
		kv := python.Unpack(t, pair, 2)
		if i > 0 {
			b.WriteString("&")
		}
		b.WriteString(quoteURL(t, kv[0], true))
		b.WriteString("=")
		b.WriteString(quoteURL(t, kv[1], true))
	}
	return b.String()
}

func quoteURL(t *python.Thread, v python.Value, query bool) string {
	s := python.Str(t, v)
	if raw, ok := v.(python.Bytes); ok {
		s = string(raw)
	}
	b := python.NewBuffer(t)
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', strings.IndexByte("_.-~", c) >= 0, c == '/' && !query:
			_ = b.WriteByte(c)
		case c == ' ' && query:
			_ = b.WriteByte('+')
		default:
			_ = b.WriteByte('%')
			_ = b.WriteByte("0123456789ABCDEF"[c>>4])
			_ = b.WriteByte("0123456789ABCDEF"[c&15])
		}
	}
	return b.String()
}

// xmlAttr writes a dict as attributes of an element.
func xmlAttr(t *python.Thread, v python.Value, a python.Args) python.Value {
	space := python.Or(a.Bind("do_xmlattr", 0, "autospace")[0], true)
	d, ok := v.(*python.Dict)
	if !ok {
		if u, undefined := v.(*python.Undefined); undefined {
			u.Fail()
		}
		python.Raise("AttributeError", "'%s' object has no attribute 'items'", python.TypeName(v))
	}
	b := python.NewBuffer(t)
	for i := range d.Len() {
		key, value := d.At(i)
		if value == nil || python.IsUndefined(value) {
			continue
		}
		name, ok := python.Text(key)
		if !ok {
			python.Raise(python.TypeError, "expected string or bytes-like object, got '%s'", python.TypeName(key))
		}
		if strings.ContainsAny(name, " \t\n\r\f\v/>=") {
			python.Raise(python.ValueError, "Invalid character in attribute name: %s", python.Repr(t, key))
		}
		if b.Len() > 0 || python.Truth(t, space) {
			b.WriteString(" ")
		}
		b.WriteString(string(python.Escape(t, key)) + `="` + string(python.Escape(t, value)) + `"`)
	}
	if t.Autoescape {
		return python.Markup(b.String())
	}
	return b.String()
}
