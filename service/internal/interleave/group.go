package interleave

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// Several guards may hold the same row, each of them alone. Then none is found
// until all of them are gone: a group. Its name joins those of its members, with
// the prefix once: guard:complete-job:1+complete-job:2.

const joint = "+"

// guard reads the name of a guard or of a group, without the schema's part.
func guard(name string) (mutant.Mutant, bool) {
	guards := mutant.Guards(postgres.Statements())
	var members []mutant.Mutant
	for part := range strings.SplitSeq(name, joint) {
		part = mutant.GuardPrefix + strings.TrimPrefix(part, mutant.GuardPrefix)
		i := slices.IndexFunc(guards, func(m mutant.Mutant) bool { return m.Name == part })
		if i < 0 || slices.ContainsFunc(members, func(m mutant.Mutant) bool { return m.Name == part }) {
			return mutant.Mutant{}, false
		}
		members = append(members, guards[i])
	}
	return group(members...), strings.HasPrefix(name, mutant.GuardPrefix)
}

// group takes all members away at once.
func group(members ...mutant.Mutant) mutant.Mutant {
	all := members[0]
	all.Replace = slices.Clip(all.Replace)
	for _, m := range members[1:] {
		all.Name += joint + strings.TrimPrefix(m.Name, mutant.GuardPrefix)
		all.Description += "; " + m.Description
		all.Replace = append(all.Replace, m.Replace...)
	}
	return all
}

// inGroup looks for a second guard of the statement without which one that is not
// found alone is found. It is not found alone either; else it would say nothing
// about the first.
func (h *Hunter) inGroup(ctx context.Context, m mutant.Mutant, told *Hunted) error {
	for _, other := range mutant.Guards(postgres.Statements()) {
		if other.Name == m.Name || other.Replace[0].Statement != m.Replace[0].Statement {
			continue
		}
		both := group(m, other)
		p, err := h.played(ctx, lifted(both)) // what is not found so is not found with the schema's guards either
		if err != nil {
			return err
		}
		if p.violation == nil {
			told.Schedules += p.schedules
			continue
		}
		alone, err := h.played(ctx, lifted(other))
		if err != nil {
			return err
		}
		if alone.violation != nil {
			continue
		}
		if _, err = h.tell(ctx, both, told); err != nil {
			return err
		}
		told.With = []string{other.Name}
		return nil
	}
	return nil
}

// numbered reports whether the name is that of one guard alone.
func numbered(name string) bool {
	_, err := strconv.Atoi(name[strings.LastIndexByte(name, ':')+1:])
	return err == nil && strings.HasPrefix(name, mutant.GuardPrefix) && !strings.Contains(name, joint)
}
