package python

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// Format returns format(v, spec) by Python's format specification
// mini-language.
func Format(t *Thread, v Value, text string) string {
	if text == "" {
		return Str(t, v)
	}
	switch v.(type) {
	case string, Markup, bool, int, *big.Int, float64:
	default:
		Raise(TypeError, "unsupported format string passed to %s.__format__", TypeName(v))
	}
	s := parseSpec(text, v)
	switch x := v.(type) {
	case float64:
		return s.float(t, x)
	case string, Markup:
		return s.text(t, own(v))
	}
	i, _ := integer(v)
	return s.integer(t, i)
}

// formatSpec is [[fill]align][sign][z][#][0][width][grouping][.precision][type].
type formatSpec struct {
	fill      string
	align     byte // < > = ^, or 0
	sign      byte // + - space, or 0
	noMinus   bool // z: no minus zero
	alt       bool
	width     int
	group     byte // , or _ or 0
	precision int  // -1 when not given
	verb      rune // 0 when not given
	of        Value
}

func parseSpec(text string, v Value) formatSpec {
	s := formatSpec{fill: " ", precision: -1, of: v}
	rest := text
	if _, n := utf8.DecodeRuneInString(rest); len(rest) > n && strings.IndexByte("<>=^", rest[n]) >= 0 {
		s.fill, s.align, rest = rest[:n], rest[n], rest[n+1:]
	} else if strings.IndexByte("<>=^", rest[0]) >= 0 {
		s.align, rest = rest[0], rest[1:]
	}
	filled := s.fill != " " || len(text)-len(rest) > 1
	take := func(set string) (c byte) {
		if rest != "" && strings.IndexByte(set, rest[0]) >= 0 {
			c, rest = rest[0], rest[1:]
		}
		return c
	}
	s.sign = take("+- ")
	s.noMinus = take("z") != 0
	s.alt = take("#") != 0
	if take("0") != 0 && !filled {
		s.fill = "0"
		if _, isText := Text(v); s.align == 0 && !isText {
			s.align = '='
		}
	}
	s.width, rest = specNumber(rest, 0)
	s.group = take(",_")
	if s.group != 0 && take(",_") != 0 {
		Raise(ValueError, "Cannot specify both ',' and '_'.")
	}
	if take(".") != 0 {
		s.precision, rest = specNumber(rest, -1)
		if s.precision < 0 {
			Raise(ValueError, "Format specifier missing precision")
		}
	}
	if rest != "" {
		var n int
		s.verb, n = utf8.DecodeRuneInString(rest)
		if len(rest) > n {
			Raise(ValueError, "Invalid format specifier '%s' for object of type '%s'", text, TypeName(v))
		}
	}
	if s.group != 0 {
		s.checkGroup()
	}
	return s
}

func specNumber(s string, absent int) (n int, rest string) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		if n > 1<<55 {
			Raise(ValueError, "Too many decimal digits in format string")
		}
		n = n*10 + int(s[end]-'0')
		end++
	}
	if end == 0 {
		return absent, s
	}
	return n, s[end:]
}

func (s formatSpec) checkGroup() {
	switch s.verb {
	case 0, 'd', 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return
	case 'b', 'o', 'x', 'X':
		if s.group == '_' {
			return
		}
	}
	Raise(ValueError, "Cannot specify '%c' with '%s'.", s.group, string(s.verb))
}

func (s formatSpec) unknown() {
	Raise(ValueError, "Unknown format code '%s' for object of type '%s'", string(s.verb), TypeName(s.of))
}

func (s formatSpec) text(t *Thread, v string) string {
	switch {
	case s.verb != 0 && s.verb != 's':
		s.unknown()
	case s.sign != 0:
		Raise(ValueError, "Sign not allowed in string format specifier")
	case s.noMinus:
		Raise(ValueError, "Negative zero coercion (z) not allowed in string format specifier")
	case s.alt:
		Raise(ValueError, "Alternate form (#) not allowed in string format specifier")
	case s.align == '=':
		Raise(ValueError, "'=' alignment not allowed in string format specifier")
	case s.group != 0:
		Raise(ValueError, "Cannot specify '%c' with 's'.", s.group)
	}
	if s.precision >= 0 {
		v = v[:byteOffset(v, s.precision, runeCount(v))]
	}
	return s.pad(t, "", v, '<')
}

func (s formatSpec) integer(t *Thread, i Value) string {
	switch s.verb {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return s.float(t, toFloat(i))
	}
	if s.precision >= 0 {
		Raise(ValueError, "Precision not allowed in integer format specifier")
	}
	if s.noMinus {
		Raise(ValueError, "Negative zero coercion (z) not allowed in format specifier with integer")
	}
	b := toBig(i)
	digits, prefix, every := "", "", 3
	switch abs := new(big.Int).Abs(b); s.verb {
	case 0, 'd', 'n':
		digits = formatBig(t, abs)
	case 'b':
		digits, prefix, every = abs.Text(2), "0b", 4
	case 'o':
		digits, prefix, every = abs.Text(8), "0o", 4
	case 'x':
		digits, prefix, every = abs.Text(16), "0x", 4
	case 'X':
		digits, prefix, every = strings.ToUpper(abs.Text(16)), "0X", 4
	case 'c':
		return s.char(t, i)
	default:
		s.unknown()
	}
	sign := s.signOf(b.Sign() < 0)
	if s.alt {
		sign += prefix
	}
	return s.number(t, sign, digits, "", every)
}

