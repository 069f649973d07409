package stage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/providers/standin"
)

// Match picks provider calls of one world. Text is the name that the intent
// was given (World.Intent); the zero Match picks every call of the world.
type Match = standin.Match

// Answer is a script for one call; see the standin package for what it can
// do.
type Answer = standin.Answer

// Point is a place in an answer.
type Point = standin.Point

// ProviderCall is one request in the ledger of a stand-in.
type ProviderCall = standin.Call

// ProviderHandle is a stand-in as one world sees it: it holds, scripts and
// counts the calls of that world only.
type ProviderHandle struct {
	Name string
	in   *standIn
	w    *World
}

// Provider returns the stand-in of that name. Asking for one that the stage
// does not have is a mistake in the scenario: it panics.
func (w *World) Provider(name string) *ProviderHandle {
	in := w.stage.stands[name]
	if in == nil {
		panic(fmt.Sprintf("%v: %s", errNoSuchProvider, name))
	}
	return &ProviderHandle{Name: name, in: in, w: w}
}

// MayHold is Hold for a call that need not come, as in a random plan.
func (p *ProviderHandle) MayHold(m Match) *Gate {
	g := &Gate{Gate: p.in.server.Hold(p.scope(m)), w: p.w}
	p.w.addGate(g)
	return g
}

func (p *ProviderHandle) scope(m Match) Match {
	m.Text = p.w.text(m.Text)
	return m
}

// Hold keeps the calls that match until the gate is released: before the
// first byte of the answer, or at the point that is given. That a call came
// there is a declared probe: a scenario that never gets there is inconclusive.
func (p *ProviderHandle) Hold(m Match, at ...Point) *Gate {
	name := "gate " + p.Name
	for _, part := range []string{m.Text, m.Attempt} {
		if part != "" {
			name += " " + part
		}
	}
	if m.Nth > 0 {
		name += fmt.Sprintf(" call %d", m.Nth)
	}
	g := &Gate{Gate: p.in.server.Hold(p.scope(m), at...), w: p.w, Name: name}
	p.w.Recorder.Declare(name)
	p.w.addGate(g)
	return g
}

// HoldEach keeps every call that matches at a gate of its own until it is
// released by itself, or end is called. take is told of each call; it must not
// call the provider.
func (p *ProviderHandle) HoldEach(m Match, take func(standin.Ask, *standin.Gate)) (end func()) {
	return p.in.server.HoldEach(p.scope(m), take)
}

// Script answers the calls that match as a says. verdict is what a right
// reader makes of that answer (history.Accept, Reject, Refused, Unknown), ""
// where status and completeness tell.
func (p *ProviderHandle) Script(m Match, a Answer, verdict string) {
	m = p.scope(m)
	seconds, _ := strconv.Atoi(a.RetryAfter) // a date counts as nothing: no script uses one
	p.in.explain(&said{match: m, verdict: verdict, rest: time.Duration(seconds) * time.Second, world: p.w})
	p.in.server.Script(m, a)
}

// Fails makes the calls that match end in an error response.
func (p *ProviderHandle) Fails(m Match, status int) {
	p.Script(m, standin.Failed(status), "")
}

// Calls lists the calls of this world that match, oldest first.
func (p *ProviderHandle) Calls(m Match) []ProviderCall { return p.in.server.Calls(p.scope(m)) }

// Await waits until n calls that match have arrived.
func (p *ProviderHandle) Await(ctx context.Context, m Match, n int) error {
	defer Waits(fmt.Sprintf("call %d is at %s", n, p.Name))()
	return p.in.server.Await(ctx, p.scope(m), n)
}

// AwaitEnd waits until n calls that match are over.
func (p *ProviderHandle) AwaitEnd(ctx context.Context, m Match, n int) error {
	defer Waits(fmt.Sprintf("call %d at %s is over", n, p.Name))()
	return p.in.server.AwaitEnd(ctx, p.scope(m), n)
}

// PerAttempt counts the calls of this world by attempt.
func (p *ProviderHandle) PerAttempt() map[string]int {
	counts := map[string]int{}
	for _, c := range p.Calls(Match{}) {
		counts[c.Ask.Attempt]++
	}
	return counts
}

// Edge is the switch between the workers and the stand-in.
func (p *ProviderHandle) Edge() *edge.Switch { return p.in.edge }

// Gate holds provider calls of one world.
type Gate struct {
	*standin.Gate
	Name string // as it was declared; empty where nobody did
	w    *World
	once sync.Once
}

// Await waits until a call is held.
func (g *Gate) Await(ctx context.Context) error {
	defer Waits("a call is at " + g.Name)()
	select {
	case <-g.Arrived():
		g.reached()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no call arrived at %s: %w", g.Name, ctx.Err())
	}
}

// Release lets the held calls go on, and those that come later.
func (g *Gate) Release() {
	select {
	case <-g.Arrived():
		g.reached()
	default:
	}
	g.Gate.Release()
}

func (g *Gate) reached() {
	if g.Name == "" {
		return // nobody declared it
	}
	g.once.Do(func() { g.w.Recorder.Reach(g.Name, fmt.Sprintf("%d calls are held", g.Calls())) })
}

// holds says whether a call matches, as the stand-in decides it.
func holds(m Match, a standin.Ask) bool {
	return (m.Job == "" || m.Job == a.Job) &&
		(m.Attempt == "" || m.Attempt == a.Attempt) &&
		(m.Text == "" || strings.Contains(a.Prompt(), m.Text))
}
