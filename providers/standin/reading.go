package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Helpers by which the dialects read requests: the way a vendor's server would,
// not the way Interlock reads answers.

func fields(list string) map[string]bool {
	known := map[string]bool{}
	for _, f := range strings.Fields(list) {
		known[f] = true
	}
	return known
}

func decode(data []byte, into any, known map[string]bool) *Failure {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return badRequest("the body is not a JSON object")
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var unknown []string
	for _, name := range names {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if unknown != nil {
		f := badRequest(fmt.Sprintf("%s: no such parameter", unknown[0]))
		f.unknown = unknown
		return f
	}
	if err := json.Unmarshal(data, into); err != nil {
		return badRequest(err.Error())
	}
	return nil
}

func badRequest(message string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Message: message}
}

func notFound(r *http.Request) *Failure {
	return &Failure{Status: http.StatusNotFound, Message: "no such endpoint: " + r.Method + " " + r.URL.Path}
}

// plainText reads content that is a string or a list of text parts.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "")
}

func oneOrMany(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(raw, &many)
	return many
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

func isOneOf(raw json.RawMessage, values ...string) bool {
	return slices.Contains(values, string(bytes.TrimSpace(raw)))
}

// nullable is s, or null when it is empty.
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}
