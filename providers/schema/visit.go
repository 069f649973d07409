package schema

import (
	"slices"
	"strconv"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Where schemas stand inside a schema. Anything else, such as const, enum,
// default and examples, is data.
var (
	oneSchema   = []string{"additionalProperties", "items", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "contentSchema"}
	schemaList  = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaTable = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// visit calls f for each schema object inside v, with its JSON pointer, parents
// first.
func visit(v any, at string, f func(at string, node map[string]any)) {
	node, ok := v.(map[string]any)
	if !ok {
		return
	}
	f(at, node)
	for _, k := range oneSchema {
		if c, ok := node[k]; ok {
			visit(c, at+"/"+k, f)
		}
	}
	for _, k := range schemaList {
		if list, ok := node[k].([]any); ok {
			for i, c := range list {
				visit(c, at+"/"+k+"/"+strconv.Itoa(i), f)
			}
		}
	}
	for _, k := range schemaTable {
		if table, ok := node[k].(map[string]any); ok {
			names := make([]string, 0, len(table))
			for name := range table {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				visit(table[name], at+"/"+k+strictjson.Pointer(name), f)
			}
		}
	}
}
