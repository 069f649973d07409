// Package mutant names deliberate, minimal faults of the service, by which the
// scenarios prove that they would notice a real one.
//
// A mutant changes the schema (a dropped index), a statement (a dropped guard
// line) or a policy (a timeout taken for a failure). Where the service is
// guarded twice, a mutant takes both guards away, or nothing would be seen. One
// is chosen at start-up by name; the service accepts it only on a throw-away
// database that the stage marked, and says so loudly. Production code asks
// Active at one place per policy and otherwise does not know that mutants exist.
package mutant

import (
	"fmt"
	"sort"
	"strings"
)

// Policy is a named decision that a mutant turns round.
type Policy string

// Mutant is one named fault.
type Mutant struct {
	Name        string // lower case words joined by hyphens
	Description string // one line: what a careless implementation would do
	Scenario    string // slug of the scenario in which it must die
	Invariant   string // by which it must die: I1 to I16
	// Schema is run after the migrations, as the owner of the tables. It must be
	// repeatable, since several processes of a stage run it.
	Schema  []string
	Replace []Replacement
	Policy  []Policy
}

// Replacement changes one named SQL statement of the store. Old must occur
// exactly once in it.
type Replacement struct {
	Statement string
	Old, New  string
}

var registry = map[string]Mutant{}

// register adds mutants at package initialisation; a name used twice is a
// mistake of the programmer.
func register(mutants ...Mutant) {
	for _, m := range mutants {
		if _, twice := registry[m.Name]; twice {
			panic("mutant " + m.Name + " is registered twice")
		}
		registry[m.Name] = m
	}
}

// All returns every mutant, by name.
func All() []Mutant {
	all := make([]Mutant, 0, len(registry))
	for _, m := range registry {
		all = append(all, m)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Names returns the names of all mutants, sorted.
func Names() []string {
	names := make([]string, 0, len(registry))
	for _, m := range All() {
		names = append(names, m.Name)
	}
	return names
}

// Active is the mutant that this process runs with. The zero value is the
// clean service.
type Active struct {
	mutant *Mutant
}

// Choose returns the mutant called name; the empty name is the clean service.
func Choose(name string) (Active, error) {
	if name == "" {
		return Active{}, nil
	}
	m, ok := registry[name]
	if !ok {
		return Active{}, fmt.Errorf("no mutant %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return Active{mutant: &m}, nil
}

// Name is the name of the mutant, empty for the clean service.
func (a Active) Name() string {
	if a.mutant == nil {
		return ""
	}
	return a.mutant.Name
}

// Is reports whether the mutant turns policy p round.
func (a Active) Is(p Policy) bool {
	if a.mutant == nil {
		return false
	}
	for _, q := range a.mutant.Policy {
		if p == q {
			return true
		}
	}
	return false
}

// Schema returns the statements to run after the migrations.
func (a Active) Schema() []string {
	if a.mutant == nil {
		return nil
	}
	return a.mutant.Schema
}

// Rewrite returns the changed texts of the mutant's statements, by the clean
// text. It refuses a replacement that names no statement or whose old text does
// not occur exactly once, so that a mutant cannot silently do nothing.
func (a Active) Rewrite(statements map[string]string) (map[string]string, error) {
	if a.mutant == nil {
		return nil, nil
	}
	changed := map[string]string{}
	for _, r := range a.mutant.Replace {
		clean, ok := statements[r.Statement]
		if !ok {
			return nil, fmt.Errorf("mutant %s: there is no statement %q", a.Name(), r.Statement)
		}
		text, ok := changed[clean]
		if !ok {
			text = clean
		}
		if n := strings.Count(text, r.Old); n != 1 {
			return nil, fmt.Errorf("mutant %s: %q occurs %d times in statement %q, not once", a.Name(), r.Old, n, r.Statement)
		}
		changed[clean] = strings.Replace(text, r.Old, r.New, 1)
	}
	return changed, nil
}
