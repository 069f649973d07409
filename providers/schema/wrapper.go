package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// wrapped tells the usual way of getting keys wrong apart from others: what the
// schema asks for at the root sits one or two levels too deep, under whatever
// name.
func (s *Schema) wrapped(value any, found *Fault) *Fault {
	object, ok := value.(map[string]any)
	if !ok || found == nil || found.Reason != MissingKey && found.Reason != ExtraKey {
		return nil
	}
	required, named := map[string]bool{}, map[string]bool{}
	asked(s.root, required, named, 0)
	if len(named) == 0 && len(required) == 0 {
		return nil
	}
	if path, ok := deeper(object, required, named, 2); ok {
		return &Fault{Reason: Wrapper, Path: path, Keyword: found.Keyword, Detail: "what the schema asks for sits one level too deep, in " + show(path)}
	}
	return nil
}

// asked gathers the keys that the root of a schema requires and names.
func asked(s *jsonschema.Schema, required, named map[string]bool, depth int) {
	if s == nil || depth > 8 {
		return
	}
	for _, name := range s.Required {
		required[name] = true
	}
	for name := range s.Properties {
		named[name] = true
	}
	asked(s.Ref, required, named, depth+1)
	for _, c := range s.AllOf {
		asked(c, required, named, depth+1)
	}
}

// deeper looks for a member that has what its parent lacks.
func deeper(object map[string]any, required, named map[string]bool, levels int) (string, bool) {
	missing := false
	for name := range required {
		if _, there := object[name]; !there {
			missing = true
		}
	}
	if levels == 0 || !missing && len(required) > 0 {
		return "", false
	}
	var names []string
	for name, v := range object {
		switch v := v.(type) {
		case map[string]any:
			names = append(names, name)
		case []any:
			if len(v) == 1 {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		inner, ok := object[name].(map[string]any)
		if list, is := object[name].([]any); is && len(list) == 1 {
			inner, ok = list[0].(map[string]any)
		}
		if !ok || len(inner) == 0 || named[name] && required[name] {
			continue
		}
		if holds(inner, required, named) {
			return strictjson.Pointer(name), true
		}
		if path, ok := deeper(inner, required, named, levels-1); ok && len(object) == 1 {
			return strictjson.Pointer(name) + path, true
		}
	}
	return "", false
}

// holds reports whether inner has all required keys or, where none is required,
// only keys that the schema names.
func holds(inner map[string]any, required, named map[string]bool) bool {
	if len(required) == 0 {
		for name := range inner {
			if !named[name] {
				return false
			}
		}
		return true
	}
	for name := range required {
		if _, there := inner[name]; !there {
			return false
		}
	}
	return true
}
