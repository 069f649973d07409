package python

import "math/big"

// Range is a range object.
type Range struct{ Start, Stop, Step int }

// Len returns the number of items.
func (r *Range) Len() int {
	if r.Step > 0 && r.Start < r.Stop {
		return int((uint(r.Stop)-uint(r.Start)-1)/uint(r.Step)) + 1
	}
	if r.Step < 0 && r.Start > r.Stop {
		return int((uint(r.Start)-uint(r.Stop)-1)/uint(-r.Step)) + 1
	}
	return 0
}

// At returns the i-th item.
func (r *Range) At(i int) int { return r.Start + i*r.Step }

// find returns the place of v, or -1.
func (r *Range) find(v Value) int {
	i, ok := v.(int)
	if f, isFloat := v.(float64); isFloat && f == float64(int(f)) {
		i, ok = int(f), true
	}
	if b, isBool := v.(bool); isBool {
		i, ok = boolInt(b), true
	}
	n := r.Len()
	if !ok || n == 0 {
		return -1
	}
	at := (i - r.Start) / r.Step
	if (i-r.Start)%r.Step != 0 || at < 0 || at >= n {
		return -1
	}
	return at
}

// ViewKind says what a dict view shows.
type ViewKind string

// The three views of a dict.
const (
	Keys   ViewKind = "keys"
	Values ViewKind = "values"
	Items  ViewKind = "items"
)

func (k ViewKind) reversed() string {
	return map[ViewKind]string{Keys: "dict_reversekeyiterator", Values: "dict_reversevalueiterator", Items: "dict_reverseitemiterator"}[k]
}

// View is what dict.keys(), dict.values() and dict.items() return: iterable,
// sized, and without an index.
type View struct {
	Dict *Dict
	Kind ViewKind
}

func (v *View) at(i int) Value {
	switch v.Kind {
	case Keys:
		return v.Dict.keys[i]
	case Values:
		return v.Dict.values[i]
	}
	return &Tuple{Items: []Value{v.Dict.keys[i], v.Dict.values[i]}}
}

func (v *View) contains(t *Thread, x Value) bool {
	switch v.Kind {
	case Keys:
		_, ok := v.Dict.Get(x)
		return ok
	case Items:
		pair, ok := x.(*Tuple)
		if !ok || len(pair.Items) != 2 {
			return false
		}
		value, ok := v.Dict.Get(pair.Items[0])
		return ok && Equal(t, value, pair.Items[1])
	}
	for _, value := range v.Dict.values {
		if Equal(t, value, x) {
			return true
		}
	}
	return false
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// normal returns b as an int where it fits.
func normal(b *big.Int) Value {
	if b.IsInt64() {
		if i := b.Int64(); int64(int(i)) == i {
			return int(i)
		}
	}
	return b
}
