// Package mutant says which deliberate fault of the reference service must be
// noticed by which scenario, through which invariant, and counts which were.
//
// It keeps one rule: a mutant is caught only if the named invariant was violated
// in the named scenario, and the clean service passed the same scenario in the
// same run. A violation of anything else is not a catch: it may have come by
// chance.
package mutant

import "slices"

// Mutant is one named, minimal fault, as the service's flag --mutant takes it.
type Mutant struct {
	Name        string `json:"name"`
	Scenario    string `json:"scenario"`  // in which it must die
	Invariant   string `json:"invariant"` // by which it must die
	Description string `json:"description"`
}

// All lists the mutants by name.
func All() []Mutant { return slices.Clone(all) }

// Find returns one mutant.
func Find(name string) (Mutant, bool) {
	for _, m := range all {
		if m.Name == name {
			return m, true
		}
	}
	return Mutant{}, false
}

// Of lists the mutants that must die in a scenario.
func Of(scenario string) []Mutant {
	var list []Mutant
	for _, m := range all {
		if m.Scenario == scenario {
			list = append(list, m)
		}
	}
	return list
}

// Names lists the names, for completion and "did you mean".
func Names() []string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return names
}
