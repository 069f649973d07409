package service_test

import (
	"testing"

	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/service"
)

// The harness cannot look inside the service, so it keeps a table of its own:
// neither side can drop or change a mutant unseen.
func TestTheHarnessKnowsEveryMutant(t *testing.T) {
	known := map[string]mutant.Mutant{}
	for _, m := range mutant.All() {
		known[m.Name] = m
	}
	for _, m := range service.Mutants() {
		want, ok := known[m.Name]
		if !ok {
			t.Errorf("the harness does not know %s", m.Name)
			continue
		}
		if m.Scenario != want.Scenario || m.Invariant != want.Invariant || m.Description != want.Description {
			t.Errorf("%s: the service says %+v, the harness %+v", m.Name, m, want)
		}
		delete(known, m.Name)
	}
	for name := range known {
		t.Errorf("the service has no mutant %s", name)
	}
	if n := len(service.Mutants()); n < 20 {
		t.Errorf("%d mutants are too few", n)
	}
}
