// Package schema validates JSON values against JSON Schema with
// santhosh-tekuri/jsonschema v5.3.1 behind a wrapper that makes it safe for
// hostile output and exact in its answers.
//
// The library alone panics on numbers such as 1e1000001, reads file:// and
// http:// references, does not assert format by default, and collects errors
// without end. Here values come from strictjson (bounded, numbers as written),
// references lead nowhere but into the schema itself, formats are asserted by
// our own strict functions, and every call is guarded. A walk of our own over
// the compiled schema finds the fault that a person would name, with its place;
// a value is valid only when neither the walk nor the library objects.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root     *jsonschema.Schema
	source   any    // as decoded, patterns translated
	written  []byte // as it was written, compact
	complete bool   // the walk covers every keyword that is used
}

// location is where the schema stands for itself; nothing is ever loaded from it.
const location = "interlock:///schema.json"

// limits of a schema text.
var limits = strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 128}

// Compile reads a schema, draft 2020-12 unless its $schema says another.
func Compile(data []byte) (s *Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("schema: %v", r)
		}
	}()
	source, err := strictjson.Decode(data, limits)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := prepare(source); err != nil {
		return nil, err
	}
	text, err := json.Marshal(source)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.Formats = formats
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, &outsideError{url}
	}
	if err := c.AddResource(location, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	root, err := c.Compile(location)
	if err != nil {
		return nil, compileError(err)
	}
	var written bytes.Buffer
	if err := json.Compact(&written, data); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{root: root, source: source, written: written.Bytes(), complete: covered(root, map[*jsonschema.Schema]bool{})}, nil
}

type outsideError struct{ url string }

func (e *outsideError) Error() string {
	url := e.url
	if len(url) > 64 {
		url = url[:64] + "..."
	}
	return fmt.Sprintf("refers to %+q: only references inside the schema are followed", url)
}

func compileError(err error) error {
	var outside *outsideError
	if errors.As(err, &outside) {
		return fmt.Errorf("schema: %w", outside)
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		return fmt.Errorf("schema: at %q: %s", invalid.InstanceLocation, invalid.Message)
	}
	var whole *jsonschema.SchemaError
	if errors.As(err, &whole) && whole.Err != nil {
		err = whole.Err
	}
	return fmt.Errorf("schema: %w", err)
}

// largeValue is the number of values from which a valid document is not checked
// a second time by the library, provided that the walk covers the whole schema.
// The library needs several microseconds and maps for each value.
const largeValue = 2000

// Check returns nil when value, as strictjson.Decode returns it, is valid, else
// the fault that matters most.
func (s *Schema) Check(value any) (fault *Fault) {
	defer func() {
		if r := recover(); r != nil {
			fault = &Fault{Reason: WrongType, Detail: fmt.Sprintf("the value cannot be checked: %v", r)}
		}
	}()
	if f := s.find(value); f != nil {
		return f
	}
	if s.complete && size(value, largeValue) >= largeValue {
		return nil
	}
	return fromLibrary(s.root.Validate(value))
}

// size counts the values inside v, up to most.
func size(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if n += size(e, most-n); n >= most {
				break
			}
		}
	case map[string]any:
		for _, e := range v {
			if n += size(e, most-n); n >= most {
				break
			}
		}
	}
	return n
}

// covered reports whether the walk knows every keyword under s.
func covered(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool) bool {
	if s == nil || seen[s] {
		return true
	}
	seen[s] = true
	if s.RecursiveRef != nil || s.DynamicRef != nil || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil ||
		s.ContentEncoding != "" || s.ContentMediaType != "" || len(s.Extensions) > 0 || s.RegexProperties {
		return false
	}
	ok := true
	children(s, func(c *jsonschema.Schema) { ok = ok && covered(c, seen) })
	return ok
}

// children calls f for each schema that s applies or refers to.
func children(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	for _, c := range []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames,
		s.UnevaluatedProperties, s.Items2020, s.Contains, s.UnevaluatedItems, s.ContentSchema} {
		if c != nil {
			f(c)
		}
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		for _, c := range list {
			f(c)
		}
	}
	for _, c := range s.Properties {
		f(c)
	}
	for _, c := range s.PatternProperties {
		f(c)
	}
	for _, c := range s.DependentSchemas {
		f(c)
	}
	for _, d := range s.Dependencies {
		if c, ok := d.(*jsonschema.Schema); ok {
			f(c)
		}
	}
	for _, d := range []any{s.AdditionalProperties, s.AdditionalItems, s.Items} {
		switch c := d.(type) {
		case *jsonschema.Schema:
			f(c)
		case []*jsonschema.Schema:
			for _, e := range c {
				f(e)
			}
		}
	}
}
