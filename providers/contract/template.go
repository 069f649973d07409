package contract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// maxPrompt bounds a rendered text.
const maxPrompt = 1 << 20

// Template is a text with places such as {{text}} or {{input.text}}, which are the
// same, or {{input}} for the whole. Rendering puts the value
// in, once; what is put in is never read again. There is nothing else: no loop, no
// condition, no file.
type Template struct {
	parts []part
	text  string
}

type part struct {
	literal string
	path    []string // into the input; nil for a literal
}

var place = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$`)

// ParseTemplate checks a template.
func ParseTemplate(text string) (Template, error) {
	t := Template{text: text}
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "{{")
		if before != "" {
			t.parts = append(t.parts, part{literal: before})
		}
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}}")
		name = strings.TrimSpace(name)
		if !closed || !place.MatchString(name) {
			return Template{}, fmt.Errorf("%q: only places such as {{text}} are read", short("{{"+name))
		}
		path := strings.Split(name, ".")
		if path[0] == "input" {
			path = path[1:] // not nil, even where nothing is left
		}
		t.parts = append(t.parts, part{path: path})
		rest = tail
	}
	if strings.Contains(text, "{%") {
		return Template{}, fmt.Errorf("%q: only places such as {{text}} are read", "{%")
	}
	return t, nil
}

// String is the template as written.
func (t Template) String() string { return t.text }

// Render fills in the input: texts as they are, other values as JSON.
func (t Template) Render(input any) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.path == nil {
			b.WriteString(p.literal)
		} else {
			v, err := look(input, p.path)
			if err != nil {
				return "", err
			}
			b.WriteString(v)
		}
		if b.Len() > maxPrompt {
			return "", fmt.Errorf("the prompt has more than %d bytes", maxPrompt)
		}
	}
	return b.String(), nil
}

func look(input any, path []string) (string, error) {
	for i, name := range path {
		object, ok := input.(map[string]any)
		v, there := object[name]
		if !ok || !there {
			return "", fmt.Errorf("the prompt asks for input.%s, which the input does not have", strings.Join(path[:i+1], "."))
		}
		input = v
	}
	switch v := input.(type) {
	case string:
		return v, nil
	case json.Number:
		return string(v), nil
	}
	return string(strictjson.AppendCanonical(nil, input)), nil
}

func short(s string) string {
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	return s
}
