package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

// Search says which plans are played.
type Search struct {
	Seed   int64
	Plans  int   // numbers 1 to Plans ...
	After  int   // ... beyond this one
	Shard  Shard // of those; the zero Shard is all
	Mutant string
	Lanes  int // plans at once; 0 is 1
	// Done is told of each plan that was judged, one at a time; nil for nobody.
	Done func(Plan, Played)
}

// auditEvery is the share of plans that are played twice: one in twenty.
const auditEvery = 20

// search is a Search while it runs.
type search struct {
	Search
	stage *stage.Stage
	// alone keeps plans that break processes from the others, which would see it.
	alone sync.RWMutex

	mu   sync.Mutex
	sum  Summary
	next int
	err  error
}

// Run plays the plans of a search, until one breaks an invariant, and says what
// came of it.
func (o Search) Run(ctx context.Context, s *stage.Stage) (Summary, error) {
	r := &search{Search: o, stage: s, next: o.After, sum: Summary{
		Format: SummaryFormat, Seed: o.Seed, Plans: o.Plans, Shard: o.Shard.String(), Mutant: o.Mutant, Edges: map[string]int{},
	}}
	started := time.Now()
	var lanes sync.WaitGroup
	for range max(1, o.Lanes) {
		lanes.Go(func() {
			for {
				n, ok := r.take(ctx)
				if !ok {
					return
				}
				r.done(r.judge(ctx, n))
			}
		})
	}
	lanes.Wait()
	slices.Sort(r.sum.Undecided)
	slices.Sort(r.sum.Unsteady)
	r.sum.TookMS, r.sum.Reached = time.Since(started).Milliseconds(), r.next
	if r.err == nil && r.sum.Found == nil {
		r.err = context.Cause(ctx)
	}
	return r.sum, r.err
}

// take hands out the next number.
func (r *search) take(ctx context.Context) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.err == nil && r.sum.Found == nil && ctx.Err() == nil && r.next < r.Plans {
		if r.next++; r.Shard.has(r.next) {
			return r.next, true
		}
	}
	return 0, false
}

// judged is a plan that was played, and played again where its number says so.
type judged struct {
	plan   Plan
	played Played
	again  *Played
	err    error
}

func (r *search) judge(ctx context.Context, n int) judged {
	j := judged{plan: Draw(r.Seed, n)}
	j.plan.Mutant = r.Mutant
	if j.plan.breaksProcesses() {
		r.alone.Lock()
		defer r.alone.Unlock()
	} else {
		r.alone.RLock()
		defer r.alone.RUnlock()
	}
	j.played, j.err = j.plan.Play(ctx, r.stage)
	if j.err == nil && n%auditEvery == 0 && j.played.Verdict != invariant.Violation {
		again, err := j.plan.Play(ctx, r.stage)
		j.again, j.err = &again, err
	}
	return j
}

func (p Plan) breaksProcesses() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Edge() == fault.Processes })
}

// done counts one plan. Of several that break an invariant at once the one with
// the lowest number is kept.
func (r *search) done(j judged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.err != nil {
		if r.err == nil {
			r.err = fmt.Errorf("plan %d of seed %d: %w", j.plan.Number, r.Seed, j.err)
		}
		return
	}
	verdict := j.played.Verdict
	if j.again != nil {
		r.sum.Audited++
		if j.again.Verdict != verdict {
			r.sum.Unsteady = append(r.sum.Unsteady, j.plan.Number)
			j.played.Result = j.again.Result
		}
	}
	r.sum.count(j.plan, j.played)
	if r.Done != nil {
		r.Done(j.plan, j.played)
	}
	if broken := j.played.Broken(); len(broken) > 0 && (r.sum.Found == nil || j.plan.Number < r.sum.Found.Number) {
		j.plan.Invariant = broken[0]
		r.sum.Found = &j.plan
	}
}

// Again plays p times over and counts by invariant how often it was broken.
func Again(ctx context.Context, s *stage.Stage, p Plan, times int, done func(Played)) (map[invariant.ID]int, error) {
	broke := map[invariant.ID]int{}
	for range times {
		played, err := p.Play(ctx, s)
		if err != nil {
			return broke, err
		}
		for _, id := range played.Broken() {
			broke[id]++
		}
		if done != nil {
			done(played)
		}
	}
	return broke, nil
}

const (
	// confirm is how often a smaller plan must break the invariant in a row.
	confirm = 3
	// steady is how often a plan is played to see whether it breaks it always.
	steady = 5
)

// Steady reports whether p breaks its invariant whenever it is played.
func Steady(ctx context.Context, s *stage.Stage, p Plan) (bool, error) {
	return breaks(ctx, p, steady, func(ctx context.Context, p Plan) ([]invariant.ID, error) {
		played, err := p.Play(ctx, s)
		return played.Broken(), err
	})
}

// Smaller shrinks p on a stage: the plan with every race pinned, where that breaks
// the same invariant, and else p itself. Where what comes out does not break the
// invariant steadily, a step that mattered was taken away by luck, and the plan is
// shrunk once more with three times as many confirmations.
func Smaller(ctx context.Context, s *stage.Stage, p Plan) (Shrunk, error) {
	plays := 0
	play := func(ctx context.Context, p Plan) ([]invariant.ID, error) {
		plays++
		played, err := p.Play(ctx, s)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return played.Broken(), nil
	}
	if pinned, ok := p.Pinned(); ok {
		always, err := breaks(ctx, pinned, confirm, play)
		if err != nil {
			return Shrunk{Plan: p, Plays: plays}, err
		}
		if always {
			p = pinned
		}
	}
	small, err := Shrink(ctx, p, confirm, play)
	if err == nil {
		var always bool
		if always, err = breaks(ctx, small.Plan, steady, play); err == nil && !always {
			small, err = Shrink(ctx, p, 3*confirm, play)
		}
	}
	small.Plays = plays
	return small, err
}
