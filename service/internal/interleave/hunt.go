package interleave

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// Hunted is what the pairs said of one mutant.
type Hunted struct {
	Mutant    string     `json:"mutant"`
	Means     string     `json:"means"`
	Found     bool       `json:"found"`
	Lifted    bool       `json:"lifted,omitempty"` // found only where the schema's second guards are gone too
	Violation *Violation `json:"violation,omitempty"`
	Schedules int        `json:"schedules"` // played until then, or in all
	// Beyond says why the pairs need not find it; empty where they must.
	Beyond string `json:"beyond,omitempty"`
}

// Survived reports whether the pairs should have found it, or have found what is
// marked as beyond them: then the mark is wrong.
func (h Hunted) Survived() bool { return h.Found == (h.Beyond != "") }

// whoRuns says which transactions run a statement; all do where it is not listed.
var whoRuns = map[string][]Transaction{
	"submit-job": {Submit}, "job-by-key": {Submit},
	"start-attempt": {Start}, "claim-attempts": {Claim},
	"complete-job": {Complete, Resolve}, "win-attempt": {Complete},
	"cancel-not-begun": {Complete, Resolve, CancelJob},
	"lose-attempt":     {Complete, Resolve}, "record-race": {Complete, Resolve},
	"reap-attempt": {Reap}, "lock-unless-busy": {Reap}, "expired-leases": {Reap},
	"cancel-job": {CancelJob}, "cancel-attempt": {CancelAttempt}, "release-attempt": {Release}, "resolve-attempt": {Resolve},
}

// pairsFor are the pairs in which the mutant's statements run.
func pairsFor(m mutant.Mutant) []Set {
	var who []Transaction
	for _, r := range m.Replace {
		if whoRuns[r.Statement] == nil {
			return Pairs()
		}
		who = append(who, whoRuns[r.Statement]...)
	}
	if who == nil {
		return Pairs()
	}
	return slices.DeleteFunc(Pairs(), func(s Set) bool { return !s.has(who...) })
}

// Targets are the mutants that a search by pairs is asked to find: those of the
// table that change a statement or the schema, and the guards one by one. Where
// names are given it is those alone; an unknown one is an error.
func Targets(only ...string) ([]mutant.Mutant, error) {
	named := slices.DeleteFunc(mutant.All(), func(m mutant.Mutant) bool { return len(m.Replace)+len(m.Schema) == 0 })
	all := append(named, mutant.Guards(postgres.Statements())...)
	if len(only) == 0 {
		return all, nil
	}
	var some []mutant.Mutant
	for _, name := range only {
		i := slices.IndexFunc(all, func(m mutant.Mutant) bool { return m.Name == strings.TrimSuffix(name, liftedSuffix) })
		if i < 0 {
			return nil, fmt.Errorf("%q is no mutant that the pairs are asked to find; interlock explore --interleave --mutants lists them", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// Choose is mutant.Choose, and knows the guards as well.
func Choose(name string) (mutant.Active, error) {
	if !strings.HasPrefix(name, mutant.GuardPrefix) {
		return mutant.Choose(name)
	}
	guards := mutant.Guards(postgres.Statements())
	i := slices.IndexFunc(guards, func(m mutant.Mutant) bool { return m.Name == strings.TrimSuffix(name, liftedSuffix) })
	if i < 0 {
		return mutant.Active{}, fmt.Errorf("there is no guard %q; interlock explore --interleave --mutants lists them", name)
	}
	if strings.HasSuffix(name, liftedSuffix) {
		return mutant.With(lifted(guards[i])), nil
	}
	return mutant.With(guards[i]), nil
}

// liftedSuffix ends the name of a guard that is taken away together with the
// schema's second guards.
const liftedSuffix = "+schema"

func lifted(m mutant.Mutant) mutant.Mutant {
	m.Name += liftedSuffix
	m.Schema = mutant.SecondGuards()
	return m
}

// Control plays the pairs of the targets on the clean statements without the
// schema's second guards: only where that breaks no promise, one that breaks with
// a guard gone too is the guard's doing.
func Control(ctx context.Context, o Options, targets []mutant.Mutant) (Result, error) {
	o.Mutant, o.Merge = mutant.With(lifted(mutant.Mutant{Name: mutant.GuardPrefix + "none"})), true
	asked := map[string]bool{}
	for _, m := range targets {
		for _, s := range pairsFor(m) {
			asked[s.String()] = true
		}
	}
	return Search(ctx, o, slices.DeleteFunc(Pairs(), func(s Set) bool { return !asked[s.String()] }))
}

// Hunt plays pairs with mutant m until a promise breaks. A guard of a statement
// that the schema holds as well is played once more without that.
func Hunt(ctx context.Context, o Options, m mutant.Mutant) (Hunted, error) {
	h := Hunted{Mutant: m.Name, Means: m.Description, Beyond: beyond[m.Name]}
	if h.Beyond == "" && len(m.Replace) > 0 {
		h.Beyond = notPlayed[m.Replace[0].Statement]
	}
	o.Merge, o.UntilViolation = true, true
	versions := []mutant.Mutant{m}
	if strings.HasPrefix(m.Name, mutant.GuardPrefix) {
		versions = append(versions, lifted(m))
	}
	for i, v := range versions {
		o.Mutant = mutant.With(v)
		r, err := Search(ctx, o, pairsFor(m))
		if err != nil {
			return h, fmt.Errorf("%s: %w", v.Name, err)
		}
		h.Schedules += r.Schedules
		if len(r.Violations) > 0 {
			h.Mutant, h.Found, h.Lifted, h.Violation = v.Name, true, i > 0, &r.Violations[0]
			break
		}
	}
	return h, nil
}
