package python

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// Percent returns format % arg: printf-style formatting. A Markup format
// escapes what it inserts.
func Percent(t *Thread, format, arg Value) Value {
	s, _ := Text(format)
	_, safe := format.(Markup)
	p := &percent{t: t, b: NewBuffer(t), s: s, args: []Value{arg}, single: true, safe: safe}
	switch x := arg.(type) {
	case *Tuple:
		p.args, p.single = x.Items, false
	case string, Markup:
	default:
		if subscriptable(arg) {
			p.mapping = arg
		}
	}
	p.run()
	if p.next < len(p.args) && p.mapping == nil {
		Raise(TypeError, "not all arguments converted during string formatting")
	}
	if safe {
		return Markup(p.b.String())
	}
	return p.b.String()
}

// subscriptable says whether type(v) has __getitem__, which makes v a mapping
// for the % operator.
func subscriptable(v Value) bool {
	switch v.(type) {
	case *Dict, *List, *Range, Bytes, *Undefined, Indexed:
		return true
	}
	return false
}

// percent is one formatting in progress.
type percent struct {
	t       *Thread
	b       *Buffer
	s       string // the format
	at      int    // in s
	args    []Value
	next    int
	single  bool // the argument stands alone, not in a tuple
	mapping Value
	safe    bool
}

// spec is one conversion: %(key)flags width.precision type.
type spec struct {
	left, plus, space, alt, zero bool
	width                        int
	precision                    int // -1 when not given
	verb                         rune
	start                        int // of the %, in characters
}

func (p *percent) run() {
	for p.at < len(p.s) {
		i := strings.IndexByte(p.s[p.at:], '%')
		if i < 0 {
			p.b.WriteString(p.s[p.at:])
			return
		}
		p.b.WriteString(p.s[p.at : p.at+i])
		p.at += i + 1
		p.t.Step()
		p.conversion()
	}
}

// peek returns the current character; the end of the format is an error.
func (p *percent) peek() rune {
	if p.at >= len(p.s) {
		Raise(ValueError, "incomplete format")
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.at:])
	return r
}

func (p *percent) conversion() {
	f := spec{precision: -1}
	if p.peek() == '%' {
		p.at++
		_ = p.b.WriteByte('%')
		return
	}
	if p.peek() == '(' {
		p.key()
	}
	for flags := true; flags; {
		switch p.peek() {
		case '-':
			f.left = true
		case '+':
			f.plus = true
		case ' ':
			f.space = true
		case '#':
			f.alt = true
		case '0':
			f.zero = true
		default:
			flags = false
			continue
		}
		p.at++
	}
	f.width = p.number("width")
	if f.width < 0 {
		f.left, f.width = true, -f.width
	}
	if p.peek() == '.' {
		p.at++
		f.precision = max(p.number("precision"), 0)
	}
	if c := p.peek(); c == 'h' || c == 'l' || c == 'L' {
		p.at++
	}
	f.verb = p.peek()
	_, size := utf8.DecodeRuneInString(p.s[p.at:])
	p.at += size
	p.pad(f, p.convert(f, p.argument()))
}

// key reads (name) and makes the mapping's value the next argument.
func (p *percent) key() {
	if p.mapping == nil {
		Raise(TypeError, "format requires a mapping")
	}
	depth, start := 1, p.at+1
	for p.at++; depth > 0; p.at++ {
		if p.at >= len(p.s) {
			Raise(ValueError, "incomplete format key")
		}
		switch p.s[p.at] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	name := p.s[start : p.at-1]
	v, ok := index(p.t, p.mapping, name)
	if !ok {
		if _, isDict := p.mapping.(*Dict); isDict {
			Raise("KeyError", "%s", quote(name))
		}
		Raise(TypeError, "%s indices must be integers or slices, not str", TypeName(p.mapping))
	}
	p.args, p.next, p.single = []Value{v}, 0, true
}

func (p *percent) argument() Value {
	if p.next >= len(p.args) {
		Raise(TypeError, "not enough arguments for format string")
	}
	p.next++
	return p.args[p.next-1]
}

// number reads a width or a precision: digits, or * for the next argument.
func (p *percent) number(what string) int {
	if p.peek() == '*' {
		p.at++
		v, ok := integer(p.argument())
		if !ok || p.safe { // MarkupSafe's wrapper hides that it holds an int
			Raise(TypeError, "* wants int")
		}
		n, fits := v.(int)
		if !fits || n > 1<<31-1 && what == "precision" {
			Raise(OverflowError, "Python int too large to convert to C")
		}
		return n
	}
	n := 0
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		n = n*10 + int(c-'0')
		if n > 1<<31-1 {
			Raise(ValueError, "%s too big", what)
		}
		p.at++
	}
	return n
}

