package certificate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// readExact decodes one strict JSON object into v. Unlike encoding/json it
// refuses repeated names, names in another letter case, names that v does not
// have, and anything after the value. Fields that may not be omitted must be there.
func readExact(data []byte, v any) error {
	tree, err := strictjson.Decode(data, strictjson.Limits{MaxBytes: MaxBytes, MaxDepth: 16, MaxKeys: 4096})
	if err != nil {
		return err
	}
	if err := exact(tree, reflect.TypeOf(v).Elem(), ""); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func exact(value any, t reflect.Type, at string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := value.(type) {
	case map[string]any:
		switch t.Kind() {
		case reflect.Struct:
			return exactFields(v, t, at)
		case reflect.Map:
			for name, element := range v {
				if err := exact(element, t.Elem(), at+"/"+name); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("%s is an object", where(at))
		}
	case []any:
		if t.Kind() != reflect.Slice {
			return fmt.Errorf("%s is an array", where(at))
		}
		for i, element := range v {
			if err := exact(element, t.Elem(), fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
	case nil:
		return fmt.Errorf("%s is null", where(at))
	default:
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Struct && t != reflect.TypeFor[Time]() {
			return fmt.Errorf("%s is neither an object nor an array", where(at))
		}
	}
	return nil
}

func exactFields(object map[string]any, t reflect.Type, at string) error {
	var known []string
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		known = append(known, name)
		value, ok := object[name]
		if !ok {
			if strings.HasPrefix(options, "omit") {
				continue
			}
			return fmt.Errorf("%s has no %q", where(at), name)
		}
		if err := exact(value, t.Field(i).Type, at+"/"+name); err != nil {
			return err
		}
	}
	for name := range object {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s has an unknown field %.40q", where(at), name)
		}
	}
	return nil
}

func where(at string) string {
	if at == "" {
		return "the document"
	}
	return fmt.Sprintf("%.80q", at)
}
