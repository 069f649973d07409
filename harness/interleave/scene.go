package interleave

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers/standin"
)

// Bounds of a scene. None of them decides an order.
const (
	toPrepare = 15 * time.Second // a job, until it stands as the set wants it
	toDrain   = 4 * time.Second  // what is under way when a schedule has ended
	toEnd     = 20 * time.Second // with the audit
)

// Deadlines of a scene's attempts.
const (
	soon = 400 * time.Millisecond // passes while the scene is prepared
	far  = 60 * time.Second
)

// scene is one job that stands as a set wants it, with two operations that can
// begin. All calls to the provider are held.
type scene struct {
	set    Set
	w      *stage.World
	client *target.Client
	key    string
	job    string
	names  []string // what the statements of the two are known by
	open   func()   // lets all calls of the provider go, also those to come

	mu    sync.Mutex
	calls []*standin.Gate // held, oldest first
	came  chan struct{}
}

// prepare makes a scene.
func prepare(ctx context.Context, s *stage.Stage, set Set) (_ *scene, err error) {
	ctx, cancel := context.WithTimeout(ctx, toPrepare)
	defer cancel()
	w, err := s.World(ctx, "interleave")
	if err != nil {
		return nil, err
	}
	sc := &scene{set: set, w: w, client: w.Client("client-1").Through(w.Service.Replica(1).URL()), key: w.Key("a"), came: make(chan struct{}, 16)}
	end := w.Provider(stage.OpenAI).HoldEach(stage.Match{}, func(_ standin.Ask, g *standin.Gate) {
		sc.mu.Lock()
		sc.calls = append(sc.calls, g)
		sc.mu.Unlock()
		select {
		case sc.came <- struct{}{}:
		default: // nobody waits for so many
		}
	})
	sc.open = func() {
		end()
		sc.mu.Lock()
		defer sc.mu.Unlock()
		for _, g := range sc.calls {
			g.Release()
		}
	}
	for i, word := range []string{"first", "second"} { // so that one can be told from the other
		w.Provider(stage.OpenAI).Script(stage.Match{Nth: i + 1}, standin.Says(answerOf(word)), history.Accept)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("prepare %s: %w", set, err), sc.leave())
		}
	}()
	sc.names = []string{sc.key, w.Owner(1).Owner}
	if set.Situation == New {
		return sc, nil
	}
	job, err := sc.client.Submit(ctx, sc.key, sc.intent())
	if err != nil {
		return nil, err
	}
	sc.job = job.ID
	sc.names = append(sc.names, job.ID)
	if err := sc.held(ctx); err != nil || set.Situation == Running {
		return sc, errors.Join(err, sc.seen(ctx, 1, ""))
	}
	if err := sc.seen(ctx, 1, "unknown"); err != nil || set.Situation == Unknown {
		return sc, err
	}
	if _, err := w.Operator().Release(ctx, sc.job, 1, "the provider is silent"); err != nil || set.Situation == Released {
		return sc, err
	}
	if _, err := sc.client.StartAttempt(ctx, sc.job, w.Key("retry"), ""); err != nil {
		return nil, err
	}
	return sc, errors.Join(sc.held(ctx), sc.seen(ctx, 2, "unknown"))
}

func (sc *scene) intent() target.Intent {
	i := sc.w.Intent("a")
	i.DeadlineMS = far.Milliseconds()
	if sc.set.Situation != New && sc.set.Situation != Running {
		i.DeadlineMS = soon.Milliseconds()
	}
	return i
}

// answerOf is a result that the contract of the stage accepts.
func answerOf(word string) string {
	return `{"queue":"billing","urgency":"normal","summary":"answer ` + word + `"}`
}

// held waits until the provider has one more call.
func (sc *scene) held(ctx context.Context) error {
	select {
	case <-sc.came:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the provider was not asked: %w", ctx.Err())
	}
}

// seen waits until attempt n has the state, "" for any, and notes its id. A target
// that shows no attempts is not asked.
func (sc *scene) seen(ctx context.Context, n int, state string) error {
	for {
		list, err := sc.client.Attempts(ctx, sc.job)
		if errors.Is(err, target.ErrNotOffered) {
			return nil
		}
		if err == nil && len(list) >= n && (state == "" || list[n-1].State == state) {
			sc.names = append(sc.names, list[n-1].ID)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("attempt %d never was %s: %w", n, state, errors.Join(err, ctx.Err()))
		case <-time.After(between):
		}
	}
}

const between = 5 * time.Millisecond

// run does operation i of the set. It returns false for the provider's answer, which
// nobody tells the end of.
func (sc *scene) run(ctx context.Context, i int) (request bool) {
	op := sc.set.Operations[i]
	replica := sc.w.Service.Replica(i + 1).URL() // always the same one, since it may remember
	c := sc.client.As(fmt.Sprintf("client-%d", i+1)).Through(replica)
	operator := sc.w.Operator().As(fmt.Sprintf("operator-%d", i+1)).Through(replica)
	last := 1
	if sc.set.Situation == Raced {
		last = 2
	}
	// What a request answers is in the history, and judged there.
	switch op {
	case Submit:
		_, _ = c.Submit(ctx, sc.key, sc.intent())
	case SubmitOther:
		other := sc.intent()
		other.Input = sc.w.Intent("another").Input
		_, _ = c.Submit(ctx, sc.key, other)
	case Start:
		_, _ = c.StartAttempt(ctx, sc.job, sc.w.Key(fmt.Sprintf("click-%d", i)), "")
	case CancelJob:
		_, _ = c.CancelJob(ctx, sc.job, "changed my mind")
	case CancelAttempt:
		_, _ = operator.CancelAttempt(ctx, sc.job, last, "out of the way")
	case Release:
		_, _ = operator.Release(ctx, sc.job, last, "the provider is silent")
	case Resolve:
		_, _ = operator.Resolve(ctx, sc.job, last, target.Resolution{Outcome: "failed", Evidence: "the provider says so", Reason: "asked"})
	case Complete:
		sc.mu.Lock()
		n := len(sc.calls) - 1 // the newest attempt
		if i == 1 && sc.set.Operations[0] == Complete {
			n-- // the other one answers that
		}
		gate := sc.calls[n]
		sc.mu.Unlock()
		gate.Release()
		return false
	}
	return true
}

// judge ends the scene and judges its history.
func (sc *scene) judge(ctx context.Context) (invariant.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, toEnd)
	defer cancel()
	sc.open()
	if err := sc.w.Finish(ctx, toDrain); err != nil {
		return invariant.Result{}, err
	}
	events := sc.w.History()
	sc.w.Recorder.Seal()
	return invariant.Judge(events, 2, invariant.Expect{}), sc.w.Close()
}

// leave ends a scene that is not judged.
func (sc *scene) leave() error {
	sc.open()
	return sc.w.Close()
}
