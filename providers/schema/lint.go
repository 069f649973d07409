package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Finding is something in a schema that compiles and is still likely wrong.
type Finding struct {
	Path string // JSON pointer into the schema
	Text string
}

// keywords of draft 2020-12 and the older ones that the library reads.
var keywords = strings.Fields(`$schema $id $anchor $ref $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs definitions
	title description default deprecated readOnly writeOnly examples
	type enum const format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
	properties required patternProperties additionalProperties propertyNames minProperties maxProperties dependentRequired
	dependentSchemas dependencies unevaluatedProperties
	items prefixItems additionalItems contains minContains maxContains minItems maxItems uniqueItems unevaluatedItems
	allOf anyOf oneOf not if then else contentEncoding contentMediaType contentSchema`)

// Lint names unknown keywords and formats, open objects, and properties that are
// required but not described.
func (s *Schema) Lint() []Finding {
	var out []Finding
	note := func(at, format string, args ...any) { out = append(out, Finding{at, fmt.Sprintf(format, args...)}) }
	visit(s.source, "", func(at string, node map[string]any) {
		for _, k := range sortedKeys(node) {
			if !slices.Contains(keywords, k) && !strings.HasPrefix(k, "x-") {
				note(at+strictjson.Pointer(k), "unknown keyword%s: it has no effect", meant(k, keywords))
			}
		}
		if f, ok := node["format"].(string); ok {
			if _, known := formats[f]; !known {
				note(at+"/format", "unknown format %s%s: it is not checked", show(f), meant(f, sortedKeys(formats)))
			}
		}
		if list, ok := node["enum"].([]any); ok && len(list) == 0 {
			note(at+"/enum", "an empty list: nothing can meet it, and it is not checked")
		}
		properties, described := node["properties"].(map[string]any)
		if described && node["additionalProperties"] == nil && node["unevaluatedProperties"] == nil {
			note(at, "the object is open: invented keys pass; add \"additionalProperties\": false")
		}
		if required, ok := node["required"].([]any); ok && described {
			for _, r := range required {
				if name, ok := r.(string); ok && properties[name] == nil && node["patternProperties"] == nil && node["allOf"] == nil && node["$ref"] == nil {
					note(at+"/required", "%s is required but not described", show(name))
				}
			}
		}
	})
	return out
}

// A dialect is what one family of providers can enforce of a schema.
type dialect struct {
	name        string
	known       []string // keywords that are taken; empty for all
	unenforced  []string // keywords that are refused or ignored
	closed      bool     // additionalProperties: false is required at every object
	allRequired bool     // every property must be required
	rootObject  bool
}

var dialects = map[string]dialect{
	"openai-chat":        strictDialect,
	"openai-responses":   strictDialect,
	"anthropic-messages": {name: "structured outputs", closed: true, rootObject: true, unenforced: anthropicUnenforced},
	"bedrock-converse":   {name: "structured outputs", closed: true, rootObject: true, unenforced: anthropicUnenforced},
	"gemini": {name: "the schema subset", known: strings.Fields(`$schema $id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems
		minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering`)},
	"mistral-chat":  {name: "structured outputs", closed: true, rootObject: true, unenforced: conditional},
	"cohere-chat":   {name: "structured outputs", rootObject: true, unenforced: append([]string{"minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "minimum", "maximum", "multipleOf"}, conditional...)},
	"vllm-chat":     {name: "the grammar", unenforced: append([]string{"uniqueItems", "multipleOf", "patternProperties", "propertyNames", "minContains", "maxContains"}, conditional...)},
	"llamacpp-chat": {name: "the grammar", unenforced: append([]string{"uniqueItems", "multipleOf", "patternProperties", "propertyNames"}, conditional...)},
	"ollama-chat":   {name: "the grammar", unenforced: append([]string{"uniqueItems", "multipleOf", "patternProperties", "propertyNames"}, conditional...)},
}

var (
	conditional         = []string{"if", "then", "else", "not", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems", "contains"}
	anthropicUnenforced = append([]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems", "uniqueItems", "patternProperties", "propertyNames", "minProperties", "maxProperties"}, conditional...)
	strictDialect       = dialect{name: "strict mode", closed: true, allRequired: true, rootObject: true,
		unenforced: append([]string{"allOf", "oneOf", "patternProperties", "propertyNames", "minProperties", "maxProperties", "uniqueItems", "minContains", "maxContains"}, conditional...)}
)

// LintFor names what a protocol cannot enforce of the schema. The provider may
// still meet it; it is not held to it, so the answer alone tells.
func (s *Schema) LintFor(protocol string) []Finding {
	d, ok := dialects[protocol]
	if !ok {
		return nil
	}
	var out []Finding
	note := func(at, format string, args ...any) { out = append(out, Finding{at, fmt.Sprintf(format, args...)}) }
	if root, ok := s.source.(map[string]any); d.rootObject && (!ok || root["type"] != "object" && root["$ref"] == nil) {
		note("", "%s of %s wants an object at the root", d.name, protocol)
	}
	visit(s.source, "", func(at string, node map[string]any) {
		for _, k := range sortedKeys(node) {
			if slices.Contains(d.unenforced, k) || len(d.known) > 0 && !slices.Contains(d.known, k) {
				note(at+strictjson.Pointer(k), "%s of %s does not enforce %s", d.name, protocol, k)
			}
		}
		properties, ok := node["properties"].(map[string]any)
		if !ok {
			return
		}
		if d.closed && node["additionalProperties"] != false {
			note(at, "%s of %s wants \"additionalProperties\": false at every object", d.name, protocol)
		}
		if d.allRequired {
			required, _ := node["required"].([]any)
			for _, name := range sortedKeys(properties) {
				if !slices.ContainsFunc(required, func(r any) bool { return r == name }) {
					note(at+"/properties"+strictjson.Pointer(name), "%s of %s wants every key in \"required\"", d.name, protocol)
				}
			}
		}
	})
	return out
}

// JSON is the schema as it was written, without white space: a model fills in keys
// in the order in which its schema names them, and not every reader takes 2e2 for
// 200.
func (s *Schema) JSON() json.RawMessage { return slices.Clone(s.written) }

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// meant finds a known word that differs in case or by one or two letters.
func meant(word string, known []string) string {
	best, found := 3, ""
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < best {
			best, found = d, k
		}
	}
	if found == "" || utf8.RuneCountInString(word) < 4 {
		return ""
	}
	return ", did you mean " + found + "?"
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
