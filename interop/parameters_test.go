package interop_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// knows has the stand-in accept every parameter of a request that the SDK has a
// field for, the struct params: it may refuse what does not exist, never what the
// vendor has.
func knows(t *testing.T, s sdk, params any) {
	t.Helper()
	names := parameters(reflect.TypeOf(params))
	if len(names) < 10 {
		t.Fatalf("found only %q", names)
	}
	for _, name := range names {
		server := s.server(t)
		if _, err := s.converse(t, server, question{limit: 800, null: []string{name}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		sent(t, server, 1)
	}
	server := s.server(t)
	if _, err := s.converse(t, server, question{limit: 800, null: []string{"no_such_parameter"}}); err == nil {
		t.Errorf("%s: a parameter that does not exist is accepted", s.protocol)
	}
}

// parameters are the names on the wire of the fields of a struct, but for those
// that every question sets.
func parameters(of reflect.Type) []string {
	var names []string
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" && !slices.Contains(asked, name) {
			names = append(names, name)
		}
	}
	return names
}

// asked are the parameters without which there is no question.
var asked = []string{"model", "messages", "input", "max_tokens", "max_completion_tokens", "max_output_tokens"}
