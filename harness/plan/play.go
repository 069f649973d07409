package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// Bounds of a play. None decides an order.
const (
	toSettle = 5 * time.Second  // an attempt, until it is unknown or ended
	toArrive = 5 * time.Second  // those whose calls are answered, at a held lock
	toCome   = 20 * time.Second // other clients, while one COMMIT is held
	toDrain  = 6 * time.Second  // all, after the faults are lifted
	toPlay   = 60 * time.Second // one plan
)

// soon is the soft deadline of every job, so that a held answer is late soon.
const soon = 60 * time.Millisecond

// submits is how often a client asks until it has an answer.
const submits = 5

// Played is a plan that was played and judged.
type Played struct {
	invariant.Result
	Events []history.Event
	Took   time.Duration
}

// Broken lists the invariants that the play violated, each once.
func (p Played) Broken() []invariant.ID {
	var ids []invariant.ID
	for _, i := range invariant.All() {
		if p.Violated(i.ID) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// play is one plan while it is played.
type play struct {
	w    *stage.World
	s    *stage.Stage
	rows *target.Reader
	jobs map[string]*job
}

// job is what is known of one job of the plan.
type job struct {
	name, id string
	starts   int
	gates    map[int]*stage.Gate
	stall    bool                   // each call is held ...
	last     int                    // ... and this is the newest attempt whose call is
	stalls   map[int]*history.Fault // of the gates, as the history knows them
	through  *fault.OnWire          // where client 1 connects for its next submit
	lock     *fault.Lock
	commit   *fault.Transaction // a held COMMIT of its next submits or starts
}

// Play plays p in a world of its own and judges it.
func (p Plan) Play(ctx context.Context, s *stage.Stage) (Played, error) {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, toPlay)
	defer cancel()
	w, err := s.World(ctx, "plan")
	if err != nil {
		return Played{}, err
	}
	w.Recorder.FaultsMayStayQuiet()
	y := &play{w: w, s: s, rows: w.Rows().Reader(), jobs: map[string]*job{}}
	defer y.rows.Close(ctx)
	for i, step := range p.Steps {
		if err := y.step(ctx, step); err != nil {
			w.Recorder.Infrastructure(fmt.Errorf("step %d, %s: %w", i+1, step.Do, err))
			break
		}
	}
	y.end(ctx)
	failed := w.Finish(ctx, toDrain)
	failed = errors.Join(failed, w.Recorder.Flush())
	played := Played{Events: w.History(), Took: time.Since(started)}
	played.Result = invariant.Judge(played.Events, 4, invariant.Expect{})
	if err := w.Close(); err != nil {
		failed = errors.Join(failed, err)
	}
	if failed != nil && played.Verdict != invariant.Violation {
		return played, failed
	}
	return played, ctx.Err()
}

func (y *play) job(name string) *job {
	j := y.jobs[name]
	if j == nil {
		j = &job{name: name, gates: map[int]*stage.Gate{}, stalls: map[int]*history.Fault{}}
		y.jobs[name] = j
	}
	return j
}

// step plays one step. An error is one of the stage: what the target answers is
// for the invariants.
func (y *play) step(ctx context.Context, s Step) error {
	if s.Fault() {
		return y.fault(ctx, s)
	}
	j := y.job(s.Job)
	if s.Do != Answer && j.lock != nil { // whoever comes now would wait for nobody
		_ = j.lock.Release(ctx)
		j.lock = nil
	}
	switch s.Do {
	case Submit:
		y.stallNext(j)
		y.submit(ctx, j, max(1, s.Clients))
		return nil
	case SubmitOther:
		intent := y.intent(j)
		intent.Params = map[string]any{"max_output_tokens": 321}
		_, _ = y.w.Client("other").Submit(ctx, y.w.Key(j.name), intent)
		return nil
	case SubmitForeign:
		_, _ = y.w.ClientOf(2, "foreigner").Submit(ctx, y.w.Key(j.name), y.intent(j))
		return nil
	}
	if j.id == "" {
		return nil // the submit was shrunk away, or never had an answer
	}
	y.settled(ctx, j)
	switch s.Do {
	case Start:
		y.stallNext(j)
		j.starts++
		y.together(ctx, j, max(1, s.Clients), func(ctx context.Context, i int) {
			_, _ = y.w.Client(fmt.Sprintf("client-%d", i)).StartAttempt(ctx, j.id, y.w.Key(fmt.Sprintf("%s-%d-%d", j.name, j.starts, i)), "")
		})
	case Cancel:
		_, _ = y.w.Client("client-1").CancelJob(ctx, j.id, "not wanted any more")
	case CancelAttempt:
		_, _ = y.w.Operator().CancelAttempt(ctx, j.id, s.N, "out of the way")
	case Release:
		_, _ = y.w.Operator().Release(ctx, j.id, s.N, "the provider is silent")
	case Resolve:
		_, _ = y.w.Operator().Resolve(ctx, j.id, s.N, target.Resolution{Outcome: "failed", Evidence: "the provider says so", Reason: "asked"})
	case Answer:
		y.answer(ctx, j, s.N)
	case Read:
		y.read(ctx, j)
	}
	return nil
}

func (y *play) intent(j *job) target.Intent {
	i := y.w.Intent(j.name)
	i.DeadlineMS = soon.Milliseconds()
	return i
}

// submit hands the job in, n clients from one barrier. Who gets no answer asks
// again, past whatever took it.
func (y *play) submit(ctx context.Context, j *job, n int) {
	through := j.through
	j.through = nil
	var mu sync.Mutex
	y.together(ctx, j, n, func(ctx context.Context, i int) {
		client := y.w.Client(fmt.Sprintf("client-%d", i))
		for try := range submits {
			c := client
			if i == 1 && try == 0 && through != nil {
				c = client.Through(through.URL())
			}
			got, err := c.Submit(ctx, y.w.Key(j.name), y.intent(j))
			if target.IsUnknown(err) {
				continue
			}
			if err == nil {
				mu.Lock()
				if j.id == "" {
					j.id = got.ID
				}
				mu.Unlock()
			}
			return
		}
	})
}

// settled waits until no attempt of the job is starting or running: each is held
// past its deadline, or has ended.
func (y *play) settled(ctx context.Context, j *job) {
	ctx, cancel := context.WithTimeout(ctx, toSettle)
	defer cancel()
	_ = stage.Until(ctx, "no attempt is starting or running", func(ctx context.Context) (bool, error) {
		n, err := y.rows.Count(ctx, `SELECT count(*) FROM attempts WHERE job_id = $1 AND state IN ('starting', 'running')`, j.id)
		return n == 0, err
	})
}

// answer lets held calls go and waits until their attempts have ended. With a
// lock on the job all of them stand before their write when it is let go.
func (y *play) answer(ctx context.Context, j *job, n int) {
	y.arrived(ctx, j)
	var open []*stage.Gate
	held := 0 // calls that stand at them
	for i, g := range j.gates {
		if n == 0 || i == n {
			open = append(open, g)
			held += min(1, g.Calls())
			j.stalled(i, g)
			delete(j.gates, i)
		}
	}
	provider := y.w.Provider(stage.OpenAI)
	begun, underWay := y.calls(j)
	for _, g := range open {
		g.Release()
	}
	if j.lock != nil {
		if n := min(held, underWay); n > 0 {
			bounded, cancel := context.WithTimeout(ctx, toArrive)
			_, _ = j.lock.Await(bounded, n)
			cancel()
		}
		_ = j.lock.Release(ctx)
		j.lock = nil
	}
	bounded, cancel := context.WithTimeout(ctx, toSettle)
	defer cancel()
	_ = provider.AwaitEnd(bounded, stage.Match{Text: j.name}, begun-len(j.gates))
	y.ended(bounded, j, len(open))
}

// calls counts the provider calls of a job, and those that are not over.
func (y *play) calls(j *job) (begun, underWay int) {
	for _, c := range y.w.Provider(stage.OpenAI).Calls(stage.Match{Text: j.name}) {
		begun++
		if c.Ended.IsZero() {
			underWay++
		}
	}
	return begun, underWay
}

// arrived waits until each attempt that a worker had has its call at the provider:
// on a slow machine a deadline may pass on the way.
func (y *play) arrived(ctx context.Context, j *job) {
	ctx, cancel := context.WithTimeout(ctx, toArrive)
	defer cancel()
	_ = stage.Until(ctx, "the calls have arrived", func(ctx context.Context) (bool, error) {
		claimed, err := y.rows.Count(ctx, `SELECT count(*) FROM attempts WHERE job_id = $1 AND worker IS NOT NULL`, j.id)
		begun, _ := y.calls(j)
		return begun >= claimed, err
	})
}

// end lets go of what the plan left held, one call after the other: all at once
// they would race, and luck would decide what the plan breaks.
func (y *play) end(ctx context.Context) {
	for _, name := range slices.Sorted(maps.Keys(y.jobs)) {
		j := y.jobs[name]
		if j.lock != nil {
			_ = j.lock.Release(ctx)
			j.lock = nil
		}
		if len(j.gates) > 0 && j.id != "" { // an attempt that was just started comes before a late answer
			y.settled(ctx, j)
		}
		for _, n := range slices.Sorted(maps.Keys(j.gates)) {
			if j.id == "" { // nobody came
				j.stalled(n, j.gates[n])
				continue
			}
			y.answer(ctx, j, n)
		}
	}
}

func (j *job) stalled(n int, g *stage.Gate) {
	select {
	case <-g.Arrived():
		j.stalls[n].Fired("a call is held")
	default:
	}
	j.stalls[n].Healed()
}

// ended waits until the answered attempts have left their open states.
func (y *play) ended(ctx context.Context, j *job, answered int) {
	if answered == 0 {
		return
	}
	held := len(j.gates)
	_ = stage.Until(ctx, "the answered attempts have ended", func(ctx context.Context) (bool, error) {
		n, err := y.rows.Count(ctx, `SELECT count(*) FROM attempts WHERE job_id = $1 AND state IN ('starting', 'running', 'unknown', 'released')`, j.id)
		return n <= held, err
	})
}

func (y *play) read(ctx context.Context, j *job) {
	for range y.w.Service.Options.Replicas {
		c := y.w.Client("reader")
		_, _ = c.Job(ctx, j.id)
		_, _ = c.Attempts(ctx, j.id)
		_, _ = c.Races(ctx, j.id)
	}
	_, _ = y.w.ClientOf(2, "foreigner").Job(ctx, j.id)
}
