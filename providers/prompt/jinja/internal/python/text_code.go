package python

import (
	"strings"
	"unicode/utf8"
)

// codecs are the names, spelled as Python normalises them, of the encodings
// that str.encode and bytes.decode know here.
var codecs = map[string]string{"utf_8": "utf-8", "utf8": "utf-8", "u8": "utf-8", "ascii": "ascii", "us_ascii": "ascii", "latin_1": "latin-1",
	"latin1": "latin-1", "iso_8859_1": "latin-1", "iso8859_1": "latin-1", "l1": "latin-1"}

func codec(v Value, what string) string {
	name := textArg(v, what+"() argument 'encoding' must be str, not %s")
	known, ok := codecs[strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(name))]
	if !ok {
		Raise(UnsupportedError, "the encoding %s is not supported", quote(name))
	}
	return known
}

func encode(t *Thread, self Value, a Args) Value {
	p := a.Bind("encode", 0, "encoding", "errors")
	name := codec(Or(p[0], "utf-8"), "encode")
	mode := textArg(Or(p[1], "strict"), "encode() argument 'errors' must be str, not %s")
	s := own(self)
	t.Text(len(s))
	if name == "utf-8" || isASCII(s) {
		return Bytes(s)
	}
	limit := rune(0x7f)
	if name == "latin-1" {
		limit = 0xff
	}
	var b []byte
	for _, r := range s {
		switch {
		case r <= limit:
			b = append(b, byte(r))
		case mode == "ignore":
		case mode == "replace":
			b = append(b, '?')
		case mode == "backslashreplace":
			b = append(b, escapeRune(r)...)
		case mode == "xmlcharrefreplace":
			b = append(b, "&#"...)
			b = append(b, Str(t, int(r))...)
			b = append(b, ';')
		default:
			Raise("UnicodeEncodeError", "'%s' codec can't encode character %s: ordinal not in range(%d)", name, quote(string(r)), limit+1)
		}
	}
	return Bytes(b)
}

var bytesMethods = map[string]method{
	"decode": func(t *Thread, self Value, a Args) Value {
		p := a.Bind("decode", 0, "encoding", "errors")
		name := codec(Or(p[0], "utf-8"), "decode")
		s := string(self.(Bytes))
		t.Text(2 * len(s))
		if name == "latin-1" {
			runes := make([]rune, len(s))
			for i := range len(s) {
				runes[i] = rune(s[i])
			}
			return string(runes)
		}
		if name == "ascii" && !isASCII(s) || !utf8.ValidString(s) {
			if mode, _ := Text(Or(p[1], "strict")); mode != "strict" {
				Raise(UnsupportedError, "decoding with errors=%s is not supported", quote(mode))
			}
			Raise("UnicodeDecodeError", "'%s' codec can't decode a byte", name)
		}
		return s
	},
	"hex": func(t *Thread, self Value, a Args) Value {
		a.Plain("hex", 0, 0)
		b := NewBuffer(t)
		for _, c := range []byte(self.(Bytes)) {
			_ = b.WriteByte("0123456789abcdef"[c>>4])
			_ = b.WriteByte("0123456789abcdef"[c&15])
		}
		return b.String()
	},
}

// maketrans builds the table that translate takes: from code points to code
// points, text or None.
func maketrans(t *Thread, _ Value, a Args) Value {
	p := a.Plain("maketrans", 1, 3)
	table := NewDict()
	if !Given(p[1]) {
		d, ok := p[0].(*Dict)
		if !ok {
			Raise(TypeError, "if you give only one argument to maketrans it must be a dict")
		}
		for i := range d.Len() {
			key, value := d.At(i)
			if s, ok := Text(key); ok {
				if runeCount(s) != 1 {
					Raise(ValueError, "string keys in translate table must be of length 1")
				}
				key = int([]rune(s)[0])
			} else if _, ok := integer(key); !ok {
				Raise(TypeError, "keys in translate table must be strings or integers")
			}
			table.Set(key, value)
		}
		return table
	}
	from := []rune(textArg(p[0], "first maketrans argument must be a string if there is a second argument"))
	to := []rune(textArg(p[1], "maketrans() argument 2 must be str, not %s"))
	if len(from) != len(to) {
		Raise(ValueError, "the first two maketrans arguments must have equal length")
	}
	for i := range from {
		t.Step()
		table.Set(int(from[i]), int(to[i]))
	}
	if Given(p[2]) {
		for _, r := range textArg(p[2], "maketrans() argument 3 must be str, not %s") {
			table.Set(int(r), nil)
		}
	}
	return table
}

func translate(t *Thread, self Value, a Args) Value {
	table := a.Plain("str.translate", 1, 1)[0]
	b := NewBuffer(t)
	for _, r := range own(self) {
		t.Step()
		to, ok := index(t, table, int(r))
		if !ok {
			switch table.(type) {
			case *Dict, *List, *Tuple, string, Markup:
			default:
				Raise(TypeError, "'%s' object is not subscriptable", TypeName(table))
			}
			b.WriteRune(r)
			continue
		}
		switch x := to.(type) {
		case nil:
		case int:
			if x < 0 || x > utf8.MaxRune {
				Raise(ValueError, "character mapping must be in range(0x110000)")
			}
			b.WriteRune(rune(x))
		default:
			b.WriteString(textArg(to, "character mapping must return integer, None or str"))
		}
	}
	return b.String()
}
