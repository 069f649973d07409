package python

// Undefined is Jinja's Undefined: it prints as nothing, iterates over nothing
// and is false, and every other use raises.
type Undefined struct {
	Hint  string // the whole message where it is known
	Obj   Value  // what was asked; only when OfObj
	OfObj bool
	Name  Value  // a str for attributes and variables, any value for items
	Class string // UndefinedError or SecurityError
}

// UndefinedName is the value of a variable that does not exist.
func UndefinedName(name string) *Undefined { return &Undefined{Name: name, Class: UndefinedError} }

// UndefinedHint is an undefined value with its own message.
func UndefinedHint(hint string) *Undefined { return &Undefined{Hint: hint, Class: UndefinedError} }

// UndefinedOf is the value of an attribute or item name that obj does not have.
func UndefinedOf(obj, name Value) *Undefined {
	return &Undefined{Obj: obj, OfObj: true, Name: name, Class: UndefinedError}
}

// unsafeAttr is the value of an attribute that the sandbox hides.
func unsafeAttr(obj Value, name string) *Undefined {
	return &Undefined{Hint: "access to attribute " + quote(name) + " of " + quote(TypeName(obj)) + " object is unsafe.", Name: name, Class: SecurityError}
}

// Message says what is undefined, as Jinja words it.
func (u *Undefined) Message() string {
	if u.Hint != "" {
		return u.Hint
	}
	name, isText := Text(u.Name)
	if !u.OfObj {
		return quote(name) + " is undefined"
	}
	if !isText {
		return describe(u.Obj) + " has no element " + reprShort(u.Name)
	}
	return quote(describe(u.Obj)) + " has no attribute " + quote(name)
}

// Fail raises what any use of u raises.
func (u *Undefined) Fail() { Raise(u.Class, "%s", u.Message()) }

// describe names an object by its type the way undefined messages do.
func describe(v Value) string {
	if v == nil {
		return "None"
	}
	if module := moduleOf(v); module != "builtins" {
		return module + "." + TypeName(v) + " object"
	}
	return TypeName(v) + " object"
}

// IsUndefined says whether v is an Undefined.
func IsUndefined(v Value) bool {
	_, ok := v.(*Undefined)
	return ok
}

// mustDefined raises when v is undefined.
func mustDefined(v Value) {
	if u, ok := v.(*Undefined); ok {
		u.Fail()
	}
}
