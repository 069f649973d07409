// Package worker takes attempts from the store, calls the provider once for
// each, judges what came back, and settles.
//
// The rules it keeps: the claim is committed before a byte can leave; one
// attempt is at most one request, and nothing below the attempt retries; an
// outcome that is not known to be definite is unknown, never failed; after the
// soft deadline the connection stays open up to a hard limit, because the late
// answer is the cheapest way to know; and a worker that stops leaves what it
// cannot finish unknown.
package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// Queue hands out attempts.
type Queue interface {
	Claim(ctx context.Context, worker string, lease time.Duration, limit int, busy ...string) ([]job.Claimed, error)
	Heartbeat(ctx context.Context, worker string, lease time.Duration, attempts []job.AttemptID) (running []job.AttemptID, err error)
	Woken() <-chan struct{} // receives when there may be something to claim
}

// Settler takes what became of an attempt.
type Settler interface {
	Complete(ctx context.Context, by job.Settlement, result json.RawMessage) error
	Fail(ctx context.Context, by job.Settlement) error
	MarkUnknown(ctx context.Context, by job.Settlement) (job.State, error)
	// KeepRef keeps the provider's id of the work; it is not asked about before pause.
	KeepRef(ctx context.Context, by job.Settlement, ref string, pause time.Duration) error
}

// Store is the store as a worker needs it.
type Store interface {
	Queue
	Settler
}

// Caller sends the one request of an attempt. The end of ctx is the hard limit.
// It must not send twice, whatever happens.
type Caller interface {
	// Call returns all that came back. The error is for a request that could not
	// be built (no such profile, contract or key): nothing was sent.
	//
	// known is told the provider's id of the work, once, as soon as it is known and
	// where the provider keeps it: then it can be asked about after the connection
	// is gone.
	Call(ctx context.Context, c job.Claimed, header http.Header, known func(ref string)) (providers.Transcript, error)
}

// Judge says what a transcript is worth under the job's contract.
type Judge interface {
	Judge(j job.Job, provider string, t providers.Transcript) providers.Judgement
}

// Gate is asked once more at the moment of the call; see failover.Policy.
type Gate interface {
	Allow(j job.Job, provider string) (reasons []string)
}

// Metrics counts what the worker does.
type Metrics interface {
	// AttemptEnded tells how a call at provider ended (a word of the outcome
	// classes, or "late") and how long it took.
	AttemptEnded(provider, outcome string, took time.Duration)
}

// Tracer makes a span of each attempt; it ends with the word of its outcome.
type Tracer interface {
	Attempt(ctx context.Context, c job.Claimed) (context.Context, func(outcome string))
}

// Options of a worker. The zero value works.
type Options struct {
	Name        string        // unique to this process; default host, process and a random part
	Concurrency int           // attempts that run at once; default 16
	PerProvider int           // of which at one provider; default Concurrency
	Open        int           // connections open at once, held ones included; default 1024
	Lease       time.Duration // default 30 s
	Heartbeat   time.Duration // default a third of Lease
	Poll        time.Duration // between two looks at the queue without a hint; default 100 ms
	FirstAsk    time.Duration // before the first question about work that the provider keeps; default 5 s
	HardLimit   time.Duration // a connection is given up after that; default 10 min
	Grace       time.Duration // for attempts under way when the worker stops; default 20 s
	Metrics     Metrics
	Tracer      Tracer // nil: no spans
	Log         *slog.Logger
	Mutant      mutant.Active
}

// Worker runs attempts.
type Worker struct {
	store   Store
	caller  Caller
	judge   Judge
	gate    Gate
	options Options
	log     *slog.Logger

	mu      sync.Mutex
	running map[job.AttemptID]string // provider, by attempt that holds a lease
	open    int                      // calls under way, those past their soft deadline included
	freed   chan struct{}            // receives when a place became free
	calls   sync.WaitGroup
}

// New returns a worker; Run starts it.
func New(store Store, caller Caller, judge Judge, gate Gate, o Options) *Worker {
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s/%d/%s", host, os.Getpid(), uuid.NewString()[:8])
	}
	if o.Concurrency == 0 {
		o.Concurrency = 16
	}
	if o.PerProvider == 0 {
		o.PerProvider = o.Concurrency
	}
	if o.Open == 0 {
		o.Open = max(1024, o.Concurrency)
	}
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = o.Lease / 3
	}
	if o.Poll == 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.FirstAsk == 0 {
		o.FirstAsk = 5 * time.Second
	}
	if o.HardLimit == 0 {
		o.HardLimit = 10 * time.Minute
	}
	if o.Grace == 0 {
		o.Grace = 20 * time.Second
	}
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Worker{
		store: store, caller: caller, judge: judge, gate: gate, options: o, log: o.Log.With("worker", o.Name),
		running: map[job.AttemptID]string{}, freed: make(chan struct{}, 1),
	}
}

