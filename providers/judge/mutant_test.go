package judge_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// mutant is one automatic change of a good answer.
type mutant struct {
	what  string // operation and field, without numbers
	body  []byte
	equal string // why the answer is still the same one; "" where it is not
}

// mutants of one answer: a field deleted, renamed or of another type, events left
// out, doubled or in another order, and the body cut at every byte.
func mutants(t providers.Transcript) []mutant {
	var list []mutant
	add := func(what, equal string, body []byte) { list = append(list, mutant{what, body, equal}) }
	events, separator := split(t)
	stated := len(bytes.TrimRight(t.Body, "\n")) // where the last event with a meaning ends
	if t.Request.Stream {
		stated = 0
		for i, e := range events {
			if !idle(e) {
				stated = len(bytes.Join(events[:i+1], separator))
			}
		}
	}
	for at := range t.Body {
		equal := ""
		if at >= stated {
			equal = "cut behind the end that was stated"
		}
		add("cut", equal, t.Body[:at])
	}
	join := func(events [][]byte) []byte { return bytes.Join(events, separator) }
	for i, e := range events {
		head, data := payload(e)
		told := copied(t, e)
		for _, m := range fields(data) {
			changed := slices.Clone(events)
			changed[i] = append(slices.Clone(head), m.body...)
			if m.equal == "" && (told == "" || told == "response.completed" && !strings.Contains(m.what, " /response/output")) {
				add(m.what, "", join(changed))
			} else {
				add(m.what, cmp.Or(m.equal, "an opening, or a copy, of what other events say"), join(changed))
			}
		}
		if len(events) < 3 || len(bytes.TrimSpace(e)) == 0 {
			continue
		}
		equal := ""
		switch {
		case idle(e):
			equal = "an event that says nothing about the answer"
		case told != "" && told != "response.completed":
			equal = "an opening, or a copy, of what other events say"
		}
		kind := " " + string(kindOf(e))
		add("leave out event"+kind, equal, join(slices.Delete(slices.Clone(events), i, i+1)))
		add("double event"+kind, equal, join(slices.Insert(slices.Clone(events), i, e)))
		if i+1 < len(events) && len(bytes.TrimSpace(events[i+1])) > 0 {
			if next := copied(t, events[i+1]); idle(events[i+1]) || next != "" && next != "response.completed" {
				equal = cmp.Or(equal, "the other event says nothing about the answer, or is a copy")
			}
			swapped := slices.Clone(events)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			if bytes.Equal(e, events[i+1]) {
				equal = "two equal events"
			}
			add("swap event"+kind, equal, join(swapped))
		}
	}
	return list
}

// fields are the mutants of one JSON document.
func fields(data []byte) []mutant {
	var root any
	if json.Unmarshal(data, &root) != nil {
		return nil
	}
	var list []mutant
	add := func(what, equal string) {
		if out, err := json.Marshal(root); err == nil {
			list = append(list, mutant{what, out, equal})
		}
	}
	var visit func(v any, path string, inside string)
	visit = func(v any, path, inside string) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				old, at := v[name], path+"/"+name
				equal := inside
				if equal == "" {
					equal = why(old, name)
				}
				delete(v, name)
				add("delete "+at, equal)
				for _, other := range []string{name + "_x", strings.ToUpper(name)} {
					if other != name {
						v[other] = old
						add("rename "+at, equal)
						delete(v, other)
					}
				}
				for _, with := range retyped(old) {
					v[name] = with
					add("retype "+at, equal)
				}
				v[name] = old
				visit(old, at, equal)
			}
		case []any:
			for i := range v {
				old := v[i]
				equal := inside
				if equal == "" {
					equal = why(old, "")
				}
				for _, with := range retyped(old) {
					v[i] = with
					add("retype "+path+"/#", equal)
				}
				v[i] = old
				visit(old, path+"/#", equal)
			}
		}
	}
	visit(root, "", "")
	return list
}

func retyped(v any) []any {
	switch v := v.(type) {
	case string:
		return []any{7, []any{v}, map[string]any{"value": v}, nil}
	case float64:
		return []any{fmt.Sprint(v), []any{v}, nil, true}
	case bool:
		return []any{fmt.Sprint(v), nil}
	case nil:
		return []any{0, map[string]any{}}
	case map[string]any:
		return []any{[]any{v}, "object", nil}
	case []any:
		return []any{map[string]any{"0": v}, "array", nil}
	}
	return nil
}

// split cuts a stream into its events; a body is one.
func split(t providers.Transcript) ([][]byte, []byte) {
	switch {
	case !t.Request.Stream:
		return [][]byte{t.Body}, nil
	case t.Protocol == providers.OllamaChat:
		return bytes.Split(t.Body, []byte("\n")), []byte("\n")
	}
	return bytes.Split(t.Body, []byte("\n\n")), []byte("\n\n")
}

func payload(event []byte) (head, data []byte) {
	if i := bytes.Index(event, []byte("data: ")); i >= 0 {
		return event[:i+6], event[i+6:]
	}
	return nil, event
}
