package service

import "github.com/interlock-harness/interlock/service/internal/mutant"

// MutantInfo describes one deliberate fault that `serve --mutant` accepts on a
// throw-away database: in which scenario and by which invariant it must be caught.
type MutantInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Scenario    string `json:"scenario"`
	Invariant   string `json:"invariant"`
}

// Mutants lists every fault, by name.
func Mutants() []MutantInfo {
	all := mutant.All()
	infos := make([]MutantInfo, len(all))
	for i, m := range all {
		infos[i] = MutantInfo{Name: m.Name, Description: m.Description, Scenario: m.Scenario, Invariant: m.Invariant}
	}
	return infos
}
