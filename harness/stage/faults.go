package stage

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
)

// errNoRelay is a mistake in a scenario: a commit fault needs the relay.
var errNoRelay = errors.New("the service reaches PostgreSQL without the relay (ServiceOptions.Direct)")

// keep adds f to what Heal lifts.
func keep[F fault.Fault](w *World, f F, err error) (F, error) {
	if err == nil {
		w.Add(f)
	}
	return f, err
}

// toAPI is a wire between one client and the balancer.
func (w *World) toAPI() fault.Wire {
	return fault.Wire{
		Name: "client-balancer", Network: w.stage.Network, Recorder: w.Recorder, Edge: fault.ClientAPI,
		Upstream: w.Service.Balancer.Addr(),
	}
}

// ToReplica is a wire between one client and API replica i.
func (w *World) ToReplica(i int) fault.Wire {
	wire := w.toAPI()
	wire.Name, wire.Upstream = "client-"+w.Service.Replica(i).Name, w.Service.Replica(i).Addr()
	return wire
}

// ToProvider is the wire between the workers and a provider.
func (w *World) ToProvider(name string) fault.Wire {
	return fault.Wire{
		Name: "worker-" + name, Network: w.stage.Network, Recorder: w.Recorder, Edge: fault.WorkerProvider,
		Switch: w.Provider(name).Edge(),
	}
}

// The faults between one client and the balancer: connect the client to the
// fault with client.Through(f.URL()).

// LostResponse: the request gets through, its response is lost.
func (w *World) LostResponse(ctx context.Context) (*fault.OnWire, error) {
	f, err := fault.LostResponse(ctx, w.toAPI())
	return keep(w, f, err)
}

// LostRequest: the request is lost, its client sees the same.
func (w *World) LostRequest(ctx context.Context) (*fault.OnWire, error) {
	f, err := fault.LostRequest(ctx, w.toAPI())
	return keep(w, f, err)
}

// CutRequest: n bytes of the request get through.
func (w *World) CutRequest(ctx context.Context, n int64) (*fault.OnWire, error) {
	f, err := fault.CutRequest(ctx, w.toAPI(), n)
	return keep(w, f, err)
}

// CutResponse: n bytes of the response get through.
func (w *World) CutResponse(ctx context.Context, n int64) (*fault.OnWire, error) {
	f, err := fault.CutResponse(ctx, w.toAPI(), n)
	return keep(w, f, err)
}

// SlowRequest: the request drips.
func (w *World) SlowRequest(ctx context.Context, size int, pause time.Duration) (*fault.OnWire, error) {
	f, err := fault.SlowRequest(ctx, w.toAPI(), size, pause)
	return keep(w, f, err)
}

// StallResponse: the response is held until Release.
func (w *World) StallResponse(ctx context.Context) (*fault.Stalled, error) {
	f, err := fault.StallResponse(ctx, w.toAPI())
	return keep(w, f, err)
}

// StallRequest: the request is held until Release.
func (w *World) StallRequest(ctx context.Context) (*fault.Stalled, error) {
	f, err := fault.StallRequest(ctx, w.toAPI())
	return keep(w, f, err)
}

// ProviderLostResponse: the provider works and its answer is lost.
func (w *World) ProviderLostResponse(ctx context.Context, name string) (*fault.OnWire, error) {
	f, err := fault.LostResponse(ctx, w.ToProvider(name))
	return keep(w, f, err)
}

// ProviderReset: the connection to the provider is reset before it got
// anything.
func (w *World) ProviderReset(ctx context.Context, name string) (*fault.OnWire, error) {
	f, err := fault.ResetRequest(ctx, w.ToProvider(name))
	return keep(w, f, err)
}

// ProviderCut: n bytes of the provider's answer get through.
func (w *World) ProviderCut(ctx context.Context, name string, n int64) (*fault.OnWire, error) {
	f, err := fault.CutResponse(ctx, w.ToProvider(name), n)
	return keep(w, f, err)
}

