package python

import (
	"math/big"
	"strings"
)

// Attr returns getattr(v, name) without the sandbox; false is an
// AttributeError. Attributes that only the sandbox would hide again come back
// as an opaque value.
func Attr(t *Thread, v Value, name string) (Value, bool) {
	switch x := v.(type) {
	case string:
		if m, ok := textMethods[name]; ok {
			return bind(m, v, name), true
		}
	case *Dict:
		if m, ok := dictMethods[name]; ok {
			return bind(m, v, name), true
		}
	case Markup:
		if m, ok := markupMethods[name]; ok {
			return bind(m, v, name), true
		}
		if m, ok := textMethods[name]; ok {
			return bind(m, v, name), true
		}
	case *List:
		if m, ok := listMethods[name]; ok {
			return bind(m, v, name), true
		}
	case *Tuple:
		return tupleAttr(x, name)
	case bool, int, *big.Int:
		if value, ok := intAttr(v, name); ok {
			return value, true
		}
	case float64:
		if value, ok := floatAttr(x, name); ok {
			return value, true
		}
	case Bytes:
		if m, ok := bytesMethods[name]; ok {
			return bind(m, v, name), true
		}
		if listed(bytesNames, name) {
			return rare(v, name), true
		}
	case *Range:
		if value, ok := rangeAttr(x, name); ok {
			return value, true
		}
	case *View:
		if name == "isdisjoint" && x.Kind != Values {
			return bind(disjoint, v, name), true
		}
	case *Function:
		if value, ok := x.Attrs[name]; ok {
			return value, true
		}
	case *Undefined:
		return undefinedAttr(x, name)
	case Object:
		if value, ok := x.Attr(t, name); ok {
			return value, true
		}
		if o, ok := v.(interface{ Closed() bool }); ok && o.Closed() {
			return nil, name == "__class__"
		}
	}
	return opaque{}, hidden(v, name)
}

// opaque stands for an attribute that exists and that no template may touch.
type opaque struct{}

// hidden says whether Python has an attribute name on v that starts with an
// underscore or that the sandbox knows to be dangerous.
func hidden(v Value, name string) bool {
	if !strings.HasPrefix(name, "_") {
		switch x := v.(type) {
		case *List:
			return listed(listMutators, name)
		case *Dict:
			return listed(dictMutators, name)
		case *Iterator:
			return x.Kind == "generator" && listed("close gi_code gi_frame gi_running gi_suspended gi_yieldfrom send throw", name)
		case *Function:
			return x.Kind == "type" && name == "mro"
		}
		return false
	}
	return listed(objectNames, name) || listed(hiddenNames[TypeName(v)], name)
}

func listed(names, name string) bool {
	for rest := names; rest != ""; {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		if word == name {
			return true
		}
	}
	return false
}

const (
	listMutators = "append extend insert remove reverse sort"
	bytesNames   = "capitalize center count endswith expandtabs find fromhex index isalnum isalpha isascii isdigit islower isspace istitle isupper join " +
		"ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip " +
		"swapcase title translate upper zfill"
	dictMutators = "clear pop popitem setdefault update"

	objectNames = "__class__ __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__ __gt__ __hash__ __init__ " +
		"__init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__ __str__ __subclasshook__"
	textNames  = "__add__ __contains__ __getitem__ __getnewargs__ __iter__ __len__ __mod__ __mul__ __rmod__ __rmul__"
	tupleNames = "__add__ __class_getitem__ __contains__ __getitem__ __getnewargs__ __iter__ __len__ __mul__ __rmul__"
	setNames   = "__and__ __contains__ __iter__ __len__ __or__ __rand__ __reversed__ __ror__ __rsub__ __rxor__ __sub__ __xor__"
	intNames   = "__abs__ __add__ __and__ __bool__ __ceil__ __divmod__ __float__ __floor__ __floordiv__ __getnewargs__ __index__ __int__ " +
		"__invert__ __lshift__ __mod__ __mul__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rdivmod__ __rfloordiv__ __rlshift__ " +
		"__rmod__ __rmul__ __ror__ __round__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __trunc__ __xor__"
)

// hiddenNames are the names with an underscore that a type adds to object's.
var hiddenNames = map[string]string{
	"str":         textNames,
	"Markup":      textNames + " __html__ __html_format__ __module__ __radd__ __slots__",
	"bytes":       textNames + " __bytes__",
	"list":        "__add__ __class_getitem__ __contains__ __delitem__ __getitem__ __iadd__ __imul__ __iter__ __len__ __mul__ __reversed__ __rmul__ __setitem__",
	"tuple":       tupleNames,
	"_GroupTuple": tupleNames + " __annotations__ __match_args__ __module__ __orig_bases__ __slots__ _asdict _field_defaults _fields _make _replace",
	"dict":        "__class_getitem__ __contains__ __delitem__ __getitem__ __ior__ __iter__ __len__ __or__ __reversed__ __ror__ __setitem__",
	"int":         intNames,
	"bool":        intNames,
	"float": "__abs__ __add__ __bool__ __ceil__ __divmod__ __float__ __floor__ __floordiv__ __getformat__ __getnewargs__ __int__ __mod__ " +
		"__mul__ __neg__ __pos__ __pow__ __radd__ __rdivmod__ __rfloordiv__ __rmod__ __rmul__ __round__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ __trunc__",
	"NoneType":    "__bool__",
	"range":       "__bool__ __contains__ __getitem__ __iter__ __len__ __reversed__",
	"dict_keys":   setNames,
	"dict_items":  setNames,
	"dict_values": "__iter__ __len__ __reversed__",
	"generator":   "__del__ __iter__ __name__ __next__ __qualname__",
	"function": "__annotations__ __builtins__ __call__ __closure__ __code__ __defaults__ __dict__ __get__ __globals__ __kwdefaults__ " +
		"__module__ __name__ __qualname__",
	"builtin_function_or_method": "__call__ __module__ __name__ __qualname__ __self__ __text_signature__",
	"type":                       "__base__ __bases__ __call__ __dict__ __module__ __mro__ __name__ __qualname__ __subclasses__",
}

const undefinedNames = "__add__ __aiter__ __bool__ __call__ __complex__ __div__ __float__ __floordiv__ __getattr__ __getitem__ __int__ __iter__ __len__ " +
	"__mod__ __module__ __mul__ __neg__ __pos__ __pow__ __radd__ __rdiv__ __rfloordiv__ __rmod__ __rmul__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ " +
	"_fail_with_undefined_error _undefined_exception _undefined_hint _undefined_message _undefined_name _undefined_obj"

func undefinedAttr(u *Undefined, name string) (Value, bool) {
	if listed(objectNames, name) || listed(undefinedNames, name) {
		return opaque{}, true
	}
	if !strings.HasPrefix(name, "__") {
		u.Fail()
	}
	return nil, false
}
