package strictyaml

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"
)

type decoder struct{ file string }

func (d decoder) fail(n *yaml.Node, format string, args ...any) error {
	return &Error{d.file, n.Line, fmt.Sprintf(format, args...)}
}

func (d decoder) into(n *yaml.Node, to any) error {
	v := reflect.ValueOf(to)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic("strictyaml: the target must be a pointer")
	}
	return d.value(n, v.Elem(), "the file")
}

var (
	rawType      = reflect.TypeFor[json.RawMessage]()
	numberType   = reflect.TypeFor[json.Number]()
	durationType = reflect.TypeFor[time.Duration]()
)

// value reads n into v; what is the name of the field, for the message.
func (d decoder) value(n *yaml.Node, v reflect.Value, what string) error {
	switch v.Type() {
	case rawType:
		return d.raw(n, v)
	case numberType: // quoted or not: it keeps its digits either way
		if n.Kind != yaml.ScalarNode || !number.MatchString(n.Value) {
			return d.wanted(n, what, "a number")
		}
		v.SetString(n.Value)
		return nil
	case durationType:
		t, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			return d.wanted(n, what, "a duration such as 30s")
		}
		v.SetInt(int64(t))
		return nil
	}
	switch v.Kind() {
	case reflect.Interface:
		a, err := d.any(n)
		if err == nil && a != nil {
			v.Set(reflect.ValueOf(a))
		}
		return err
	case reflect.Pointer:
		if n.Kind == yaml.ScalarNode && !quoted(n) && n.Value == "null" {
			return d.fail(n, "%s is null: leave it out where there is none", what)
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, v.Elem(), what)
	case reflect.Struct:
		return d.object(n, v, what)
	case reflect.Map:
		return d.table(n, v, what)
	case reflect.Slice:
		return d.list(n, v, what)
	}
	return d.scalar(n, v, what)
}

func (d decoder) wanted(n *yaml.Node, what, kind string) error {
	return d.fail(n, "%s must be %s, not %s", what, kind, describe(n))
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	s := n.Value
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	if quoted(n) {
		return "the text " + strconv.QuoteToASCII(s)
	}
	if s == "" {
		return "nothing"
	}
	return strings.Trim(strconv.QuoteToASCII(s), `"`)
}

func (d decoder) scalar(n *yaml.Node, v reflect.Value, what string) error {
	kind := map[bool]string{true: "true or false", false: "a whole number"}[v.Kind() == reflect.Bool]
	if v.Kind() == reflect.String {
		kind = "a text"
	}
	if n.Kind != yaml.ScalarNode {
		return d.wanted(n, what, kind)
	}
	if v.Kind() == reflect.String {
		s, err := d.text(n, what)
		if err == nil {
			v.SetString(s)
		}
		return err
	}
	if quoted(n) {
		return d.wanted(n, what, kind)
	}
	switch v.Kind() {
	case reflect.Bool:
		if n.Value != "true" && n.Value != "false" {
			return d.wanted(n, what, kind)
		}
		v.SetBool(n.Value == "true")
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil || !number.MatchString(n.Value) {
			return d.wanted(n, what, kind)
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || !number.MatchString(n.Value) {
			return d.wanted(n, what, "a number")
		}
		v.SetFloat(f)
	default:
		panic("strictyaml: cannot read into " + v.Type().String())
	}
	return nil
}

// text is a scalar that must be a string.
func (d decoder) text(n *yaml.Node, what string) (string, error) {
	if quoted(n) {
		return n.Value, nil
	}
	if why := ambiguous(n.Value); why != "" {
		return "", d.fail(n, "%s: %s %s: quote it", what, describe(n), why)
	}
	if n.Value == "" {
		return "", d.fail(n, `%s has no value: give one, or "" for an empty text`, what)
	}
	if looksTyped(n.Value) {
		return "", d.fail(n, "%s must be a text, and %s is none: quote it", what, describe(n))
	}
	return n.Value, nil
}

// any reads n as JSON-like data.
func (d decoder) any(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			v, err := d.any(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			out[n.Content[i].Value] = v
		}
		return out, nil
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := d.any(c)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	switch {
	case quoted(n):
		return n.Value, nil
	case n.Value == "true" || n.Value == "false":
		return n.Value == "true", nil
	case n.Value == "null":
		return nil, nil
	case number.MatchString(n.Value):
		return json.Number(n.Value), nil
	}
	return d.text(n, "the value")
}

func (d decoder) raw(n *yaml.Node, v reflect.Value) error {
	a, err := d.any(n)
	if err != nil {
		return err
	}
	data, err := json.Marshal(a)
	if err != nil {
		return d.fail(n, "%v", err)
	}
	v.SetBytes(data)
	return nil
}

func (d decoder) list(n *yaml.Node, v reflect.Value, what string) error {
	if n.Kind != yaml.SequenceNode {
		return d.wanted(n, what, "a list")
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		if err := d.value(c, out.Index(i), fmt.Sprintf("%s[%d]", what, i)); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

func (d decoder) table(n *yaml.Node, v reflect.Value, what string) error {
	if n.Kind != yaml.MappingNode {
		return d.wanted(n, what, "a map")
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		e := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(n.Content[i+1], e, n.Content[i].Value); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(n.Content[i].Value).Convert(v.Type().Key()), e)
	}
	v.Set(out)
	return nil
}

func (d decoder) object(n *yaml.Node, v reflect.Value, what string) error {
	if n.Kind != yaml.MappingNode {
		return d.wanted(n, what, "a map")
	}
	fields := fieldsOf(v.Type())
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		at, ok := fields[k.Value]
		if !ok {
			return d.fail(k, "unknown field %q%s", k.Value, didYouMean(k.Value, fields))
		}
		if err := d.value(n.Content[i+1], v.Field(at), k.Value); err != nil {
			return err
		}
	}
	return nil
}

func fieldsOf(t reflect.Type) map[string]int {
	out := map[string]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("yaml")
		if tag == "" {
			tag = f.Tag.Get("json")
		}
		if name, _, _ := strings.Cut(tag, ","); name != "" && name != "-" {
			out[name] = i
		}
	}
	return out
}

func didYouMean(word string, fields map[string]int) string {
	names := make([]string, 0, len(fields))
	best, found := 1+len(word)/2, ""
	for f := range fields {
		names = append(names, f)
	}
	sort.Strings(names)
	for _, f := range names {
		if n := distance(strings.ToLower(word), f); n < best {
			best, found = n, f
		}
	}
	if found != "" {
		return ": did you mean " + found + "?"
	}
	return "; there are " + strings.Join(names, ", ")
}

// distance is the number of letters to insert, delete or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		corner := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := corner
			if a[i-1] != b[j-1] {
				change++
			}
			corner = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