func (s formatSpec) char(t *Thread, i Value) string {
	if s.sign != 0 {
		Raise(ValueError, "Sign not allowed with integer format specifier 'c'")
	}
	if s.alt {
		Raise(ValueError, "Alternate form (#) not allowed with integer format specifier 'c'")
	}
	n, fits := i.(int)
	if !fits || n < 0 || n > utf8.MaxRune {
		Raise(OverflowError, "%%c arg not in range(0x110000)")
	}
	return s.pad(t, "", string(rune(n)), '>')
}

func (s formatSpec) float(t *Thread, f float64) string {
	precision, verb, suffix := s.precision, s.verb, ""
	if precision < 0 {
		precision = 6
	}
	var negative bool
	var digits string
	switch verb {
	case 'e', 'E', 'f', 'F', 'g', 'G':
		negative, digits = formatFloat(t, f, verb, precision, s.alt)
	case 'n':
		negative, digits = formatFloat(t, f, 'g', precision, s.alt)
	case '%':
		negative, digits = formatFloat(t, f*100, 'f', precision, s.alt)
		suffix = "%"
	case 0:
		negative, digits = s.plainFloat(t, f)
	default:
		s.unknown()
	}
	if s.noMinus && negative && strings.Trim(digits, "0.") == "" {
		negative = false
	}
	whole := digits
	if i := strings.IndexAny(digits, ".e"); i >= 0 {
		whole = digits[:i]
	}
	return s.number(t, s.signOf(negative), whole, digits[len(whole):]+suffix, 3)
}

// plainFloat formats without a type: like repr, and with a precision like g
// that keeps one digit behind the point.
func (s formatSpec) plainFloat(t *Thread, f float64) (negative bool, digits string) {
	if s.precision < 0 {
		digits = FloatRepr(f)
		if s.alt {
			digits = altRepr(digits)
		}
		negative = strings.HasPrefix(digits, "-")
		return negative, strings.TrimPrefix(digits, "-")
	}
	if f != f || f*0 != 0 {
		return formatFloat(t, f, 'g', 1, false)
	}
	t.Text(s.precision)
	negative = strings.HasPrefix(FloatRepr(f), "-")
	if negative {
		f = -f
	}
	precision := max(s.precision, 1)
	digits = general(f, precision, s.alt, -4, precision-1)
	if !strings.ContainsAny(digits, ".e") {
		digits += ".0"
	}
	return negative, digits
}

func altRepr(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	return strings.Replace(digits, "e", ".e", 1)
}

func (s formatSpec) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.sign == '+':
		return "+"
	case s.sign == ' ':
		return " "
	}
	return ""
}

// number joins the parts of a number: grouped, and zero-padded between sign
// and digits where the alignment is '='.
func (s formatSpec) number(t *Thread, sign, digits, tail string, every int) string {
	if s.group == 0 {
		return s.pad(t, sign, digits+tail, '>')
	}
	room := 0
	if s.fill == "0" && s.align == '=' {
		room = s.width - len(sign) - len(tail)
	}
	t.Text(2 * max(room, len(digits)))
	return s.pad(t, sign, groupDigits(digits, s.group, every, room)+tail, '>')
}

// groupDigits puts sep between groups of digits from the right, with leading
// zeros until the whole is room characters wide.
func groupDigits(digits string, sep byte, every, room int) string {
	if len(digits) > 0 && !alphanumeric(digits[0]) || digits == "inf" || digits == "nan" {
		return digits
	}
	var reversed []byte
	for i := 0; i < len(digits) || len(reversed) < room; i++ {
		if i > 0 && i%every == 0 {
			reversed = append(reversed, sep)
		}
		if i < len(digits) {
			reversed = append(reversed, digits[len(digits)-1-i])
		} else {
			reversed = append(reversed, '0')
		}
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return string(reversed)
}

// pad puts sign and body into the width.
func (s formatSpec) pad(t *Thread, sign, body string, otherwise byte) string {
	n := s.width - len(sign) - runeCount(body)
	if n <= 0 {
		return sign + body
	}
	align := s.align
	if align == 0 {
		align = otherwise
	}
	b := NewBuffer(t)
	switch align {
	case '<':
		b.WriteString(sign + body)
		b.Pad(s.fill, n)
	case '=':
		b.WriteString(sign)
		b.Pad(s.fill, n)
		b.WriteString(body)
	case '^':
		b.Pad(s.fill, n/2)
		b.WriteString(sign + body)
		b.Pad(s.fill, n-n/2)
	default:
		b.Pad(s.fill, n)
		b.WriteString(sign + body)
	}
	return b.String()
}