// ProviderBlackHole: the provider is never reached and never answers.
func (w *World) ProviderBlackHole(ctx context.Context, name string) (*fault.OnWire, error) {
	f, err := fault.BlackHole(ctx, w.ToProvider(name))
	return keep(w, f, err)
}

// ProviderRefused: connections to the provider are refused. It counts
// as fired when the scenario has Seen an attempt that says so.
func (w *World) ProviderRefused(ctx context.Context, name string) (*fault.ConnectionRefused, error) {
	f, err := fault.Refuse(ctx, w.Recorder, fault.WorkerProvider, w.Provider(name).Edge())
	return keep(w, f, err)
}

// Victim picks the transaction that holds all these values: an idempotency
// key, a job's id, an owner.
func Victim(values ...string) edge.Victim { return edge.Victim{Values: values} }

// VictimOf is Victim for the transaction with a statement that contains sql.
func VictimOf(sql string, values ...string) edge.Victim {
	return edge.Victim{Statement: strings.TrimSpace(sql), Values: values}
}

// Relay stands between the target and its database (level L2).
func (w *World) Relay() (*edge.Postgres, error) { return w.relay() }

func (w *World) relay() (*edge.Postgres, error) {
	if w.stage.relay != nil {
		return w.stage.relay, nil
	}
	if w.Service.Postgres == nil {
		return nil, errNoRelay
	}
	return w.Service.Postgres, nil
}

// onCommit arms one of the commit faults.
func (w *World) onCommit(v edge.Victim, arm func(*edge.Postgres) (*fault.Transaction, error)) (*fault.Transaction, error) {
	relay, err := w.relay()
	if err != nil {
		return nil, err
	}
	f, err := arm(relay)
	return keep(w, f, err)
}

// AckLost: the victim's COMMIT is done, its answer is cut.
func (w *World) AckLost(v edge.Victim) (*fault.Transaction, error) {
	return w.onCommit(v, func(p *edge.Postgres) (*fault.Transaction, error) { return fault.AckLost(w.Recorder, p, v) })
}

// CommitLost: the victim's COMMIT never arrives.
func (w *World) CommitLost(v edge.Victim) (*fault.Transaction, error) {
	return w.onCommit(v, func(p *edge.Postgres) (*fault.Transaction, error) { return fault.CommitLost(w.Recorder, p, v) })
}

// HoldCommit: the victim's COMMIT waits until Release.
func (w *World) HoldCommit(v edge.Victim) (*fault.Transaction, error) {
	return w.onCommit(v, func(p *edge.Postgres) (*fault.Transaction, error) { return fault.HoldCommit(w.Recorder, p, v) })
}

// HoldAck: the victim's COMMIT is done, its answer waits until Release.
func (w *World) HoldAck(v edge.Victim) (*fault.Transaction, error) {
	return w.onCommit(v, func(p *edge.Postgres) (*fault.Transaction, error) { return fault.HoldAck(w.Recorder, p, v) })
}

// HoldStatement: the statement that completes the match waits until Release.
func (w *World) HoldStatement(v edge.Victim) (*fault.Transaction, error) {
	return w.onCommit(v, func(p *edge.Postgres) (*fault.Transaction, error) { return fault.HoldStatement(w.Recorder, p, v) })
}

// LockJob: who moves the job waits until Release.
func (w *World) LockJob(ctx context.Context, job string) (*fault.Lock, error) {
	f, err := fault.LockJob(ctx, w.Recorder, w.Service.PGURL(), job)
	return keep(w, f, err)
}

// LockAttempt: who moves the attempt waits until Release.
func (w *World) LockAttempt(ctx context.Context, attempt string) (*fault.Lock, error) {
	f, err := fault.LockAttempt(ctx, w.Recorder, w.Service.PGURL(), attempt)
	return keep(w, f, err)
}

// HoldKey: a submit of the owner under this key waits until Release.
func (w *World) HoldKey(ctx context.Context, owner, key string) (*fault.Lock, error) {
	f, err := fault.HoldKey(ctx, w.Recorder, w.Service.PGURL(), owner, key)
	return keep(w, f, err)
}

