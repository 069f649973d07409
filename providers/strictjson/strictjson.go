// Package strictjson reads JSON the one way that leaves nothing open: RFC 8259,
// one value, no repeated names, valid Unicode, bounded in size, depth, keys and
// numbers.
//
// encoding/json takes the last of two equal keys, folds the case of names,
// replaces invalid UTF-8 and turns numbers into binary floats. None of this is
// done here: what is accepted has exactly one meaning, and what is refused is
// refused with its kind, byte offset and JSON pointer. Data is read in one
// pass without recursion, so depth costs no stack. Numbers stay as written
// (json.Number). The package imports the standard library only.
package strictjson

import "math"

// Limits bound what is accepted. A field that is zero stands for the default;
// a negative field for "no limit".
type Limits struct {
	MaxBytes        int // whole input; default 1 MiB
	MaxDepth        int // nested arrays and objects; default 64 (the root container counts 1)
	MaxKeys         int // keys of one object; default 1,000
	MaxNumberLength int // characters of one number; default 64
	MaxExponent     int // absolute value of a written exponent, inclusive; default 400

	// AllowNUL accepts \u0000 in strings. Off by default, since PostgreSQL text
	// cannot hold it; output of a provider may.
	AllowNUL bool

	// The envelope of a provider's answer is read more leniently than what is
	// meant for us: AllowDuplicates takes repeated names (the last one counts),
	// AllowSurrogates takes lone surrogates written as escapes.
	AllowDuplicates bool
	AllowSurrogates bool
}

// Defaults are the limits that stand where nothing else is said.
var Defaults = Limits{
	MaxBytes:        1 << 20,
	MaxDepth:        64,
	MaxKeys:         1000,
	MaxNumberLength: 64,
	MaxExponent:     400,
}

func (l Limits) orDefaults() Limits {
	pick := func(v, standard int) int {
		switch {
		case v == 0:
			return standard
		case v < 0:
			return math.MaxInt
		}
		return v
	}
	l.MaxBytes = pick(l.MaxBytes, Defaults.MaxBytes)
	l.MaxDepth = pick(l.MaxDepth, Defaults.MaxDepth)
	l.MaxKeys = pick(l.MaxKeys, Defaults.MaxKeys)
	l.MaxNumberLength = pick(l.MaxNumberLength, Defaults.MaxNumberLength)
	l.MaxExponent = pick(l.MaxExponent, Defaults.MaxExponent)
	return l
}

// Check reports whether data is one strict JSON value within limits. The error
// is an *Error.
func Check(data []byte, limits Limits) error {
	s := scanner{data: data, limits: limits.orDefaults()}
	if err := s.scan(); err != nil {
		return err
	}
	return nil
}

// Decode returns the one value of data: nil, bool, string, json.Number, []any or
// map[string]any. The error is an *Error.
func Decode(data []byte, limits Limits) (any, error) {
	s := scanner{data: data, limits: limits.orDefaults(), build: true}
	if err := s.scan(); err != nil {
		return nil, err
	}
	return s.root, nil
}

// Prefix reads one value at the start of data (after white space) and returns
// the number of bytes that it takes; what follows is not looked at.
func Prefix(data []byte, limits Limits) (int, error) {
	s := scanner{data: data, limits: limits.orDefaults(), prefix: true}
	if err := s.scan(); err != nil {
		return 0, err
	}
	return s.pos, nil
}
