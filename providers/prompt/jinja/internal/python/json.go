package python

import (
	"math/big"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSONOptions are the arguments of json.dumps that the tojson filter of
// transformers passes on.
type JSONOptions struct {
	ASCII     bool  // ensure_ascii
	Indent    Value // None, a number of spaces, or the text itself
	Separator Value // None, or a pair: between items, and behind keys
	SortKeys  bool
}

// JSON returns json.dumps(v), which keeps the order of keys.
func JSON(t *Thread, v Value, o JSONOptions) string {
	e := &encoder{t: t, b: NewBuffer(t), ascii: o.ASCII, sorted: o.SortKeys, comma: ", ", colon: ": "}
	if s, ok := Text(v); ok { // text is encoded before the other options are looked at
		if o.Separator != nil {
			Unpack(t, o.Separator, 2)
		}
		e.text(s)
		return e.b.String()
	}
	if o.Indent != nil {
		e.pretty, e.comma = true, ","
		if o.Separator != nil {
			e.separators(o.Separator)
		}
		if s, ok := Text(o.Indent); ok {
			e.indent = s
		} else {
			e.indent = own(Mul(t, " ", o.Indent))
		}
	} else if o.Separator != nil {
		e.separators(o.Separator)
	}
	e.value(v)
	return e.b.String()
}

type encoder struct {
	t             *Thread
	b             *Buffer
	ascii, sorted bool
	comma, colon  string
	pretty        bool
	indent        string
	depth         int
}

func (e *encoder) separators(v Value) {
	pair := Unpack(e.t, v, 2)
	e.comma = textArg(pair[0], "make_encoder() argument 6 must be str, not %s")
	e.colon = textArg(pair[1], "make_encoder() argument 5 must be str, not %s")
}

func (e *encoder) value(v Value) {
	e.t.Step()
	switch x := v.(type) {
	case nil:
		e.b.WriteString("null")
	case bool:
		e.b.WriteString(strconv.FormatBool(x))
	case int:
		e.b.WriteString(strconv.Itoa(x))
	case *big.Int:
		e.b.WriteString(formatBig(e.t, x))
	case float64:
		e.b.WriteString(jsonFloat(x))
	case string:
		e.text(x)
	case Markup:
		e.text(string(x))
	case *List:
		e.list(x.Items)
	case *Tuple:
		e.list(x.Items)
	case *Dict:
		e.dict(x)
	default:
		Raise(TypeError, "Object of type %s is not JSON serializable", TypeName(v))
	}
}

func jsonFloat(f float64) string {
	switch s := FloatRepr(f); s {
	case "nan":
		return "NaN"
	case "inf":
		return "Infinity"
	case "-inf":
		return "-Infinity"
	default:
		return s
	}
}

func (e *encoder) list(items []Value) {
	if len(items) == 0 {
		e.b.WriteString("[]")
		return
	}
	e.open('[')
	for i, item := range items {
		if i > 0 {
			e.b.WriteString(e.comma)
		}
		e.newline()
		e.value(item)
	}
	e.close(']')
}

func (e *encoder) dict(d *Dict) {
	if d.Len() == 0 {
		e.b.WriteString("{}")
		return
	}
	e.open('{')
	for n, i := range e.order(d) {
		if n > 0 {
			e.b.WriteString(e.comma)
		}
		e.newline()
		e.text(e.key(d.keys[i]))
		e.b.WriteString(e.colon)
		e.value(d.values[i])
	}
	e.close('}')
}

// order returns the places of the keys in the order in which they are written.
func (e *encoder) order(d *Dict) []int {
	places := make([]int, d.Len())
	for i := range places {
		places[i] = i
	}
	if e.sorted {
		sort.SliceStable(places, func(a, b int) bool {
			e.t.Step()
			return Compare(e.t, Less, d.keys[places[a]], d.keys[places[b]])
		})
	}
	return places
}

func (e *encoder) key(k Value) string {
	switch x := k.(type) {
	case string:
		return x
	case Markup:
		return string(x)
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case int, *big.Int:
		return Repr(e.t, x)
	case float64:
		return jsonFloat(x)
	}
	Raise(TypeError, "keys must be str, int, float, bool or None, not %s", TypeName(k))
	return ""
}

func (e *encoder) open(c byte) {
	e.t.Enter(1)
	e.depth++
	_ = e.b.WriteByte(c)
}

func (e *encoder) close(c byte) {
	e.t.Leave(1)
	e.depth--
	e.newline()
	_ = e.b.WriteByte(c)
}

func (e *encoder) newline() {
	if e.pretty {
		_ = e.b.WriteByte('\n')
		e.b.Pad(e.indent, e.depth)
	}
}

const hexDigits = "0123456789abcdef"

// text writes a JSON string. Only quotes, backslashes and control characters
// are escaped, and with ascii everything that is not printable ASCII.
func (e *encoder) text(s string) {
	_ = e.b.WriteByte('"')
	start := 0
	for i, r := range s {
		if r >= ' ' && r != '"' && r != '\\' && (r < 0x7f || !e.ascii) {
			continue
		}
		e.b.WriteString(s[start:i])
		e.b.WriteString(jsonEscape(r))
		_, size := utf8.DecodeRuneInString(s[i:])
		start = i + size
	}
	e.b.WriteString(s[start:])
	_ = e.b.WriteByte('"')
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\f': `\f`, '\b': `\b`}

func jsonEscape(r rune) string {
	if s, ok := jsonEscapes[r]; ok {
		return s
	}
	if r > 0xffff {
		r -= 0x10000
		return unit(0xd800+r>>10) + unit(0xdc00+r&0x3ff)
	}
	return unit(r)
}

func unit(r rune) string {
	var b strings.Builder
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hexDigits[r>>shift&15])
	}
	return b.String()
}

// Unpack returns the n items of v, as an assignment to n targets does.
func Unpack(t *Thread, v Value, n int) []Value {
	switch x := v.(type) {
	case *Tuple:
		if len(x.Items) == n {
			return x.Items
		}
	case *List:
		if len(x.Items) == n {
			return x.Items
		}
	}
	if !CanIterate(t, v) {
		Raise(TypeError, "cannot unpack non-iterable %s object", TypeName(v))
	}
	next := Iterate(t, v)
	items := make([]Value, 0, n)
	for item, ok := next(); ok; item, ok = next() {
		if len(items) == n {
			Raise(ValueError, "too many values to unpack (expected %d)", n)
		}
		items = append(items, item)
	}
	if len(items) < n {
		Raise(ValueError, "not enough values to unpack (expected %d, got %d)", n, len(items))
	}
	return items
}
