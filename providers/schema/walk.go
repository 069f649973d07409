package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// budget bounds the schema evaluations of one walk over n values: nested
// alternatives over a recursive schema can multiply without end.
func budget(n int) int { return 50_000 + 64*n }

// walker evaluates a value. Without explain it stops at the first fault and
// builds no text: valid values, the usual case, cost next to nothing.
type walker struct {
	explain bool
	partial bool // the schema has keywords that the walk does not know
	path    []string
	best    *Fault
	left    int
}

func (s *Schema) find(value any) *Fault {
	most := budget(size(value, 1<<20))
	w := walker{left: most, partial: !s.complete}
	if w.valid(s.root, value) {
		return nil
	}
	w = walker{explain: true, left: most, partial: !s.complete}
	w.valid(s.root, value)
	if f := s.wrapped(value, w.best); f != nil {
		return f
	}
	return w.best
}

// fault notes a fault of the value at the current path (and below it, at name),
// and returns false.
func (w *walker) fault(reason Reason, keyword, name string, format string, args ...any) bool {
	if w.explain {
		if r := ranks[reason]; w.best == nil || r < ranks[w.best.Reason] {
			path := strictjson.Pointer(w.path...)
			if name != "" {
				path += strictjson.Pointer(name)
			}
			w.best = &Fault{Reason: reason, Path: path, Keyword: keyword, Detail: fmt.Sprintf(format, args...)}
		}
	}
	return false
}

// at evaluates a child value under one more token of the path.
func (w *walker) at(token string, s *jsonschema.Schema, v any) bool {
	if !w.explain {
		return w.valid(s, v)
	}
	w.path = append(w.path, token)
	ok := w.valid(s, v)
	w.path = w.path[:len(w.path)-1]
	return ok
}

// quiet evaluates without noting faults, for conditions.
func (w *walker) quiet(s *jsonschema.Schema, v any) bool {
	q := walker{left: w.left, partial: w.partial}
	ok := q.valid(s, v)
	w.left = q.left
	return ok
}

// valid reports whether v meets s. When explaining, it looks at everything that
// is wrong, to name the fault that matters most.
func (w *walker) valid(s *jsonschema.Schema, v any) bool {
	if w.left--; w.left < 0 {
		return w.fault(WrongType, "", "", "the schema branches too often for this value")
	}
	if s.Always != nil {
		if !*s.Always {
			return w.fault(WrongType, "", "", "nothing is allowed here")
		}
		return true
	}
	if len(s.Types) > 0 && !hasType(s.Types, v) {
		reason := WrongType
		if v == nil {
			reason = Null
		}
		return w.fault(reason, "type", "", "must be %s, is %s", strings.Join(s.Types, " or "), typeOf(v))
	}
	ok := w.scalar(s, v)
	if !ok && !w.explain {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		ok = w.object(s, v) && ok
	case []any:
		ok = w.array(s, v) && ok
	}
	if !ok && !w.explain {
		return false
	}
	return w.combined(s, v) && ok
}

// scalar checks what concerns the value itself.
func (w *walker) scalar(s *jsonschema.Schema, v any) bool {
	if len(s.Constant) > 0 && !equal(v, s.Constant[0]) {
		return w.fault(Enum, "const", "", "must be %s", show(s.Constant[0]))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return equal(v, e) }) {
		return w.fault(Enum, "enum", "", "%s is not one of the allowed values", show(v))
	}
	switch v := v.(type) {
	case string:
		if check, ok := formats[s.Format]; ok && !check(v) {
			return w.fault(Format, "format", "", "%s is no %s", show(v), s.Format)
		}
		if s.Pattern != nil && !s.Pattern.MatchString(v) {
			return w.fault(Format, "pattern", "", "%s does not match %s", show(v), s.Pattern)
		}
		if s.MinLength >= 0 || s.MaxLength >= 0 {
			n := utf8.RuneCountInString(v)
			if n < s.MinLength {
				return w.fault(Range, "minLength", "", "has %d characters, at least %d are asked", n, s.MinLength)
			}
			if s.MaxLength >= 0 && n > s.MaxLength {
				return w.fault(Range, "maxLength", "", "has %d characters, at most %d are allowed", n, s.MaxLength)
			}
		}
	case json.Number:
		return w.number(s, v)
	}
	return true
}

