package python

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Dict is a dict: values by key, in the order in which the keys came first.
// It is written while it is made and read-only afterwards, because the sandbox
// lets no template change one.
type Dict struct {
	keys   []Value
	values []Value
	index  map[any]int // by hash key; built when the dict is no longer small
}

// small is the number of keys up to which a scan beats a map.
const small = 8

// NewDict returns an empty dict.
func NewDict() *Dict { return &Dict{} }

// Len returns the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// At returns the i-th key and its value.
func (d *Dict) At(i int) (key, value Value) { return d.keys[i], d.values[i] }

// Lookup returns the value of a key that is text.
func (d *Dict) Lookup(key string) (Value, bool) {
	if d.index != nil {
		i, ok := d.index[key]
		if !ok {
			return nil, false
		}
		return d.values[i], true
	}
	for i, k := range d.keys {
		switch k := k.(type) {
		case string:
			if k == key {
				return d.values[i], true
			}
		case Markup:
			if string(k) == key {
				return d.values[i], true
			}
		}
	}
	return nil, false
}

// Get returns the value of key; false when it is absent. An unhashable key is
// a TypeError, as in Python.
func (d *Dict) Get(key Value) (Value, bool) {
	if s, ok := Text(key); ok {
		return d.Lookup(s)
	}
	if i := d.find(mustHash(key)); i >= 0 {
		return d.values[i], true
	}
	return nil, false
}

// Set stores value under key. An equal key keeps its place and its spelling
// (1, 1.0 and True are one key).
func (d *Dict) Set(key, value Value) {
	h := mustHash(key)
	if i := d.find(h); i >= 0 {
		d.values[i] = value
		return
	}
	d.keys = append(d.keys, key)
	d.values = append(d.values, value)
	switch {
	case d.index != nil:
		d.index[h] = len(d.keys) - 1
	case len(d.keys) > small:
		d.index = make(map[any]int, 2*len(d.keys))
		for i, k := range d.keys {
			d.index[mustHash(k)] = i
		}
	}
}

// find returns the place of the hash key h, or -1.
func (d *Dict) find(h any) int {
	if d.index != nil {
		if i, ok := d.index[h]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.keys {
		if mustHash(k) == h {
			return i
		}
	}
	return -1
}

// Copy returns a dict with the same keys and values.
func (d *Dict) Copy() *Dict {
	c := &Dict{keys: append([]Value(nil), d.keys...), values: append([]Value(nil), d.values...)}
	if d.index != nil {
		c.index = make(map[any]int, len(d.index))
		for h, i := range d.index {
			c.index[h] = i
		}
	}
	return c
}

// Update sets every key of other.
func (d *Dict) Update(other *Dict) {
	for i, k := range other.keys {
		d.Set(k, other.values[i])
	}
}

type (
	noneKey      struct{}
	undefinedKey struct{}
	bytesKey     string
	bigKey       string
	tupleKey     string
	nanKey       struct{ at *float64 }
)

// Hash returns a comparable stand-in for v: equal exactly when Python's values
// are equal and hash alike. False is an unhashable type.
func Hash(v Value) (any, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case Markup:
		return string(x), true
	case nil:
		return noneKey{}, true
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int:
		return x, true
	case *big.Int:
		return bigKey(x.String()), true
	case float64:
		return hashFloat(x), true
	case Bytes:
		return bytesKey(x), true
	case *Undefined:
		return undefinedKey{}, true
	case *Tuple:
		return hashTuple(x)
	case *List, *Dict, *Slice:
		return nil, false
	case *View:
		return v, x.Kind == "values"
	}
	return v, true // by identity
}

func hashFloat(x float64) any {
	if x == math.Trunc(x) && !math.IsInf(x, 0) {
		h, _ := Hash(floatToInt(x))
		return h
	}
	if math.IsNaN(x) {
		return nanKey{&x} // a NaN equals nothing, itself included
	}
	return x
}

func hashTuple(x *Tuple) (any, bool) {
	var b strings.Builder
	for _, item := range x.Items {
		h, ok := Hash(item)
		if !ok {
			return nil, false
		}
		fmt.Fprintf(&b, "%T%#v,", h, h)
	}
	return tupleKey(b.String()), true
}

func mustHash(v Value) any {
	h, ok := Hash(v)
	if !ok {
		Raise(TypeError, "unhashable type: '%s'", unhashable(v))
	}
	return h
}

// unhashable names the type that Python complains about: inside a tuple it is
// the item's.
func unhashable(v Value) string {
	if x, ok := v.(*Tuple); ok {
		for _, item := range x.Items {
			if _, ok := Hash(item); !ok {
				return unhashable(item)
			}
		}
	}
	return TypeName(v)
}
