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
	With      []string   `json:"with,omitempty"`   // found only where these guards are gone too
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
	"submit-job": {Submit, SubmitNext}, "submit-jobs": {Submit, SubmitNext}, "job-by-key": {Submit, SubmitNext},
	"start-attempt": {Start, StrangerStart, Retry}, "trigger-attempt": {Start, StrangerStart, Retry}, "claim-attempts": {Claim},
	"complete-job": {Complete, StaleComplete, Resolve}, "win-attempt": {Complete, StaleComplete},
	"fail-attempt": {Fail, StaleFail}, "unknown-attempt": {MarkUnknown, StaleUnknown},
	"cancel-not-begun": {Complete, StaleComplete, Resolve, CancelJob},
	"lose-attempt":     {Complete, StaleComplete, Resolve}, "record-race": {Complete, StaleComplete, Resolve},
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
		name := strings.TrimSuffix(name, liftedSuffix)
		i := slices.IndexFunc(all, func(m mutant.Mutant) bool { return m.Name == name })
		m, ok := guard(name)
		switch {
		case i >= 0:
			m = all[i]
		case !ok:
			return nil, fmt.Errorf("%q is no mutant that the pairs are asked to find; interlock explore --interleave --mutants lists them", name)
		}
		some = append(some, m)
	}
	return some, nil
}

// Choose is mutant.Choose, and knows the guards and groups of them as well.
func Choose(name string) (mutant.Active, error) {
	if !strings.HasPrefix(name, mutant.GuardPrefix) {
		return mutant.Choose(name)
	}
	m, ok := guard(strings.TrimSuffix(name, liftedSuffix))
	if !ok {
		return mutant.Active{}, fmt.Errorf("there is no guard %q; interlock explore --interleave --mutants lists them", name)
	}
	if strings.HasSuffix(name, liftedSuffix) {
		m = lifted(m)
	}
	return mutant.With(m), nil
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

// Hunter plays pairs with one mutant after the other, and remembers what came of
// each, since a guard may be asked for in several groups.
type Hunter struct {
	options Options
	known   map[string]huntedOnce
}

// huntedOnce is what one version of a mutant came to.
type huntedOnce struct {
	violation *Violation // nil: none
	schedules int
}

// NewHunter hunts with the lanes of o.
func NewHunter(o Options) *Hunter {
	o.Merge, o.UntilViolation = true, true
	return &Hunter{options: o, known: map[string]huntedOnce{}}
}

// Hunt plays pairs with mutant m until a promise breaks. A guard of a statement is
// played once more without the schema's second guards, and then together with a
// second guard that is not found alone either.
func (h *Hunter) Hunt(ctx context.Context, m mutant.Mutant) (Hunted, error) {
	told := Hunted{Mutant: m.Name, Means: m.Description, Beyond: beyond[m.Name]}
	found, err := h.tell(ctx, m, &told)
	if err == nil && !found && numbered(m.Name) {
		err = h.inGroup(ctx, m, &told)
	}
	return told, err
}

// tell plays m, and where it is a guard also without the schema's second guards,
// and tells what is found.
func (h *Hunter) tell(ctx context.Context, m mutant.Mutant, told *Hunted) (found bool, err error) {
	versions := []mutant.Mutant{m}
	if strings.HasPrefix(m.Name, mutant.GuardPrefix) {
		versions = append(versions, lifted(m))
	}
	for i, v := range versions {
		p, err := h.played(ctx, v)
		if err != nil {
			return false, err
		}
		told.Schedules += p.schedules
		if p.violation != nil {
			told.Mutant, told.Means, told.Found, told.Lifted, told.Violation = v.Name, v.Description, true, i > 0, p.violation
			return true, nil
		}
	}
	return false, nil
}

func (h *Hunter) played(ctx context.Context, m mutant.Mutant) (huntedOnce, error) {
	members := strings.Split(strings.TrimPrefix(m.Name, mutant.GuardPrefix), joint)
	slices.Sort(members) // a group is the same whoever is named first
	name := strings.Join(members, joint)
	if known, ok := h.known[name]; ok {
		return known, nil
	}
	o := h.options
	o.Mutant = mutant.With(m)
	r, err := Search(ctx, o, pairsFor(m))
	if err != nil {
		return huntedOnce{}, fmt.Errorf("%s: %w", m.Name, err)
	}
	once := huntedOnce{schedules: r.Schedules}
	if len(r.Violations) > 0 {
		once.violation = &r.Violations[0]
	}
	h.known[name] = once
	return once, nil
}
