package builtin

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"

// Filter is a function that is applied to a value with |.
type Filter struct {
	Call    func(t *python.Thread, v python.Value, a python.Args) python.Value
	Context bool // depends on the render: never folded into a constant
}

// Filters are all filters by name.
var Filters map[string]Filter

func init() { // some filters look others up
	plain := map[string]func(*python.Thread, python.Value, python.Args) python.Value{
		"abs": abs, "attr": attr, "batch": batch, "capitalize": method("capitalize"), "center": center, "count": length, "d": orDefault,
		"default": orDefault, "dictsort": dictSort, "e": escape, "escape": escape, "filesizeformat": fileSize, "first": first, "float": toFloat,
		"forceescape": forceEscape, "format": format, "groupby": groupBy, "indent": indent, "int": toInt, "items": items, "join": join, "last": last,
		"length": length, "list": list, "lower": method("lower"), "max": best(python.Greater), "min": best(python.Less), "pprint": pprint,
		"replace": replace, "reverse": reverse, "round": round, "safe": safe, "slice": slice, "sort": sortItems, "string": softString,
		"striptags": stripTags, "sum": sum, "title": title, "tojson": toJSON, "trim": trim, "truncate": truncate, "unique": unique,
		"upper": method("upper"), "urlencode": urlEncode, "urlize": urlize, "wordcount": wordCount, "wordwrap": wordWrap, "xmlattr": xmlAttr,
	}
	context := map[string]func(*python.Thread, python.Value, python.Args) python.Value{
		"map": mapItems, "random": random, "reject": selectItems(false, false), "rejectattr": selectItems(true, false),
		"select": selectItems(false, true), "selectattr": selectItems(true, true),
	}
	Filters = make(map[string]Filter, len(plain)+len(context))
	for name, f := range plain {
		Filters[name] = Filter{Call: f}
	}
	for name, f := range context {
		Filters[name] = Filter{Call: f, Context: true}
	}
}

// callFilter applies the filter that a template names as a value.
func callFilter(t *python.Thread, name, v python.Value, a python.Args) python.Value {
	text, _ := python.Text(name)
	f, ok := Filters[text]
	if !ok {
		noSuch(t, "filter", name)
	}
	return f.Call(t, v, a)
}

func noSuch(t *python.Thread, what string, name python.Value) {
	if _, ok := python.Hash(name); !ok {
		python.Raise(python.TypeError, "unhashable type: '%s'", python.TypeName(name))
	}
	hint := ""
	if u, ok := name.(*python.Undefined); ok {
		hint = " (" + u.Message() + "; did you forget to quote the callable name?)"
	}
	python.Raise(python.TemplateRuntimeError, "No %s named %s.%s", what, python.Repr(t, name), hint)
}

// method applies a method of str that takes no arguments to soft_str(v).
func method(name string) func(*python.Thread, python.Value, python.Args) python.Value {
	return func(t *python.Thread, v python.Value, a python.Args) python.Value {
		a.Bind("do_"+name, 0)
		return python.CallMethod(t, python.SoftStr(t, v), name)
	}
}

// alone refuses arguments, as a function written in C does.
func alone(name string, a python.Args) {
	if len(a.Pos)+len(a.Names) > 0 {
		python.Raise(python.TypeError, "%s() takes exactly one argument (%d given)", name, 1+len(a.Pos)+len(a.Names))
	}
}

// attrGetter returns a function that looks up a dotted path in an item. Parts
// that are digits are indices. An undefined step becomes otherwise when that is
// not None.
func attrGetter(t *python.Thread, attribute, otherwise python.Value) func(python.Value) python.Value {
	parts := attrParts(t, attribute)
	return func(item python.Value) python.Value {
		for _, part := range parts {
			item = python.GetItem(t, item, part)
			if otherwise != nil && python.IsUndefined(item) {
				item = otherwise
			}
		}
		return item
	}
}

func attrParts(t *python.Thread, attribute python.Value) []python.Value {
	if attribute == nil {
		return nil
	}
	path, ok := python.Text(attribute)
	if !ok {
		return []python.Value{attribute}
	}
	var parts []python.Value
	for _, part := range splitText(path, ".") {
		if python.IsDigit(part) {
			parts = append(parts, python.IntBase(t, part, 10))
		} else {
			parts = append(parts, part)
		}
	}
	return parts
}

// ignoreCase returns text in lower case and everything else as it is.
func ignoreCase(v python.Value) python.Value {
	if s, ok := python.Text(v); ok {
		return python.Lower(s)
	}
	return v
}

// keyOf wraps a getter so that it ignores case, unless told otherwise.
func keyOf(t *python.Thread, get func(python.Value) python.Value, caseSensitive python.Value) func(python.Value) python.Value {
	if python.Truth(t, caseSensitive) {
		return get
	}
	return func(item python.Value) python.Value { return ignoreCase(get(item)) }
}
