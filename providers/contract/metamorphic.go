package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Metamorphic is a relation between two answers that holds whatever the right
// answer is: the order of the list at Permute says nothing, so an input in which
// it is another one must get the same output, but for the order of the lists at
// Unordered.
type Metamorphic struct {
	ID        string   `yaml:"id"`
	Permute   string   `yaml:"permute"`   // JSON pointer into the input
	Unordered []string `yaml:"unordered"` // JSON pointers into the output
}

func (m Metamorphic) check() error {
	if !idForm.MatchString(m.ID) {
		return fmt.Errorf("metamorphic: id %q: small letters, digits, dots, hyphens and underscores, a letter first", short(m.ID))
	}
	for _, p := range append([]string{m.Permute}, m.Unordered...) {
		if !strings.HasPrefix(p, "/") {
			return fmt.Errorf("metamorphic %s: %q is no JSON pointer such as /lines", m.ID, short(p))
		}
	}
	return nil
}

// Relation finds one by id, or nil.
func (c *Contract) Relation(id string) *Metamorphic {
	i := slices.IndexFunc(c.Metamorphic, func(m Metamorphic) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Metamorphic[i]
}

// Input is a copy of an input with the list in reverse; false where there is no
// list of at least two.
func (m Metamorphic) Input(input any) (any, bool) {
	done := false
	changed := change(input, steps(m.Permute), func(list []any) []any {
		done = len(list) > 1
		list = slices.Clone(list)
		slices.Reverse(list)
		return list
	})
	return changed, done
}

// Same tells whether two outputs, JSON documents, are equal but for the order of
// the unordered lists.
func (m Metamorphic) Same(a, b json.RawMessage) bool {
	x, err := m.canonical(a)
	y, err2 := m.canonical(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

func (m Metamorphic) canonical(document []byte) ([]byte, error) {
	v, err := strictjson.Decode(document, strictjson.Limits{})
	if err != nil {
		return nil, err
	}
	for _, p := range m.Unordered {
		v = change(v, steps(p), func(list []any) []any {
			list = slices.Clone(list)
			slices.SortFunc(list, func(a, b any) int {
				return bytes.Compare(strictjson.AppendCanonical(nil, a), strictjson.AppendCanonical(nil, b))
			})
			return list
		})
	}
	return strictjson.AppendCanonical(nil, v), nil
}

// change copies what lies on the way to the list at a path and puts another list
// there. What is not there stays as it is.
func change(v any, path []string, f func([]any) []any) any {
	list, isList := v.([]any)
	if len(path) == 0 {
		if isList {
			return f(list)
		}
		return v
	}
	if object, ok := v.(map[string]any); ok {
		inner, there := object[path[0]]
		if !there {
			return v
		}
		copied := make(map[string]any, len(object))
		for name, value := range object {
			copied[name] = value
		}
		copied[path[0]] = change(inner, path[1:], f)
		return copied
	}
	if i, err := strconv.Atoi(path[0]); err == nil && isList && i >= 0 && i < len(list) {
		copied := slices.Clone(list)
		copied[i] = change(list[i], path[1:], f)
		return copied
	}
	return v
}

// steps splits a JSON pointer (RFC 6901).
func steps(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(parts[i], "~1", "/"), "~0", "~")
	}
	return parts
}
