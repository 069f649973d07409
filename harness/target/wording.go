package target

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// intentPlace stands for the whole intent in Adapter.Submit; the fields of an
// intent have places of their own, such as {{input}} and {{deadline_ms}}.
const intentPlace = "{{intent}}"

// places are the parts of an intent that a body may name instead of intentPlace.
var places = []string{"contract", "provider", "input", "params", "failover", "race", "deadline_ms"}

// named says whether a body holds the intent, as a whole or in parts.
func named(body string) bool {
	return strings.Count(body, intentPlace) == 1 || strings.Contains(body, place("input"))
}

func place(field string) string { return "{{" + field + "}}" }

// submit is the body of a submit of intent, a JSON object in the contract's words.
func (a *Adapter) submit(intent []byte) []byte {
	if a.Submit == "" && len(a.Providers)+len(a.Contracts) == 0 {
		return []byte(`{"intent":` + string(intent) + `}`)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(intent, &fields) != nil {
		return intent
	}
	reword(fields, "contract", a.Contracts)
	reword(fields, "provider", a.Providers)
	var failover struct {
		Mode      string   `json:"mode"`
		Providers []string `json:"providers,omitempty"`
	}
	if json.Unmarshal(fields["failover"], &failover) == nil && len(failover.Providers) > 0 {
		for i, p := range failover.Providers {
			failover.Providers[i] = or(a.Providers[p], p)
		}
		fields["failover"], _ = json.Marshal(failover)
	}
	whole := intent // byte for byte, where no word changes
	if len(a.Providers)+len(a.Contracts) > 0 {
		whole, _ = json.Marshal(fields)
	}
	pairs := []string{intentPlace, string(whole)}
	for _, field := range places {
		value := "null"
		if v, ok := fields[field]; ok {
			value = string(v)
		}
		pairs = append(pairs, place(field), value)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(or(a.Submit, `{"intent":`+intentPlace+`}`)))
}

// reword puts the target's word for the contract's into a field.
func reword(fields map[string]json.RawMessage, name string, words map[string]string) {
	var own string
	if json.Unmarshal(fields[name], &own) == nil && words[own] != "" {
		fields[name], _ = json.Marshal(words[own])
	}
}

// reversed is a map of words the other way round.
func reversed(words map[string]string) map[string]string {
	back := make(map[string]string, len(words))
	for _, name := range slices.Sorted(maps.Keys(words)) {
		back[words[name]] = name
	}
	return back
}

// problem reads the body of a refusal, as far as it is one, and gives it the
// contract's type: by the target's own word for it, or else by its status.
func (a *Adapter) problem(answer Answer) history.Problem {
	var p history.Problem
	if object(rename(answer.Body, a.ProblemFields, nil, ""), &p) != nil {
		text := string(answer.Body)
		if len(text) > 200 {
			text = text[:200]
		}
		p = history.Problem{Detail: strings.ToValidUTF8(text, "\ufffd")}
	}
	for _, own := range []string{p.Type, fmt.Sprint(answer.Status)} {
		if reason := a.Reasons[own]; reason != "" && own != "" {
			p.Type = reason
			break
		}
	}
	return p
}

// Conflict is the status for the same key with other input.
func (a *Adapter) Conflict() int {
	if a == nil || a.ConflictStatus == 0 {
		return http.StatusConflict
	}
	return a.ConflictStatus
}
