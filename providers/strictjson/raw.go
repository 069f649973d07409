package strictjson

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
)

// Raw is the text of one value inside a text that Check has accepted. It lets a
// reader pick what it knows out of a large document without building the rest,
// byte for byte as it was sent. The zero Raw stands for an absent value.
// Methods on text that Check would refuse give arbitrary results, but end.
type Raw []byte

// Lenient are the limits for the envelope of a provider's answer: what it
// holds that we did not ask for is the provider's business, what we take out of
// it is read strictly afterwards.
var Lenient = Limits{
	MaxBytes: -1, MaxDepth: 10_000, MaxKeys: -1, MaxNumberLength: -1, MaxExponent: -1,
	AllowNUL: true, AllowDuplicates: true, AllowSurrogates: true,
}

// Read checks data and returns its value without the white space around it.
func Read(data []byte, limits Limits) (Raw, error) {
	if err := Check(data, limits); err != nil {
		return nil, err
	}
	return Raw(bytes.Trim(data, " \t\r\n")), nil
}

// Kind is the first byte of the value: { [ " t f n - or a digit; 0 when absent.
func (r Raw) Kind() byte {
	if len(r) == 0 {
		return 0
	}
	return r[0]
}

// Present reports whether there is a value and it is not null.
func (r Raw) Present() bool { return len(r) > 0 && r[0] != 'n' }

// IsObject, IsArray and IsString tell the kind.
func (r Raw) IsObject() bool { return r.Kind() == '{' }
func (r Raw) IsArray() bool  { return r.Kind() == '[' }
func (r Raw) IsString() bool { return r.Kind() == '"' }

// Members yields the names and values of an object in their order, and nothing
// for any other value. The name is only valid until the next one.
func (r Raw) Members() iter.Seq2[[]byte, Raw] {
	return func(yield func([]byte, Raw) bool) {
		if !r.IsObject() {
			return
		}
		for p := 1; p < len(r); {
			p = r.skipSpace(p)
			if p >= len(r) || r[p] != '"' {
				return
			}
			end := r.skipString(p)
			name := unquote(r[p:end])
			p = r.skipSpace(end)
			if p >= len(r) || r[p] != ':' {
				return
			}
			p = r.skipSpace(p + 1)
			end = r.skipValue(p)
			if !yield(name, r[p:end]) {
				return
			}
			p = r.skipSpace(end)
			if p >= len(r) || r[p] != ',' {
				return
			}
			p++
		}
	}
}

// Elements yields the elements of an array, and nothing for any other value.
func (r Raw) Elements() iter.Seq2[int, Raw] {
	return func(yield func(int, Raw) bool) {
		if !r.IsArray() {
			return
		}
		p := r.skipSpace(1)
		if p < len(r) && r[p] == ']' {
			return
		}
		for i := 0; p < len(r); i++ {
			end := r.skipValue(p)
			if !yield(i, r[p:end]) {
				return
			}
			p = r.skipSpace(end)
			if p >= len(r) || r[p] != ',' {
				return
			}
			p = r.skipSpace(p + 1)
		}
	}
}

// Get returns the value under name, the last where the name is repeated, or nil.
func (r Raw) Get(name string) Raw {
	var found Raw
	for k, v := range r.Members() {
		if string(k) == name {
			found = v
		}
	}
	return found
}

// At returns element i of an array, or nil.
func (r Raw) At(i int) Raw {
	for n, v := range r.Elements() {
		if n == i {
			return v
		}
	}
	return nil
}

// Text returns the content of a string, "" for anything else. A lone surrogate
// becomes invalid UTF-8.
func (r Raw) Text() string {
	if !r.IsString() || len(r) < 2 {
		return ""
	}
	return string(unquote(r))
}

// AppendText appends the content of a string to b.
func (r Raw) AppendText(b []byte) []byte {
	if !r.IsString() || len(r) < 2 {
		return b
	}
	return append(b, unquote(r)...)
}

// Number returns the text of a number, "" for anything else.
func (r Raw) Number() string {
	if k := r.Kind(); k == '-' || '0' <= k && k <= '9' {
		return string(r)
	}
	return ""
}

// Int returns the exact integer that a number stands for (12, 12.0, 1.2e1), and
// whether it is one that fits; integers beyond int64 come back as its ends.
func (r Raw) Int() (int64, bool) {
	text := r.Number()
	if text == "" || len(text) > 400 {
		return 0, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	digits, exponent, negative := decimal(text)
	switch {
	case digits == "0":
		return 0, true
	case exponent < 0:
		return 0, false
	case exponent+len(digits) > 19:
	default:
		if n, err := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64); err == nil {
			if negative {
				n = -n
			}
			return n, true
		}
	}
	if negative {
		return -1 << 63, true
	}
	return 1<<63 - 1, true
}

func unquote(quoted []byte) []byte {
	if len(quoted) < 2 {
		return nil
	}
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	s := scanner{data: quoted, limits: Lenient}
	text, err := s.text(true)
	if err != nil {
		return nil
	}
	return text
}

func (r Raw) skipSpace(p int) int {
	for p < len(r) && (r[p] == ' ' || r[p] == '\n' || r[p] == '\t' || r[p] == '\r') {
		p++
	}
	return p
}

// skipString returns the position after the string that starts at p.
func (r Raw) skipString(p int) int {
	for p++; p < len(r); p++ {
		n := bytes.IndexByte(r[p:], '"')
		if n < 0 {
			return len(r)
		}
		p += n
		slashes := 0
		for r[p-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return p + 1
		}
	}
	return len(r)
}

// skipValue returns the position after the value that starts at p.
func (r Raw) skipValue(p int) int {
	depth := 0
	for p < len(r) {
		switch r[p] {
		case '"':
			p = r.skipString(p)
			if depth == 0 {
				return p
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth <= 0 {
				if depth == 0 {
					p++
				}
				return p
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return p
			}
		}
		p++
	}
	return p
}