// Run claims and runs attempts until ctx ends. Then it claims no more, lets what
// is under way finish within the grace, leaves the rest unknown, and returns.
func (w *Worker) Run(ctx context.Context) {
	// What is under way does not end with ctx: settling and heartbeats go on.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var beats sync.WaitGroup
	beats.Go(func() { w.beat(work) })

	w.claimUntil(ctx, work)
	w.drain(stop)
	beats.Wait()
}

// claimUntil claims for as long as ctx lasts; calls run under work.
func (w *Worker) claimUntil(ctx, work context.Context) {
	pause := w.options.Poll
	for ctx.Err() == nil {
		limit, busy := w.room()
		claimed := 0
		if limit > 0 {
			got, err := w.store.Claim(ctx, w.options.Name, w.options.Lease, limit, busy...)
			if err != nil && ctx.Err() == nil {
				w.log.Warn("claim", "error", err)
			}
			for _, c := range got {
				w.begin(work, c)
			}
			claimed = len(got)
		}
		if limit > 0 && claimed == limit {
			pause = w.options.Poll
			continue // there may be more
		}
		if claimed > 0 {
			pause = w.options.Poll
		}
		select {
		case <-ctx.Done():
		case <-w.store.Woken():
			pause = w.options.Poll
		case <-w.freed:
		case <-time.After(pause):
			pause = min(2*pause, 5*w.options.Poll) // nobody told us of anything
		}
	}
}

// room returns how many attempts may be claimed now, and the providers that may
// have none. Since one claim may bring attempts of one provider only, no more are
// asked for than the fullest provider that still has room can take.
func (w *Worker) room() (limit int, busy []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	limit = min(w.options.Concurrency-len(w.running), w.options.Open-w.open, w.options.PerProvider)
	at := map[string]int{}
	for _, provider := range w.running {
		at[provider]++
	}
	for provider, n := range at {
		if free := w.options.PerProvider - n; free <= 0 {
			busy = append(busy, provider)
		} else {
			limit = min(limit, free)
		}
	}
	return max(0, limit), busy
}

// begin runs c in its own goroutine.
func (w *Worker) begin(work context.Context, c job.Claimed) {
	w.mu.Lock()
	w.running[c.Attempt.ID] = c.Attempt.Provider
	w.open++
	w.mu.Unlock()
	w.calls.Go(func() {
		defer w.ended(c.Attempt.ID)
		if w.options.Tracer == nil {
			w.attempt(work, c)
			return
		}
		traced, end := w.options.Tracer.Attempt(work, c)
		end(w.attempt(traced, c))
	})
}

// ended gives the place of an attempt back.
func (w *Worker) ended(id job.AttemptID) {
	w.mu.Lock()
	w.open--
	w.mu.Unlock()
	w.notRunning(id)
}

// notRunning makes room for another attempt: this one settled, or passed its
// soft deadline and no longer needs its lease.
func (w *Worker) notRunning(id job.AttemptID) {
	w.mu.Lock()
	delete(w.running, id)
	w.mu.Unlock()
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// drain waits up to the grace for calls under way, then ends their contexts: the
// attempts mark themselves unknown.
func (w *Worker) drain(stop context.CancelFunc) {
	done := make(chan struct{})
	go func() { w.calls.Wait(); close(done) }()
	grace := time.NewTimer(w.options.Grace)
	defer grace.Stop()
	if w.options.Mutant.Is(mutant.ShutdownIsFailure) {
		grace.Reset(0)
	}
	select {
	case <-done:
	case <-grace.C:
		w.mu.Lock()
		w.log.Warn("attempts are left unknown: the grace is over", "running", len(w.running), "open", w.open)
		w.mu.Unlock()
	}
	stop()
	<-done
}

// beat renews the leases of what runs, until ctx ends.
func (w *Worker) beat(ctx context.Context) {
	tick := time.NewTicker(w.options.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		ids := make([]job.AttemptID, 0, len(w.running))
		for id := range w.running {
			ids = append(ids, id)
		}
		w.mu.Unlock()
		if len(ids) == 0 {
			continue
		}
		if _, err := w.store.Heartbeat(ctx, w.options.Name, w.options.Lease, ids); err != nil && ctx.Err() == nil {
			w.log.Warn("heartbeat", "error", err)
		}
	}
}

type noMetrics struct{}

func (noMetrics) AttemptEnded(string, string, time.Duration) {}
