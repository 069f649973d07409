package builtin

import (
	"math/big"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// Test answers whether a value is something, with is.
type Test func(t *python.Thread, v python.Value, a python.Args) python.Value

// Tests are all tests by name.
var Tests map[string]Test

func init() { // the tests filter and test look at the tables
	Tests = map[string]Test{
		"callable":  is("callable", func(_ *python.Thread, v python.Value) bool { return python.IsCallable(v) }),
		"defined":   is("test_defined", func(_ *python.Thread, v python.Value) bool { return !python.IsUndefined(v) }),
		"undefined": is("test_undefined", func(_ *python.Thread, v python.Value) bool { return python.IsUndefined(v) }),
		"none":      is("test_none", func(_ *python.Thread, v python.Value) bool { return v == nil }),
		"boolean":   is("test_boolean", func(_ *python.Thread, v python.Value) bool { _, ok := v.(bool); return ok }),
		"true":      is("test_true", func(_ *python.Thread, v python.Value) bool { return v == true }),
		"false":     is("test_false", func(_ *python.Thread, v python.Value) bool { return v == false }),
		"integer":   is("test_integer", func(_ *python.Thread, v python.Value) bool { _, ok := v.(bool); return !ok && isInteger(v) }),
		"float":     is("test_float", func(_ *python.Thread, v python.Value) bool { _, ok := v.(float64); return ok }),
		"number":    is("test_number", func(_ *python.Thread, v python.Value) bool { _, ok := v.(float64); return ok || isInteger(v) }),
		"string":    is("test_string", func(_ *python.Thread, v python.Value) bool { _, ok := python.Text(v); return ok }),
		"mapping":   is("test_mapping", func(_ *python.Thread, v python.Value) bool { _, ok := v.(*python.Dict); return ok }),
		"sequence":  is("test_sequence", isSequence),
		"iterable":  is("test_iterable", python.CanIterate),
		"escaped":   is("test_escaped", func(_ *python.Thread, v python.Value) bool { return isSafe(v) }),
		"lower":     is("test_lower", func(t *python.Thread, v python.Value) bool { return python.IsLower(python.Str(t, v)) }),
		"upper":     is("test_upper", func(t *python.Thread, v python.Value) bool { return python.IsUpper(python.Str(t, v)) }),
		"odd":       is("test_odd", func(t *python.Thread, v python.Value) bool { return python.Equal(t, python.Mod(t, v, 2), 1) }),
		"even":      is("test_even", func(t *python.Thread, v python.Value) bool { return python.Equal(t, python.Mod(t, v, 2), 0) }),
		"filter": is("test_filter", func(t *python.Thread, v python.Value) bool {
			return isKey(v, func(n string) bool { return Filters[n].Call != nil })
		}),
		"test": is("test_test", func(t *python.Thread, v python.Value) bool {
			return isKey(v, func(n string) bool { return Tests[n] != nil })
		}),
		"divisibleby": with("test_divisibleby", "num", func(t *python.Thread, v, num python.Value) bool {
			return python.Equal(t, python.Mod(t, v, num), 0)
		}),
		"sameas": with("test_sameas", "other", func(_ *python.Thread, v, other python.Value) bool { return python.Identical(v, other) }),
		"in":     with("test_in", "seq", func(t *python.Thread, v, seq python.Value) bool { return python.Contains(t, seq, v) }),
	}
	operators := map[string]func(*python.Thread, python.Value, python.Value) bool{
		"== eq equalto":    python.Equal,
		"!= ne":            func(t *python.Thread, a, b python.Value) bool { return !python.Equal(t, a, b) },
		"> gt greaterthan": ordered(python.Greater),
		">= ge":            ordered(python.GreaterEqual),
		"< lt lessthan":    ordered(python.Less),
		"<= le":            ordered(python.LessEqual),
	}
	for names, op := range operators {
		for _, name := range splitText(names, " ") {
			Tests[name] = operator(op)
		}
	}
}

func is(name string, f func(*python.Thread, python.Value) bool) Test {
	return func(t *python.Thread, v python.Value, a python.Args) python.Value {
		a.Bind(name, 0)
		return f(t, v)
	}
}

func with(name, param string, f func(t *python.Thread, v, arg python.Value) bool) Test {
	return func(t *python.Thread, v python.Value, a python.Args) python.Value {
		return f(t, v, a.Bind(name, 1, param)[0])
	}
}

// operator is a test that Python's operator module implements: it takes no
// named arguments.
func operator(f func(t *python.Thread, a, b python.Value) bool) Test {
	return func(t *python.Thread, v python.Value, a python.Args) python.Value {
		return f(t, v, a.Plain("operator", 1, 1)[0])
	}
}

func ordered(op python.Op) func(*python.Thread, python.Value, python.Value) bool {
	return func(t *python.Thread, a, b python.Value) bool { return python.Compare(t, op, a, b) }
}

// isInteger says whether v is an int, a bool included.
func isInteger(v python.Value) bool {
	switch v.(type) {
	case bool, int, *big.Int:
		return true
	}
	return false
}

// isSequence says whether v has a length and takes an index.
func isSequence(_ *python.Thread, v python.Value) bool {
	switch v.(type) {
	case string, python.Markup, python.Bytes, *python.List, *python.Tuple, *python.Dict, *python.Range, *python.Undefined:
		return true
	}
	return false
}

// isKey says whether v is one of the names of a table.
func isKey(v python.Value, known func(string) bool) bool {
	if _, ok := python.Hash(v); !ok {
		python.Raise(python.TypeError, "unhashable type: '%s'", python.TypeName(v))
	}
	name, ok := python.Text(v)
	return ok && known(name)
}

// callTest applies the test that a template names as a value.
func callTest(t *python.Thread, name, v python.Value, a python.Args) python.Value {
	text, _ := python.Text(name)
	f, ok := Tests[text]
	if !ok {
		noSuch(t, "test", name)
	}
	return f(t, v, a)
}
