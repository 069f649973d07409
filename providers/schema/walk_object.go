package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

func (w *walker) object(s *jsonschema.Schema, v map[string]any) bool {
	ok := true
	for _, name := range s.Required {
		if _, there := v[name]; !there {
			ok = w.fault(MissingKey, "required", name, "the key %s is required and missing", show(name))
			break
		}
	}
	if len(v) < s.MinProperties {
		ok = w.fault(Range, "minProperties", "", "has %d keys, at least %d are asked", len(v), s.MinProperties)
	}
	if s.MaxProperties >= 0 && len(v) > s.MaxProperties {
		ok = w.fault(Range, "maxProperties", "", "has %d keys, at most %d are allowed", len(v), s.MaxProperties)
	}
	if !ok && !w.explain {
		return false
	}
	if !w.explain {
		return w.members(s, v, nil) && w.dependents(s, v)
	}
	ok = w.explained(s, v) && ok
	return w.dependents(s, v) && ok
}

// manyNames is the number of keys from which not every one is looked at to
// explain a fault.
const manyNames = 1000

// explained looks at the members in the order of their names, so that the same
// value gives the same fault.
func (w *walker) explained(s *jsonschema.Schema, v map[string]any) bool {
	names := make([]string, 0, min(len(v), manyNames))
	if len(v) > manyNames { // the keys that the schema names, and one that it does not
		first := ""
		for name := range v {
			if _, known := s.Properties[name]; known {
				names = append(names, name)
			} else if first == "" || name < first {
				first = name
			}
		}
		slices.Sort(names)
		if !w.members(s, v, append(names, first)) {
			return false
		}
		names = names[:0]
	}
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	return w.members(s, v, names)
}

func (w *walker) members(s *jsonschema.Schema, v map[string]any, names []string) bool {
	if names == nil {
		if s.Properties == nil && s.PatternProperties == nil && s.AdditionalProperties == nil && s.PropertyNames == nil {
			return true
		}
		for name, value := range v {
			if !w.member(s, name, value) {
				return false
			}
		}
		return true
	}
	ok := true
	for _, name := range names {
		ok = w.member(s, name, v[name]) && ok
	}
	return ok
}

func (w *walker) member(s *jsonschema.Schema, name string, value any) bool {
	ok, known := true, false
	if p, there := s.Properties[name]; there {
		known = true
		if p.Always != nil && !*p.Always {
			ok = w.fault(ExtraKey, "properties", name, "the key %s is forbidden", show(name))
		} else {
			ok = w.at(name, p, value)
		}
	}
	for pattern, p := range s.PatternProperties {
		if pattern.MatchString(name) {
			known = true
			ok = w.at(name, p, value) && ok
		}
	}
	if !known {
		switch p := s.AdditionalProperties.(type) {
		case bool:
			if !p {
				ok = w.fault(ExtraKey, "additionalProperties", name, "the schema names no key %s", show(name))
			}
		case *jsonschema.Schema:
			ok = w.at(name, p, value)
		}
	}
	if s.PropertyNames != nil && !w.quiet(s.PropertyNames, name) {
		ok = w.fault(ExtraKey, "propertyNames", name, "the name %s is not allowed", show(name))
	}
	return ok
}

func (w *walker) dependents(s *jsonschema.Schema, v map[string]any) bool {
	ok := true
	demand := func(keyword, name string, others []string) {
		for _, other := range others {
			if _, there := v[other]; !there {
				ok = w.fault(MissingKey, keyword, other, "the key %s is required beside %s and missing", show(other), show(name))
			}
		}
	}
	for name, others := range s.DependentRequired {
		if _, there := v[name]; there {
			demand("dependentRequired", name, others)
		}
	}
	for name, d := range s.Dependencies {
		if _, there := v[name]; !there {
			continue
		}
		switch d := d.(type) {
		case []string:
			demand("dependencies", name, d)
		case *jsonschema.Schema:
			ok = w.valid(d, v) && ok
		}
	}
	for name, d := range s.DependentSchemas {
		if _, there := v[name]; there {
			ok = w.valid(d, v) && ok
		}
	}
	return ok
}
