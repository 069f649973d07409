package builtin

import (
	"fmt"
	"math"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

func abs(t *python.Thread, v python.Value, a python.Args) python.Value {
	alone("abs", a)
	return python.Abs(t, v)
}

// numberError says whether an exception means "not a number".
func numberError(err *python.Error) bool {
	return err.Class == python.TypeError || err.Class == python.ValueError
}

// try returns f(), and false where v is not a number.
func try(f func() python.Value) (v python.Value, ok bool) {
	err := python.Catch(func() { v = f() })
	if err != nil && !numberError(err) {
		panic(err)
	}
	return v, err == nil
}

func toInt(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_int", 0, "default", "base")
	base := python.Or(p[1], 10)
	i, ok := try(func() python.Value {
		if s, isText := python.Text(v); isText {
			return python.IntBase(t, s, python.Size(base))
		}
		return python.Int(t, v)
	})
	if ok {
		return i
	}
	i, ok = try(func() python.Value { return python.Int(t, python.Float(t, v)) }) // "42.23" is 42
	if ok {
		return i
	}
	return python.Or(p[0], 0)
}

func toFloat(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_float", 0, "default")
	f, ok := try(func() python.Value { return python.Float(t, v) })
	if ok {
		return f
	}
	return python.Or(p[0], 0.0)
}

func round(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_round", 0, "precision", "method")
	precision, method := python.Or(p[0], 0), python.Or(p[1], "common")
	if _, ok := python.Hash(method); !ok {
		python.Raise(python.TypeError, "unhashable type: '%s'", python.TypeName(method))
	}
	name, _ := python.Text(method)
	switch name {
	case "common":
		return python.Round(t, v, precision)
	case "ceil", "floor":
		unit := python.Pow(t, 10, precision)
		return python.Div(t, whole(t, python.Mul(t, v, unit), name), python.Pow(t, 10, precision))
	}
	python.Raise(python.FilterArgumentError, "method must be common, ceil or floor")
	return nil
}

// whole returns math.ceil(v) or math.floor(v).
func whole(t *python.Thread, v python.Value, name string) python.Value {
	f, ok := v.(float64)
	if !ok {
		if _, isText := python.Text(v); isText {
			python.Raise(python.TypeError, "must be real number, not %s", python.TypeName(v))
		}
		if !isInteger(v) {
			python.Raise(python.TypeError, "must be real number, not %s", python.TypeName(v))
		}
		return python.Int(t, v)
	}
	if name == "ceil" {
		return python.Int(t, math.Ceil(f))
	}
	return python.Int(t, math.Floor(f))
}

func sum(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_sum", 0, "attribute", "start")
	attribute, total := python.Or(p[0], nil), python.Or(p[1], 0)
	next := python.Iterate(t, v)
	if _, ok := python.Text(total); ok {
		python.Raise(python.TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
	}
	if _, ok := total.(python.Bytes); ok {
		python.Raise(python.TypeError, "sum() can't sum bytes [use b''.join(seq) instead]")
	}
	get := attrGetter(t, attribute, nil)
	for item, ok := next(); ok; item, ok = next() {
		total = python.Add(t, total, get(item))
	}
	return total
}

// best returns the first item that no other item beats: max with Greater, min
// with Less.
func best(op python.Op) func(*python.Thread, python.Value, python.Args) python.Value {
	return func(t *python.Thread, v python.Value, a python.Args) python.Value {
		p := a.Bind("do_min_or_max", 0, "case_sensitive", "attribute")
		next := python.Iterate(t, v)
		found, ok := next()
		if !ok {
			return python.UndefinedHint("No aggregated item, sequence was empty.")
		}
		key := keyOf(t, attrGetter(t, python.Or(p[1], nil), nil), python.Or(p[0], false))
		top := key(found)
		for item, ok := next(); ok; item, ok = next() {
			if k := key(item); python.Compare(t, op, k, top) {
				found, top = item, k
			}
		}
		return found
	}
}

// fileSize writes a number of bytes for people.
func fileSize(t *python.Thread, v python.Value, a python.Args) python.Value {
	binary := python.Truth(t, python.Or(a.Bind("do_filesizeformat", 0, "binary")[0], false))
	n := python.Float(t, v)
	base, suffix := 1000.0, "B"
	if binary {
		base, suffix = 1024, "iB"
	}
	if n == 1 {
		return "1 Byte"
	}
	if n < base {
		return fmt.Sprintf("%s Bytes", python.Str(t, python.Int(t, n)))
	}
	prefixes := "kMGTPEZY"
	if binary {
		prefixes = "KMGTPEZY"
	}
	unit := base
	for i, prefix := range prefixes {
		unit *= base
		if n < unit || i == len(prefixes)-1 {
			return fmt.Sprintf("%s %c%s", python.Format(t, base*n/unit, ".1f"), prefix, suffix)
		}
	}
	return nil
}
