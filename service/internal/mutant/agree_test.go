package mutant_test

import (
	"testing"

	table "github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// TestTheHarnessKnowsEveryMutant compares the two tables: what the service
// offers and what the harness says must catch it.
func TestTheHarnessKnowsEveryMutant(t *testing.T) {
	for _, m := range mutant.All() {
		known, ok := table.Find(m.Name)
		want := table.Mutant{Name: m.Name, Scenario: m.Scenario, Invariant: m.Invariant, Description: m.Description}
		if !ok || known != want {
			t.Errorf("harness/mutant/table.go says %+v, the service offers %+v", known, want)
		}
	}
	if here, there := len(mutant.All()), len(table.All()); here != there {
		t.Errorf("the service offers %d mutants, the harness knows %d", here, there)
	}
}
