package schema

import (
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

func (w *walker) array(s *jsonschema.Schema, v []any) bool {
	ok := true
	if len(v) < s.MinItems {
		ok = w.fault(Range, "minItems", "", "has %d items, at least %d are asked", len(v), s.MinItems)
	}
	if s.MaxItems >= 0 && len(v) > s.MaxItems {
		ok = w.fault(Range, "maxItems", "", "has %d items, at most %d are allowed", len(v), s.MaxItems)
	}
	if ok && s.UniqueItems {
		if i, twice := repeated(v); twice {
			ok = w.fault(Range, "uniqueItems", strconv.Itoa(i), "item %d stands there before", i)
		}
	}
	for i, item := range v {
		if !ok && (!w.explain || i > 1000) { // a thousand items show what is wrong
			return ok
		}
		ok = w.item(s, i, item) && ok
	}
	if s.Contains != nil {
		ok = w.contains(s, v) && ok
	}
	return ok
}

func (w *walker) item(s *jsonschema.Schema, i int, item any) bool {
	apply := func(c *jsonschema.Schema) bool {
		if c.Always != nil {
			return *c.Always || w.fault(Range, "items", strconv.Itoa(i), "item %d is too many", i)
		}
		if !w.explain {
			return w.valid(c, item)
		}
		return w.at(strconv.Itoa(i), c, item)
	}
	if i < len(s.PrefixItems) {
		return apply(s.PrefixItems[i])
	}
	if s.Items2020 != nil {
		return apply(s.Items2020)
	}
	switch items := s.Items.(type) { // before draft 2020-12
	case *jsonschema.Schema:
		return apply(items)
	case []*jsonschema.Schema:
		if i < len(items) {
			return apply(items[i])
		}
		switch more := s.AdditionalItems.(type) {
		case *jsonschema.Schema:
			return apply(more)
		case bool:
			return more || w.fault(Range, "additionalItems", strconv.Itoa(i), "item %d is too many", i)
		}
	}
	return true
}

func (w *walker) contains(s *jsonschema.Schema, v []any) bool {
	n := 0
	for _, item := range v {
		if w.quiet(s.Contains, item) {
			n++
		}
	}
	if n < s.MinContains {
		return w.fault(Range, "contains", "", "%d items are of the kind of which at least %d are asked", n, s.MinContains)
	}
	if s.MaxContains >= 0 && n > s.MaxContains && !w.partial {
		return w.fault(Range, "maxContains", "", "%d items are of the kind of which at most %d are allowed", n, s.MaxContains)
	}
	return true
}
