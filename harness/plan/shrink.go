package plan

import (
	"context"
	"slices"

	"github.com/interlock-harness/interlock/harness/invariant"
)

// Shrunk is a plan that was made smaller.
type Shrunk struct {
	Plan
	Plays int // how many plays it took
}

// mostShrinks bounds the plays of one shrinking.
const mostShrinks = 160

// Shrink takes steps away from p for as long as what is left still breaks the
// same invariant, by halves first and one by one in the end (delta debugging). What
// is left must break it confirm times in a row before a step counts as needless.
// play plays a plan and returns what it broke.
func Shrink(ctx context.Context, p Plan, confirm int, play func(context.Context, Plan) ([]invariant.ID, error)) (Shrunk, error) {
	s := Shrunk{Plan: p}
	try := func(steps []Step) (bool, error) {
		if len(steps) == 0 || s.Plays >= mostShrinks {
			return false, nil
		}
		smaller := s.Plan
		smaller.Steps = steps
		ok, err := breaks(ctx, smaller, confirm, func(ctx context.Context, p Plan) ([]invariant.ID, error) {
			s.Plays++
			return play(ctx, p)
		})
		if ok {
			s.Steps = steps
		}
		return ok, err
	}
	// Whole jobs go first: most of a large plan concerns others.
	for _, name := range jobsOf(p.Steps) {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		left := slices.DeleteFunc(slices.Clone(s.Steps), func(st Step) bool { return st.Job != name && st.Job != "" })
		if ok, err := try(left); err != nil {
			return s, err
		} else if ok {
			break
		}
	}
	for size := max(1, len(s.Steps)/2); size >= 1; {
		removed := false
		for at := 0; at < len(s.Steps); {
			if ctx.Err() != nil {
				return s, context.Cause(ctx)
			}
			left := slices.Delete(slices.Clone(s.Steps), at, min(at+size, len(s.Steps)))
			ok, err := try(left)
			if err != nil {
				return s, err
			}
			if removed = removed || ok; !ok {
				at += size
			}
		}
		if size == 1 && !removed {
			break
		}
		if !removed || size > 1 {
			size = max(1, size/2)
		}
	}
	for i, st := range s.Steps {
		for _, fewer := range []int{0, 2} { // one client, or two at once
			if st.Clients <= max(1, fewer) {
				continue
			}
			steps := slices.Clone(s.Steps)
			steps[i].Clients = fewer
			if ok, err := try(steps); err != nil {
				return s, err
			} else if ok {
				break
			}
		}
	}
	for _, name := range jobsOf(s.Steps) {
		if steps, ok := oneStall(s.Steps, name); ok {
			if _, err := try(steps); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// oneStall puts one stall of each attempt of a job in the place of several of one
// attempt. ok is false when there are not several.
func oneStall(steps []Step, job string) (fewer []Step, ok bool) {
	stalls := 0
	for _, s := range steps {
		if s.Do == Stall && s.Job == job {
			if stalls++; stalls > 1 {
				continue
			}
			s.N = 0
		}
		fewer = append(fewer, s)
	}
	return fewer, stalls > 1
}

// breaks reports whether p breaks its invariant so many times in a row.
func breaks(ctx context.Context, p Plan, times int, play func(context.Context, Plan) ([]invariant.ID, error)) (bool, error) {
	for range times {
		broken, err := play(ctx, p)
		if err != nil || !slices.Contains(broken, p.Invariant) {
			return false, err
		}
	}
	return true, nil
}

func jobsOf(steps []Step) []string {
	var names []string
	for _, s := range steps {
		if s.Job != "" && !slices.Contains(names, s.Job) {
			names = append(names, s.Job)
		}
	}
	return names
}
