package python

import "strings"

// GetAttr returns what obj.name is in a template: the attribute, else the item,
// else undefined; and an undefined value that raises SecurityError for what
// Jinja's ImmutableSandboxedEnvironment hides.
func GetAttr(t *Thread, obj Value, name string) Value {
	if v, ok := Attr(t, obj, name); ok {
		if !safeAttribute(obj, name) {
			return unsafeAttr(obj, name)
		}
		return v
	}
	if v, ok := index(t, obj, name); ok {
		return v
	}
	return UndefinedOf(obj, name)
}

// GetItem returns what obj[key] is in a template: the item, else, for a str,
// the attribute of that name, else undefined.
func GetItem(t *Thread, obj, key Value) Value {
	if v, ok := index(t, obj, key); ok {
		return v
	}
	if name, ok := Text(key); ok {
		if v, ok := Attr(t, obj, name); ok {
			if !safeAttribute(obj, name) {
				return unsafeAttr(obj, name)
			}
			return v
		}
	}
	return UndefinedOf(obj, key)
}

// safeAttribute is the sandbox's rule: no leading underscore, nothing that
// changes a list or a dict, no internals of generators and types. In the
// Jinja that transformers pins, list.pop and list.clear are not on the list.
func safeAttribute(obj Value, name string) bool {
	if strings.HasPrefix(name, "_") {
		return false
	}
	switch obj.(type) {
	case *List:
		return !listed(listMutators, name)
	case *Dict:
		return !listed(dictMutators, name)
	case *Iterator:
		return name != "gi_frame" && name != "gi_code"
	case *Function:
		return name != "mro"
	}
	return true
}