// Terminate ends a backend of PostgreSQL, for example the one of a Waiter.
func (w *World) Terminate(ctx context.Context, pid int) (*fault.Terminated, error) {
	return fault.Terminate(ctx, w.Recorder, w.Service.PGURL(), pid)
}

// Kill ends a process of the service at once. Use a world of its own service.
func (w *World) Kill(p *Process) (*fault.OnProcess, error) {
	f, err := fault.Kill(w.Recorder, p.Name, p.handle())
	return keep(w, f, err)
}

// Term asks a process of the service to end in order.
func (w *World) Term(p *Process) (*fault.OnProcess, error) {
	f, err := fault.Term(w.Recorder, p.Name, p.handle())
	return keep(w, f, err)
}

// Pause stops a process of the service where it stands.
func (w *World) Pause(ctx context.Context, p *Process) (*fault.OnProcess, error) {
	f, err := fault.Pause(ctx, w.Recorder, p.Name, p.handle())
	return keep(w, f, err)
}

// CrashPostgres stops the PostgreSQL server of a service that has its own
// (ServiceOptions.OwnServer) at once; Heal brings it back.
func (w *World) CrashPostgres(ctx context.Context) (*fault.Crashed, error) {
	f, err := fault.Crash(ctx, w.Recorder, w.Service.pg)
	return keep(w, f, err)
}

// ClientGone makes the context of a call that goes away at Leave.
func (w *World) ClientGone(ctx context.Context, name string) (context.Context, *fault.Gone) {
	ctx, f := fault.ClientGone(ctx, w.Recorder, name)
	w.Add(f)
	return ctx, f
}

// DyingConnection: the second answer on a kept connection is lost.
func (w *World) DyingConnection(ctx context.Context) (*fault.OnWire, error) {
	f, err := fault.DyingConnection(ctx, w.toAPI())
	return keep(w, f, err)
}

// LockTable: who needs the table in a mode that conflicts waits until Release.
func (w *World) LockTable(ctx context.Context, table, mode string) (*fault.Lock, error) {
	f, err := fault.LockTable(ctx, w.Recorder, w.Service.PGURL(), table, mode)
	return keep(w, f, err)
}

// Duplicate makes the balancer deliver the requests under an idempotency key
// twice, to two replicas.
func (w *World) Duplicate(key string, how edge.Delivery) *fault.Duplicated {
	f := fault.Duplicate(w.Recorder, w.Service.Balancer, key, how)
	w.Add(f)
	return f
}

// Deadlock makes a transaction of the service the victim of a deadlock.
func (w *World) Deadlock(ctx context.Context, job, attempt string) (*fault.Deadlocked, error) {
	f, err := fault.Deadlock(ctx, w.Recorder, w.Service.PGURL(), job, attempt)
	return keep(w, f, err)
}

// FailStatement makes PostgreSQL refuse statements on a table for a while.
func (w *World) FailStatement(ctx context.Context, event, table, condition, sqlstate string, times int) (*fault.Failing, error) {
	f, err := fault.FailStatement(ctx, w.Recorder, w.Service.PGURL(), event, table, condition, sqlstate, times)
	return keep(w, f, err)
}

// StallPostgres holds all that the service sends to PostgreSQL.
func (w *World) StallPostgres() (*fault.StalledPostgres, error) {
	relay, err := w.relay()
	if err != nil {
		return nil, err
	}
	return keep(w, fault.StallPostgres(w.Recorder, relay), nil)
}

// ProviderStalled holds what the workers send to the provider until Release.
func (w *World) ProviderStalled(ctx context.Context, name string) (*fault.Stalled, error) {
	f, err := fault.StallRequest(ctx, w.ToProvider(name))
	return keep(w, f, err)
}

// GrowSchema gives the tables columns of a version that does not run yet.
func (w *World) GrowSchema(ctx context.Context) error {
	f, err := fault.GrowSchema(ctx, w.Recorder, w.Service.PGURL())
	_, err = keep(w, f, err)
	return err
}
