package python

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Str returns str(v).
func Str(t *Thread, v Value) string {
	switch x := v.(type) {
	case string:
		return x
	case Markup:
		return string(x)
	case *Undefined:
		return ""
	case int:
		return strconv.Itoa(x)
	case nil:
		return "None"
	}
	return Repr(t, v)
}

// Repr returns repr(v).
func Repr(t *Thread, v Value) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case bool:
		if x {
			return "True"
		}
		return "False"
	case int:
		return strconv.Itoa(x)
	case *big.Int:
		return formatBig(t, x)
	case float64:
		return FloatRepr(x)
	case string:
		return quote(x)
	case Markup:
		return "Markup(" + quote(string(x)) + ")"
	case Bytes:
		return quoteBytes(x)
	case *Undefined:
		return "Undefined"
	case *Function:
		return x.repr()
	case missing:
		return "missing"
	case *Iterator:
		return Address(x.Kind)
	}
	b := NewBuffer(t)
	(&printer{t: t, b: b}).container(v)
	return b.String()
}

// printer writes containers, and dots where one holds itself.
type printer struct {
	t    *Thread
	b    *Buffer
	open []Value
}

func (p *printer) value(v Value) {
	switch v.(type) {
	case *List, *Tuple, *Dict, *View, *Range, *Slice, Object:
		p.container(v)
	default:
		p.b.WriteString(Repr(p.t, v))
	}
}

func (p *printer) container(v Value) {
	p.t.Step()
	switch x := v.(type) {
	case *Range:
		p.rangeRepr(x)
		return
	case *Slice:
		p.items("slice(", []Value{x.Start, x.Stop, x.Step}, ")")
		return
	}
	for _, o := range p.open {
		if o == v {
			p.b.WriteString(ellipsis(v))
			return
		}
	}
	p.t.Enter(1)
	defer p.t.Leave(1)
	if x, ok := v.(Wrapper); ok { // the dict inside is what holds itself
		before, inner, after := x.Wrapped()
		p.b.WriteString(before)
		p.value(inner)
		p.b.WriteString(after)
		return
	}
	p.open = append(p.open, v)
	switch x := v.(type) {
	case *List:
		p.items("[", x.Items, "]")
	case *Tuple:
		if len(x.Items) == 1 {
			p.items("(", x.Items, ",)")
		} else {
			p.items("(", x.Items, ")")
		}
	case *Dict:
		p.dict(x)
	case *View:
		p.items("dict_"+string(x.Kind)+"([", Collect(p.t, x), "])")
	case Object:
		p.b.WriteString(x.Repr(p.t))
	default:
		p.b.WriteString("<object>")
	}
	p.open = p.open[:len(p.open)-1]
}

// Wrapper is an Object whose repr shows one value between two texts.
type Wrapper interface {
	Wrapped() (before string, inner Value, after string)
}

func ellipsis(v Value) string {
	switch v.(type) {
	case *List:
		return "[...]"
	case *Tuple:
		return "(...)"
	case *Dict:
		return "{...}"
	}
	return "..."
}

func (p *printer) items(open string, items []Value, end string) {
	p.b.WriteString(open)
	for i, item := range items {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.value(item)
	}
	p.b.WriteString(end)
}

func (p *printer) dict(d *Dict) {
	_ = p.b.WriteByte('{')
	for i, key := range d.keys {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.value(key)
		p.b.WriteString(": ")
		p.value(d.values[i])
	}
	_ = p.b.WriteByte('}')
}

func (p *printer) rangeRepr(r *Range) {
	fmt.Fprintf(&p.b.b, "range(%d, %d", r.Start, r.Stop)
	if r.Step != 1 {
		fmt.Fprintf(&p.b.b, ", %d", r.Step)
	}
	_ = p.b.WriteByte(')')
}

// quote returns the repr of a str: single quotes unless only double ones
// avoid a backslash, and escapes for what does not print.
func quote(s string) string {
	q := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		q = '"'
	}
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			b.WriteByte(byte(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case Printable(r):
			b.WriteRune(r)
		default:
			b.WriteString(escapeRune(r))
		}
	}
	b.WriteByte(q)
	return b.String()
}

// escapeRune returns \xhh, \uhhhh or \Uhhhhhhhh.
func escapeRune(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

func quoteBytes(x Bytes) string {
	q := byte('\'')
	if strings.IndexByte(string(x), '\'') >= 0 && strings.IndexByte(string(x), '"') < 0 {
		q = '"'
	}
	var b strings.Builder
	b.WriteByte('b')
	b.WriteByte(q)
	for _, c := range []byte(x) {
		switch {
		case c == q || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte(q)
	return b.String()
}

// reprShort is the repr of a key in a message; containers are cut.
func reprShort(v Value) string {
	t := &Thread{Steps: 10_000, MaxBytes: 10_000, Frames: 50}
	text := "..."
	_ = Catch(func() { text = Repr(t, v) })
	return text
}

// Ascii returns ascii(v).
func Ascii(t *Thread, v Value) string {
	s := Repr(t, v)
	if isASCII(s) {
		return s
	}
	b := NewBuffer(t)
	for _, r := range s {
		if r < utf8.RuneSelf {
			_ = b.WriteByte(byte(r))
		} else {
			b.WriteString(escapeRune(r))
		}
	}
	return b.String()
}

// sameText says whether CPython would hold x and y as one object.
func sameText(x, y string) bool {
	if len(x) != len(y) {
		return false
	}
	if r, n := utf8.DecodeRuneInString(x); n == len(x) && r <= 0xff || unsafe.StringData(x) == unsafe.StringData(y) {
		return x == y
	}
	return false
}
