package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/interlock-harness/interlock/providers"
)

// Post writes a request: body as compact JSON, path joined to the profile's base
// URL, fixed headers of the protocol first, those of the profile over them.
func Post(p providers.Profile, header map[string]string, body any, path ...string) (providers.HTTPRequest, error) {
	h, err := Bare(p, http.MethodPost, path...)
	if err != nil {
		return h, err
	}
	if h.Body, err = JSON(body); err != nil {
		return providers.HTTPRequest{}, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	h.Header.Set("Content-Type", "application/json")
	for _, fixed := range []map[string]string{header, p.Headers} {
		for k, v := range fixed {
			h.Header.Set(k, v)
		}
	}
	return h, nil
}

// Bare writes a request without a body.
func Bare(p providers.Profile, method string, path ...string) (providers.HTTPRequest, error) {
	base, err := url.Parse(p.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "http" && base.Scheme != "https" {
		return providers.HTTPRequest{}, fmt.Errorf("profile %s: base URL is not http(s)://host[:port][/path]", p.Name)
	}
	h := http.Header{"Accept": {"application/json"}}
	for k, v := range p.Headers {
		h.Set(k, v)
	}
	return providers.HTTPRequest{Method: method, URL: base.JoinPath(path...).String(), Header: h}, nil
}

// JSON writes v compactly, fields in the order of the struct and characters as
// they are.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Stream is the Accept header of a request for events.
func Stream(r providers.Request) map[string]string {
	if r.Stream {
		return map[string]string{"Accept": "text/event-stream"}
	}
	return nil
}

// Model is the model of the request, else that of the profile.
func Model(p providers.Profile, r providers.Request) string {
	if r.Model != "" {
		return r.Model
	}
	return p.Model
}

// SchemaName is the name under which the schema travels.
func SchemaName(r providers.Request) string {
	if r.SchemaName != "" {
		return r.SchemaName
	}
	return "output"
}

// Unsupported refuses the first parameter that is set and has no field.
func Unsupported(protocol providers.Protocol, set map[string]bool) error {
	for _, name := range []string{"stream", "seed", "stop", "temperature", "max_output_tokens"} {
		if set[name] {
			return &providers.UnsupportedError{Protocol: protocol, Param: name}
		}
	}
	return nil
}

// Turn is a message of the OpenAI shape, which most protocols share.
type Turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Turns are the system and user messages that are not empty.
func Turns(r providers.Request) []Turn {
	var turns []Turn
	if r.System != "" {
		turns = append(turns, Turn{"system", r.System})
	}
	return append(turns, Turn{"user", r.User})
}

// Function is a tool of the OpenAI shape.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict,omitempty"`
}

// Tool wraps a Function.
type Tool struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Tools are the one offered tool in the OpenAI shape.
func Tools(r providers.Request, strict *bool) []Tool {
	return []Tool{{"function", Function{r.ToolName, r.ToolDescription, r.Schema, strict}}}
}
