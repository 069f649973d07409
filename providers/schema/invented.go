package schema

import (
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Invented walks value as if every object of the schema were closed and returns
// the pointers of keys that no part of the schema names, at any depth. A schema
// may leave objects open by accident, and unevaluatedProperties at the root says
// nothing about objects inside.
func (s *Schema) Invented(value any) []string {
	var out []string
	invented([]*jsonschema.Schema{s.root}, value, nil, &out)
	return out
}

const mostInvented = 100

func invented(under []*jsonschema.Schema, value any, path []string, out *[]string) {
	if len(*out) >= mostInvented {
		return
	}
	under = together(under)
	switch v := value.(type) {
	case map[string]any:
		described := slices.ContainsFunc(under, func(s *jsonschema.Schema) bool {
			return s.Properties != nil || s.PatternProperties != nil || s.AdditionalProperties != nil
		})
		if !described { // free-form data: the schema says nothing about its keys
			return
		}
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			next := property(under, name)
			if next == nil {
				if len(*out) < mostInvented {
					*out = append(*out, strictjson.Pointer(append(slices.Clone(path), name)...))
				}
				continue
			}
			invented(next, v[name], append(path, name), out)
		}
	case []any:
		for i, item := range v {
			invented(itemSchemas(under, i), item, append(path, strconv.Itoa(i)), out)
		}
	}
}

// together adds every schema that may apply to the same value: references,
// combinations and conditions.
func together(under []*jsonschema.Schema) []*jsonschema.Schema {
	var all []*jsonschema.Schema
	var add func(*jsonschema.Schema)
	add = func(s *jsonschema.Schema) {
		if s == nil || slices.Contains(all, s) {
			return
		}
		all = append(all, s)
		for _, c := range []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.DynamicRef, s.If, s.Then, s.Else} {
			add(c)
		}
		for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, c := range list {
				add(c)
			}
		}
		for _, c := range s.DependentSchemas {
			add(c)
		}
	}
	for _, s := range under {
		add(s)
	}
	return all
}

// property returns the schemas for a key, or nil where none names it.
func property(under []*jsonschema.Schema, name string) []*jsonschema.Schema {
	var next []*jsonschema.Schema
	for _, s := range under {
		if p, ok := s.Properties[name]; ok {
			next = append(next, p)
		}
		for pattern, p := range s.PatternProperties {
			if pattern.MatchString(name) {
				next = append(next, p)
			}
		}
	}
	if next != nil {
		return next
	}
	for _, s := range under { // a map: keys are data, values are described
		if p, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
			next = append(next, p)
		}
	}
	return next
}

func itemSchemas(under []*jsonschema.Schema, i int) []*jsonschema.Schema {
	var next []*jsonschema.Schema
	for _, s := range under {
		if i < len(s.PrefixItems) {
			next = append(next, s.PrefixItems[i])
		} else if s.Items2020 != nil {
			next = append(next, s.Items2020)
		}
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			next = append(next, items)
		case []*jsonschema.Schema:
			if i < len(items) {
				next = append(next, items[i])
			}
		}
	}
	return next
}
