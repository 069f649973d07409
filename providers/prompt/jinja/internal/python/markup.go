package python

import "strings"

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;")

// EscapeText replaces the five characters that mean something in HTML.
func EscapeText(t *Thread, s string) Markup {
	if !strings.ContainsAny(s, "&<>'\"") {
		return Markup(s)
	}
	t.Text(5 * len(s))
	return Markup(escaper.Replace(s))
}

// Escape returns markupsafe.escape(v): safe text stays as it is.
func Escape(t *Thread, v Value) Markup {
	if m, ok := v.(Markup); ok {
		return m
	}
	return EscapeText(t, Str(t, v))
}

// SoftStr returns markupsafe.soft_str(v): str(v), but safe text stays safe.
func SoftStr(t *Thread, v Value) Value {
	if _, ok := Text(v); ok {
		return v
	}
	return Str(t, v)
}

// like returns s marked as v is.
func like(v Value, s string) Value {
	if _, ok := v.(Markup); ok {
		return Markup(s)
	}
	return s
}

// addText returns a + b for two strs; one safe operand escapes the other.
func addText(t *Thread, a, b Value) Value {
	x, aSafe := a.(Markup)
	y, bSafe := b.(Markup)
	if !aSafe && !bSafe {
		s, r := a.(string), b.(string)
		t.Text(len(s) + len(r))
		return s + r
	}
	if !aSafe {
		x = EscapeText(t, a.(string))
	}
	if !bSafe {
		y = EscapeText(t, b.(string))
	}
	t.Text(len(x) + len(y))
	return x + y
}

// JoinText returns the values as one text, as Jinja's ~ does: plain, or with
// escaping and one safe value among them, safe.
func JoinText(t *Thread, values []Value, escaping bool) Value {
	safe := false
	if escaping {
		for _, v := range values {
			_, marked := v.(Markup)
			safe = safe || marked
		}
	}
	b := NewBuffer(t)
	for _, v := range values {
		if safe {
			b.WriteString(string(Escape(t, v)))
		} else {
			b.WriteString(Str(t, v))
		}
	}
	if safe {
		return Markup(b.String())
	}
	return b.String()
}
