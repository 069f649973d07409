package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// place is one edge of the stage on which things go wrong.
type place struct {
	ID, Name, From, To string
	Means              string
	Ways               []way
}

// way is one fault that a place knows.
type way struct {
	ID, Name, Means string
	arm             func(context.Context, *stage.World) (fault.Fault, error)
}

// armed wraps a constructor: a nil pointer in an interface would not be nil.
func armed[F fault.Fault](f F, err error) (fault.Fault, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// places lists the five edges, from the client to the providers.
func places() []place {
	toProvider := func(name string) []way {
		return []way{
			{"lost", "lose answers", "the provider works, and its answer never arrives", func(ctx context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.ProviderLostResponse(ctx, name))
			}},
			{"reset", "reset before it got anything", "surely nothing was done there", func(ctx context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.ProviderReset(ctx, name))
			}},
			{"cut", "cut after 20 bytes", "half an answer", func(ctx context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.ProviderCut(ctx, name, 20))
			}},
			{"hole", "black hole", "requests disappear, and nobody says so", func(ctx context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.ProviderBlackHole(ctx, name))
			}},
			{"refused", "nobody listens", "the connection is refused", func(ctx context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.ProviderRefused(ctx, name))
			}},
		}
	}
	process := func(name string, of func(*stage.World) *stage.Process) []way {
		return []way{
			{"kill-" + name, "kill " + name, "SIGKILL, as a crash or an out-of-memory end", func(_ context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.Kill(of(w)))
			}},
			{"pause-" + name, "stop " + name + " in its tracks", "SIGSTOP: it neither answers nor goes away", func(ctx context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.Pause(ctx, of(w)))
			}},
		}
	}
	return []place{
		{"client", "You and the service", "you", "balancer", "What happens to your clicks and their answers.", []way{
			{"lost-answer", "lose answers", "the click arrives, and you never learn of it", func(ctx context.Context, w *stage.World) (fault.Fault, error) { return armed(w.LostResponse(ctx)) }},
			{"lost-request", "lose requests", "to you it looks just the same, but nothing arrived", func(ctx context.Context, w *stage.World) (fault.Fault, error) { return armed(w.LostRequest(ctx)) }},
			{"cut-request", "cut requests after 200 bytes", "half a request arrives", func(ctx context.Context, w *stage.World) (fault.Fault, error) { return armed(w.CutRequest(ctx, 200)) }},
		}},
		{"process", "The processes", "balancer", "api, worker", "Replicas and the worker, as processes.", slices.Concat(
			process("api-1", func(w *stage.World) *stage.Process { return w.Service.Replica(1) }),
			process("worker-1", func(w *stage.World) *stage.Process { return w.Service.Worker(1) }),
		)},
		{"postgres", "The service and PostgreSQL", "api, worker", "PostgreSQL", "The one judge of all races.", []way{
			{"stall", "hold what is sent to it", "every statement waits until you heal", func(_ context.Context, w *stage.World) (fault.Fault, error) { return armed(w.StallPostgres()) }},
			{"crash", "crash the server", "all connections are cut, nothing is flushed; healing starts it again", func(ctx context.Context, w *stage.World) (fault.Fault, error) {
				return armed(w.CrashPostgres(ctx))
			}},
		}},
		{primary, "The worker and " + primary, "worker", primary, "Where a timeout means: nobody knows.", toProvider(primary)},
		{fallback, "The worker and " + fallback, "worker", fallback, "The same, on the way to the fallback.", toProvider(fallback)},
	}
}

// standing is a fault that is in place.
type standing struct {
	N            int
	Place, Name  string
	Since, Ended time.Time
	way          way
	fault        fault.Fault
}

// Fired says whether it acted.
func (s standing) Fired() bool { return s.fault.Fired() }

// Evidence is how that is known.
func (s standing) Evidence() string { return s.fault.Evidence() }

// faults are those that a person put in place, healed ones too: the lanes show
// them.
type faults struct {
	*Console

	arming sync.Mutex // one at a time: arming and healing take a while
	mu     sync.Mutex
	list   []standing
	n      int
}

// Errors of a click on the page of faults.
var (
	errNoPlace = errors.New("there is no such edge or fault")
	errTaken   = errors.New("there is a fault on this edge already; heal it first")
	errHealed  = errors.New("this fault was healed before")
)

func (f *faults) add(ctx context.Context, placeID, wayID string) error {
	all := places()
	i := slices.IndexFunc(all, func(p place) bool { return p.ID == placeID })
	if i < 0 {
		return errNoPlace
	}
	k := slices.IndexFunc(all[i].Ways, func(w way) bool { return w.ID == wayID })
	if k < 0 {
		return errNoPlace
	}
	f.arming.Lock()
	defer f.arming.Unlock()
	for _, s := range f.inPlace() {
		if s.Place == placeID && (placeID != "process" || s.way.ID == wayID) {
			return errTaken
		}
	}
	ctx, cancel := context.WithTimeout(ctx, toAct)
	defer cancel()
	armed, err := all[i].Ways[k].arm(ctx, f.world)
	if err != nil {
		return fmt.Errorf("%s: %w", all[i].Ways[k].Name, err)
	}
	f.mu.Lock()
	f.n++
	f.list = append(f.list, standing{N: f.n, Place: placeID, Name: all[i].Ways[k].Name, Since: time.Now(), way: all[i].Ways[k], fault: armed})
	f.mu.Unlock()
	f.hub.tell("fault", "")
	return nil
}

// heal lifts one fault.
func (f *faults) heal(ctx context.Context, n int) error {
	f.arming.Lock()
	defer f.arming.Unlock()
	f.mu.Lock()
	i := slices.IndexFunc(f.list, func(s standing) bool { return s.N == n && s.Ended.IsZero() })
	if i < 0 {
		f.mu.Unlock()
		return errHealed
	}
	s := f.list[i]
	f.mu.Unlock()
	if err := s.fault.Heal(ctx); err != nil {
		return fmt.Errorf("heal %s: %w", s.Name, err)
	}
	f.mu.Lock()
	f.list[i].Ended = time.Now()
	f.mu.Unlock()
	f.hub.tell("fault", "")
	return nil
}

// healAll lifts all faults, the newest first.
func (f *faults) healAll(ctx context.Context) error {
	var failed error
	list := f.inPlace()
	for i := len(list) - 1; i >= 0; i-- {
		if err := f.heal(ctx, list[i].N); err != nil && !errors.Is(err, errHealed) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// all lists every fault of this console, oldest first.
func (f *faults) all() []standing {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

func (f *faults) inPlace() []standing {
	return slices.DeleteFunc(f.all(), func(s standing) bool { return !s.Ended.IsZero() })
}

// fired counts the faults in place that acted.
func (f *faults) fired() int {
	n := 0
	for _, s := range f.inPlace() {
		if s.Fired() {
			n++
		}
	}
	return n
}

// route leads a client through the fault on its edge, where there is one.
func (f *faults) route(c *target.Client) *target.Client {
	for _, s := range f.inPlace() {
		if wire, ok := s.fault.(interface{ URL() string }); ok && s.Place == "client" {
			return c.Through(wire.URL())
		}
	}
	return c
}
