package standin

import (
	"encoding/json"
	"fmt"
	"strings"
)

// fill answers from the schema that the request carries: the smallest value that
// a plain schema allows, with strings that name the model and the attempt, so
// that the answers of two attempts can be told apart. Without a schema it is an
// empty object.
func fill(a Ask) string {
	var schema schemaPart
	if json.Unmarshal(a.Schema, &schema) != nil {
		return "{}"
	}
	who := a.Model
	if a.Attempt != "" {
		who += " for attempt " + a.Attempt
	}
	return string(compact(schema.fill(fmt.Sprintf("%s, call %d", who, a.Call))))
}

type schemaPart struct {
	Type       any                   `json:"type"`
	Const      any                   `json:"const"`
	Enum       []any                 `json:"enum"`
	Format     string                `json:"format"`
	Properties map[string]schemaPart `json:"properties"`
	Required   []string              `json:"required"`
	Items      *schemaPart           `json:"items"`
	MinItems   float64               `json:"minItems"` // counts, but 200 may come as 2e2
	MinLength  float64               `json:"minLength"`
	MaxLength  *float64              `json:"maxLength"`
	Minimum    *json.Number          `json:"minimum"`
}

func (s schemaPart) fill(text string) any {
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	kind, _ := s.Type.(string)
	switch strings.ToLower(kind) { // Gemini's older form of a schema shouts
	case "object", "":
		value := object{}
		for _, name := range s.Required {
			value[name] = s.Properties[name].fill(text)
		}
		return value
	case "array":
		list := []any{}
		for len(list) < int(s.MinItems) && s.Items != nil {
			list = append(list, s.Items.fill(text))
		}
		return list
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 0
	case "boolean":
		return false
	case "string":
		return s.text(text)
	}
	return nil
}

func (s schemaPart) text(text string) string {
	switch s.Format {
	case "date":
		return "2026-11-21"
	case "date-time":
		return "2026-11-21T10:40:00Z"
	}
	if s.MaxLength != nil && len(text) > int(*s.MaxLength) {
		text = text[:int(*s.MaxLength)]
	}
	return text + strings.Repeat("-", max(0, int(s.MinLength)-len(text)))
}
