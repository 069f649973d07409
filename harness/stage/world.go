package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/target"
)

// World is what one scenario sees of the stage: owners that nobody used
// before, its own part of the history, and handles on everything that it may
// break. Close undoes whatever it did.
type World struct {
	// Name is the slug of the scenario.
	Name string
	// Recorder is the scenario's part of the history.
	Recorder *history.Recorder
	// Service is the target: shared, or the scenario's own.
	Service *Service

	began time.Time
	stage *Stage
	token string // occurs in every prompt of this world, and nowhere else
	own   bool   // Service goes with the world
	tls   map[string]*fault.OnTLS

	mu      sync.Mutex
	owners  map[int]Credential
	earlier map[string]bool // jobs that its owners had before
	gates   []*Gate
	faults  []fault.Fault
	closed  bool
}

type worlds struct {
	mu      sync.Mutex
	byToken map[string]*World
}

// WorldOption changes how a world is made.
type WorldOption func(*worldOptions)

type worldOptions struct{ isolated *ServiceOptions }

// Isolated gives the world a service of its own, with its own database and
// processes (0.3 s more): for scenarios that kill, pause or configure it.
// Fields that are zero are taken from the stage's options.
func Isolated(o ServiceOptions) WorldOption {
	return func(w *worldOptions) { w.isolated = &o }
}

// theProbe is the world in which a foreign target is tried before anything is played:
// what it records belongs to the run, and nobody judges it.
const theProbe = "probe"

// World opens the world of a scenario; name is its slug.
func (s *Stage) World(ctx context.Context, name string, options ...WorldOption) (*World, error) {
	var o worldOptions
	for _, option := range options {
		option(&o)
	}
	w := &World{
		Name: name, Recorder: s.Recorder, began: time.Now(), stage: s, owners: map[int]Credential{}, earlier: map[string]bool{},
		token: "w" + strings.ToLower(rand.Text()[:12]),
	}
	if name != theProbe {
		w.Recorder = s.Recorder.Child(name)
	}
	var err error
	if o.isolated != nil {
		w.own = true
		if err := w.placeTLS(o.isolated); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		w.Service, err = s.NewService(ctx, name, o.isolated.over(s.o.Service))
	} else {
		w.Service, err = s.Service(ctx)
		if err == nil && s.target != nil { // a scenario before this one may have lost it
			err = w.Service.Heal(ctx)
		}
	}
	if err != nil {
		if ctx.Err() == nil { // else the play never began, and says nothing about the stage
			w.Recorder.Infrastructure(err)
		}
		return nil, err
	}
	s.worlds.mu.Lock()
	s.worlds.byToken[w.token] = w
	s.worlds.mu.Unlock()
	w.Recorder.Phase(history.PhaseMain, history.PhaseFacts{})
	return w, nil
}

var tokens = regexp.MustCompile(`\bw[0-9a-z]{12}\b`)

// recorderOf finds to whose history a prompt belongs.
func (s *Stage) recorderOf(prompt string) *history.Recorder {
	s.worlds.mu.Lock()
	defer s.worlds.mu.Unlock()
	for _, token := range tokens.FindAllString(prompt, -1) {
		if w := s.worlds.byToken[token]; w != nil {
			return w.Recorder
		}
	}
	return s.Recorder
}

// text is the text by which the calls of an intent are known: the world's
// token and the intent's name.
func (w *World) text(name string) string {
	if name == "" {
		return w.token
	}
	return w.token + "/" + name + "/"
}

// Intent is an intent that the target accepts, for OpenAI, with a deadline so
// far away that it does not pass by itself. name ends up in the prompt: calls
// for it are matched by Match{Text: name}.
func (w *World) Intent(name string) target.Intent {
	i := w.stage.o.Intent(w.text(name))
	if i.DeadlineMS == 0 {
		i.DeadlineMS = calmDeadline.Milliseconds()
	}
	return i
}

// calmDeadline is far beyond what any scenario waits for.
const calmDeadline = 25 * time.Second

// Key makes an idempotency key that no other world uses.
func (w *World) Key(name string) string { return w.token + "-" + name }

// Owner returns the credential of owner i of this world, counted from 1.
func (w *World) Owner(i int) Credential {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.owners[i]; ok {
		return c
	}
	c, err := w.stage.takeOwner()
	if err == nil {
		err = w.see(c.Owner)
	}
	if err != nil {
		w.Recorder.Infrastructure(err)
	}
	w.owners[i] = c
	return c
}

// Client is a client of the service as owner 1, through the balancer. name is
// who it is in the history.
func (w *World) Client(name string) *target.Client { return w.ClientOf(1, name) }