func (w *walker) number(s *jsonschema.Schema, v json.Number) bool {
	switch {
	case s.Minimum != nil && compare(v, s.Minimum) < 0:
		return w.fault(Range, "minimum", "", "%s is less than %s", v, s.Minimum.RatString())
	case s.ExclusiveMinimum != nil && compare(v, s.ExclusiveMinimum) <= 0:
		return w.fault(Range, "exclusiveMinimum", "", "%s is not more than %s", v, s.ExclusiveMinimum.RatString())
	case s.Maximum != nil && compare(v, s.Maximum) > 0:
		return w.fault(Range, "maximum", "", "%s is more than %s", v, s.Maximum.RatString())
	case s.ExclusiveMaximum != nil && compare(v, s.ExclusiveMaximum) >= 0:
		return w.fault(Range, "exclusiveMaximum", "", "%s is not less than %s", v, s.ExclusiveMaximum.RatString())
	case s.MultipleOf != nil && s.MultipleOf.Sign() != 0 && !multiple(v, s.MultipleOf):
		return w.fault(Range, "multipleOf", "", "%s is no multiple of %s", v, s.MultipleOf.RatString())
	}
	return true
}

// combined checks references, combinations and conditions.
func (w *walker) combined(s *jsonschema.Schema, v any) bool {
	ok := s.Ref == nil || w.valid(s.Ref, v)
	for _, c := range s.AllOf {
		if !ok && !w.explain {
			return false
		}
		ok = w.valid(c, v) && ok
	}
	if ok && len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, func(c *jsonschema.Schema) bool { return w.quiet(c, v) }) {
		ok = w.alternatives("anyOf", s.AnyOf, v)
	}
	if ok && len(s.OneOf) > 0 {
		fits := 0
		for _, c := range s.OneOf {
			if w.quiet(c, v) {
				fits++
			}
		}
		if fits > 1 && !w.partial {
			ok = w.fault(WrongType, "oneOf", "", "fits %d of the alternatives, not one", fits)
		} else if fits == 0 {
			ok = w.alternatives("oneOf", s.OneOf, v)
		}
	}
	// In a schema that is known in part only, "valid" may be too much said: what
	// rests on it is left to the library.
	if w.partial {
		return ok
	}
	if ok && s.Not != nil && w.quiet(s.Not, v) {
		ok = w.fault(Enum, "not", "", "is what the schema excludes")
	}
	if ok && s.If != nil {
		if w.quiet(s.If, v) {
			ok = s.Then == nil || w.valid(s.Then, v)
		} else {
			ok = s.Else == nil || w.valid(s.Else, v)
		}
	}
	return ok
}

// alternatives names the fault of the alternative that was most likely meant: one
// whose own type and fixed values fit.
func (w *walker) alternatives(keyword string, list []*jsonschema.Schema, v any) bool {
	if !w.explain {
		return false
	}
	here := strictjson.Pointer(w.path...)
	var best *Fault
	worth := 0
	for _, c := range list {
		a := walker{explain: true, path: slices.Clone(w.path), left: w.left, partial: w.partial}
		a.valid(c, v)
		w.left = a.left
		f := a.best
		if f == nil {
			continue
		}
		n := 3
		switch {
		case (f.Reason == WrongType || f.Reason == Null) && f.Path == here:
			n = 1
		case f.Reason == Enum && f.Keyword == "const" || a.discriminated(c, v):
			n = 2
		}
		if n > worth {
			best, worth = f, n
		}
	}
	if best == nil {
		return w.fault(WrongType, keyword, "", "fits none of the alternatives")
	}
	if best.before(w.best) {
		w.best = best
	}
	return false
}

// discriminated reports whether a property that c fixes to one value has another.
func (w *walker) discriminated(c *jsonschema.Schema, v any) bool {
	object, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for c.Ref != nil && c.Properties == nil {
		c = c.Ref
	}
	for name, p := range c.Properties {
		value, there := object[name]
		if there && (len(p.Constant) > 0 && !equal(value, p.Constant[0]) || len(p.Enum) == 1 && !equal(value, p.Enum[0])) {
			return true
		}
	}
	return false
}

func hasType(types []string, v any) bool {
	kind := typeOf(v)
	for _, t := range types {
		if t == kind {
			return true
		}
		if n, ok := v.(json.Number); ok && t == "integer" && whole(n) {
			return true
		}
	}
	return false
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	panic(fmt.Sprintf("schema: %T is no JSON value", v))
}

// show quotes a value for a message: at most 64 characters, escaped.
func show(v any) string {
	text := string(strictjson.AppendCanonical(nil, v))
	if s, ok := v.(string); ok {
		text = s
		if len(text) > 64 {
			text = strings.ToValidUTF8(text[:64], "") + "..."
		}
		return strconv.QuoteToASCII(text)
	}
	if len(text) > 64 {
		text = strings.ToValidUTF8(text[:64], "") + "..."
	}
	return strings.Trim(strconv.QuoteToASCII(text), `"`)
}