// convert returns v by the conversion f, with its sign but without padding.
func (p *percent) convert(f spec, v Value) string {
	switch f.verb {
	case 's':
		return p.cut(f, p.text(v))
	case 'r':
		return p.cut(f, p.escaped(Repr(p.t, v)))
	case 'a':
		return p.cut(f, p.escaped(Ascii(p.t, v)))
	case 'c':
		return p.char(v)
	case 'd', 'i', 'u', 'o', 'x', 'X':
		return p.integer(f, v)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return p.float(f, v)
	}
	Raise(ValueError, "unsupported format character '%c' (0x%x) at index %d", f.verb, f.verb, runeCount(p.s[:p.at])-1)
	return ""
}

func (p *percent) text(v Value) string {
	if p.safe {
		return string(Escape(p.t, v))
	}
	return Str(p.t, v)
}

func (p *percent) escaped(s string) string {
	if p.safe {
		return string(EscapeText(p.t, s))
	}
	return s
}

// cut applies a precision to text.
func (p *percent) cut(f spec, s string) string {
	if f.precision < 0 || len(s) <= f.precision {
		return s
	}
	return s[:byteOffset(s, f.precision, runeCount(s))]
}

func (p *percent) char(v Value) string {
	if s, ok := Text(v); ok && runeCount(s) == 1 && !p.safe {
		return s
	}
	i, ok := integer(v)
	if !ok || p.safe {
		Raise(TypeError, "%%c requires int or char")
	}
	n, fits := i.(int)
	if !fits || n < 0 || n > utf8.MaxRune {
		Raise(OverflowError, "%%c arg not in range(0x110000)")
	}
	return string(rune(n))
}

func (p *percent) integer(f spec, v Value) string {
	i, ok := integer(v)
	switch {
	case f.verb == 'o' || f.verb == 'x' || f.verb == 'X':
		if !ok || p.safe {
			Raise(TypeError, "%%%c format: an integer is required, not %s", f.verb, TypeName(v))
		}
	case p.safe:
		i = Int(p.t, v)
	case !ok:
		mustDefined(v)
		if _, isFloat := v.(float64); !isFloat {
			Raise(TypeError, "%%%c format: a real number is required, not %s", f.verb, TypeName(v))
		}
		i = Int(p.t, v)
	}
	b := toBig(i)
	digits := new(big.Int).Abs(b)
	var s string
	switch f.verb {
	case 'x':
		s = digits.Text(16)
	case 'X':
		s = strings.ToUpper(digits.Text(16))
	case 'o':
		s = digits.Text(8)
	default:
		s = formatBig(p.t, digits)
	}
	if n := f.precision - len(s); n > 0 {
		s = repeat(p.t, "0", n) + s
	}
	prefix := ""
	if f.alt {
		prefix = map[rune]string{'x': "0x", 'X': "0X", 'o': "0o"}[f.verb]
	}
	return f.sign(b.Sign() < 0) + prefix + s
}

func (p *percent) float(f spec, v Value) string {
	if !p.safe {
		if _, isText := Text(v); isText || !isNumber(v) {
			mustDefined(v)
			Raise(TypeError, "must be real number, not %s", TypeName(v))
		}
	}
	precision := f.precision
	if precision < 0 {
		precision = 6
	}
	value := Float(p.t, v)
	negative, s := formatFloat(p.t, value, f.verb, precision, f.alt)
	return f.sign(negative) + s
}

func (f spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case f.plus:
		return "+"
	case f.space:
		return " "
	}
	return ""
}

// pad writes s in the width of f.
func (p *percent) pad(f spec, s string) {
	n := f.width - runeCount(s)
	numeric := strings.ContainsRune("diuoxXeEfFgG", f.verb)
	switch {
	case n <= 0:
		p.b.WriteString(s)
	case f.left:
		p.b.WriteString(s)
		p.b.Pad(" ", n)
	case f.zero && numeric:
		head := len(s) - len(strings.TrimLeft(s, "+- "))
		if f.alt && len(s) > head+1 && s[head] == '0' && strings.ContainsRune("xXo", rune(s[head+1]|0x20)) && strings.ContainsRune("xXo", f.verb) {
			head += 2
		}
		p.b.WriteString(s[:head])
		p.b.Pad("0", n)
		p.b.WriteString(s[head:])
	default:
		p.b.Pad(" ", n)
		p.b.WriteString(s)
	}
}