// ClientOf is Client for owner i.
func (w *World) ClientOf(i int, name string) *target.Client {
	c := w.Owner(i)
	return w.client(name, c)
}

// Operator is a client with the operator's credential.
func (w *World) Operator() *target.Client {
	if f := w.stage.o.Foreign; f != nil {
		return w.client("operator", f.Operator)
	}
	return w.client("operator", w.stage.config.operator)
}

// Adapter says how the target words the contract; nil for the contract's own words.
func (w *World) Adapter() *target.Adapter {
	if f := w.stage.o.Foreign; f != nil {
		return f.Adapter
	}
	return nil
}

// ErrNoOperator is returned where nobody gave an operator's key of the target. It
// says nothing about the target.
var ErrNoOperator = errors.New("needs an operator's key of the target: a line NAME operator KEY in the file of --target-keys")

// OperatorKey is the credential of Operator, or ErrNoOperator.
func (w *World) OperatorKey() (string, error) {
	f := w.stage.o.Foreign
	switch {
	case f == nil:
		return w.stage.config.operator.Key, nil
	case f.Operator.Key == "":
		return "", ErrNoOperator
	}
	return f.Operator.Key, nil
}

func (w *World) client(name string, c Credential) *target.Client {
	return target.New(w.caller(name, c))
}

func (w *World) caller(name string, c Credential) target.Options {
	return target.Options{
		Actor: name, BaseURL: w.Service.Balancer.URL(), Owner: c.Owner, APIKey: c.Key, Recorder: w.Recorder, Adapter: w.Adapter(),
	}
}

// Careless is a client that keeps connections, and lets Go's transport send
// a keyed POST again by itself.
func (w *World) Careless(name string) *target.Client {
	o := w.caller(name, w.Owner(1))
	o.Reuse = true
	return target.New(o)
}

// History is what was recorded of this world so far.
func (w *World) History() []history.Event { return w.Recorder.Events() }

func (w *World) addGate(g *Gate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gates = append(w.gates, g)
}

// Add keeps a fault that Heal lifts. The fault methods of World do it.
func (w *World) Add(f fault.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, f)
}

// Heal lifts every fault, opens every gate and brings dead processes back.
func (w *World) Heal(ctx context.Context) error {
	return errors.Join(w.lift(ctx), w.Service.Heal(ctx))
}

func (w *World) lift(ctx context.Context) error {
	w.mu.Lock()
	faults, gates := w.faults, w.gates
	w.faults, w.gates = nil, nil
	w.mu.Unlock()
	var failed error
	for i := len(faults) - 1; i >= 0; i-- {
		if err := faults[i].Heal(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("heal %s: %w", faults[i].Name(), err))
		}
	}
	for _, g := range gates {
		g.Release()
	}
	return failed
}

// Finish ends a scenario as its history must end: heal, drain within bound
// until nothing moves by itself any more, then read everything (level L2).
func (w *World) Finish(ctx context.Context, bound time.Duration) error {
	w.Recorder.Phase(history.PhaseHeal, history.PhaseFacts{})
	if err := w.Heal(ctx); err != nil {
		w.Recorder.Infrastructure(err)
		return err
	}
	w.Recorder.Phase(history.PhaseDrain, history.PhaseFacts{BoundMS: bound.Milliseconds()})
	// That something still moves at the bound is for an invariant to judge.
	drain, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	quiet, audit := w.Quiet, w.Audit
	if w.stage.Level() < 2 {
		quiet, audit = w.quietEdge, w.auditEdge
	}
	_ = quiet(drain)
	w.Recorder.Phase(history.PhaseAudit, history.PhaseFacts{})
	if err := audit(ctx); err != nil {
		w.Recorder.Infrastructure(err)
		return err
	}
	return nil
}

// Close undoes what the world did, and ends its own service.
func (w *World) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), toClose)
	defer cancel()
	var failed error
	if w.own {
		failed = w.lift(ctx)
		if w.Service != nil {
			failed = errors.Join(failed, w.Service.Close())
		}
		for _, f := range w.tls {
			f.Close()
		}
		if w.tls != nil {
			if err := os.Remove(w.authorities()); !errors.Is(err, os.ErrNotExist) {
				failed = errors.Join(failed, err)
			}
		}
	} else {
		failed = w.Heal(ctx)
	}
	for _, in := range w.stage.stands {
		in.forget(w)
	}
	w.stage.worlds.mu.Lock()
	delete(w.stage.worlds.byToken, w.token)
	w.stage.worlds.mu.Unlock()
	return failed
}
