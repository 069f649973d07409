package service

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/service/internal/failover"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/metrics"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
	"github.com/interlock-harness/interlock/service/internal/tracing"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

// toPrepare bounds what is done with the database before the first request.
const toPrepare = 30 * time.Second

// process is one running service.
type process struct {
	config   *config
	log      *slog.Logger
	deployed *deployed
	gate     *gate
	policy   *failover.Policy
	mutant   mutant.Active
	store    *postgres.Store
	metrics  *metrics.Metrics
	keys     *keyList         // nil without --keys
	tracing  *tracing.Tracing // nil without a collector
	unsafe   error            // what --allow-unsafe-database allowed
}

// serve is the command of that name. It refuses at start what it cannot run
// with, says on stdout that it listens, and drains when ctx ends.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := readConfig("serve", args, stdout, os.LookupEnv)
	if err != nil {
		return err
	}
	p := &process{config: c, log: newLog(stderr, c.LogLevel)}
	if c.Keys != "" {
		if p.keys, err = readKeyList(c.Keys); err != nil {
			return err
		}
	}
	if p.deployed, err = readDeployed(c); err != nil {
		return err
	}
	if p.mutant, err = mutant.Choose(c.Mutant); err != nil {
		return usage("%v", err)
	}
	p.deployed.mutant = p.mutant
	traces, err := collector(c, os.LookupEnv)
	if err != nil {
		return err
	}
	ln, err := listen(c)
	if err != nil {
		return err
	}
	defer ln.Close()
	if err := p.startTracing(ctx, traces); err != nil {
		return err
	}
	storeOptions := postgres.Options{ApplicationName: "interlock", PoolSize: c.PoolSize, Mutant: p.mutant, Log: p.log}
	if p.tracing != nil {
		defer p.tracing.Stop()
		storeOptions.Spans = p.tracing.Statements
	}
	p.gate = newGate(c, p.deployed, p.log)
	p.policy = failover.New(p.gate, failover.Options{MaxAttempts: c.MaxAttempts, Mutant: p.mutant})
	storeOptions.Failover = p.policy
	p.store, err = openStore(ctx, c, storeOptions)
	if err != nil {
		return err
	}
	defer p.store.Close()
	if err := p.prepare(ctx); err != nil {
		return err
	}
	p.metrics = metrics.New(p.store, p.gate.expiries)
	p.gate.count, p.gate.tell = p.metrics.GateDecision, p.store.TellSuspected
	return p.run(ctx, ln, stdout)
}

// listen takes the port first: a port in use is said before anything happens to
// the database.
func listen(c *config) (net.Listener, error) {
	ln, err := net.Listen("tcp", c.Listen)
	var address *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: another process listens there; choose a port with --listen", c.Listen)
	case errors.As(err, &address):
		return nil, usage("--listen takes HOST:PORT, not %q", c.Listen)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %s", c.Listen, oneLine(err.Error()))
	}
	if c.TLSCert == "" {
		return ln, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		_ = ln.Close()
		return nil, usage("--tls-cert and --tls-key cannot be used: %s", oneLine(err.Error()))
	}
	return tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

// prepare brings the database to where requests can be answered, or says why it
// cannot be used.
func (p *process) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, toPrepare)
	defer cancel()
	if p.config.Migrate {
		if err := p.store.Migrate(ctx); err != nil {
			return unreachable(p.config, err)
		}
	}
	// What else is wrong, such as a right that lacks, is said better below.
	if err := p.store.CheckSchema(ctx); errors.Is(err, postgres.ErrForeignTables) || errors.Is(err, postgres.ErrNewerSchema) {
		return unreachable(p.config, err)
	}
	err := p.store.CheckRights(ctx)
	if lacks, ok := errors.AsType[*postgres.RightsError](err); ok {
		return lacks
	}
	if err == nil {
		err = p.store.Ready(ctx)
	}
	if err != nil {
		return unreachable(p.config, err)
	}
	err = p.store.CheckSafety(ctx)
	if found, ok := errors.AsType[*postgres.UnsafeError](err); ok {
		if !p.config.AllowUnsafe {
			return fmt.Errorf("%w; --allow-unsafe-database runs all the same", found)
		}
		p.unsafe = found
		p.log.Warn("the database is not safe", "findings", found.Findings)
	} else if err != nil {
		return unreachable(p.config, err)
	}
	if p.keys == nil { // this process goes by the list of others
		return nil
	}
	return p.keys.apply(ctx, p.store, p.log)
}

// run serves until ctx ends or serving fails, then drains: the HTTP side and the
// worker at the same time, both within the grace.
func (p *process) run(ctx context.Context, ln net.Listener, stdout io.Writer) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var parts sync.WaitGroup
	parts.Go(func() { worker.Reap(running, p.store, p.config.Reap, p.log) })
	parts.Go(func() { p.watchUnknown(running) })
	if p.keys != nil {
		parts.Go(func() { p.watchKeys(running) })
	}
	if p.config.PurgeAfter > 0 {
		parts.Go(func() { p.purge(running) })
	}
	if p.config.has("worker") {
		w := p.worker()
		parts.Go(func() { p.store.Listen(running) })
		parts.Go(func() { w.Run(running) })
		parts.Go(func() { p.reconciler().Run(running) })
		if p.config.CanaryEvery > 0 {
			c := &canary{gate: p.gate, every: p.config.CanaryEvery, limit: p.config.Deadline, submit: p.store.Submit, sent: map[string]int64{}}
			parts.Go(func() { c.run(running) })
		}
	}
	line, err := json.Marshal(listening{Listening: ln.Addr().String(), Roles: p.config.Roles})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "%s\n", line); err != nil {
		return fmt.Errorf("standard output cannot be written: %w", err)
	}
	p.log.Info("listening", "address", ln.Addr().String(), "roles", p.config.Roles)
	err = p.api().Serve(running, ln, p.config.Grace)
	stop()
	parts.Wait()
	if err != nil {
		return err
	}
	p.log.Info("drained")
	return nil
}

// watchKeys follows the file of --keys; SIGHUP has it read at once.
func (p *process) watchKeys(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	tick := time.NewTicker(keysEvery)
	defer tick.Stop()
	p.keys.watch(ctx, hangup, tick.C, p.store, p.log)
}

// listening is the one line on standard output, for whoever started us.
type listening struct {
	Listening string   `json:"listening"`
	Roles     []string `json:"roles"`
}

func (p *process) api() *httpapi.Server {
	limits := httpapi.DefaultLimits()
	limits.Rate, limits.Burst = p.config.Rate, int(2*p.config.Rate)
	limits.Deadline, limits.BodyTime = p.config.HardLimit, p.config.BodyTime
	config := httpapi.Config{
		Store: p.store, Contracts: p.deployed, Providers: p.deployed, Gate: p.gate,
		Metrics: p.metrics, Scrape: p.metrics.Handler(), Ready: p.ready,
		Limits: limits, Deadline: p.config.Deadline, Log: p.log, Mutant: p.mutant,
		HealthOnly: !p.config.has("api"),
	}
	if p.tracing != nil { // else the interface would hold a nil
		config.Tracer = p.tracing
	}
	return httpapi.New(config)
}

func (p *process) worker() *worker.Worker {
	o := worker.Options{
		Concurrency: p.config.Concurrency, Lease: p.config.Lease, Heartbeat: p.config.Heartbeat,
		Poll: p.config.Poll, HardLimit: p.config.HardLimit, Grace: p.config.Grace, FirstAsk: p.config.Ask,
		Metrics: p.metrics, Log: p.log, Mutant: p.mutant,
	}
	if p.tracing != nil {
		o.Tracer = p.tracing
	}
	return worker.New(p.store, p.deployed, watched{p.deployed, p.gate}, p.policy, o)
}

// Providers are asked about an attempt with pauses that double up to the longest;
// with the default of --ask the last question comes after about nine hours.
const (
	longestAsk = 10 * time.Minute
	mostAsks   = 60
)

func (p *process) reconciler() *worker.Reconciler {
	return &worker.Reconciler{
		Store: p.store, Asker: p.deployed, Judge: watched{p.deployed, p.gate}, Log: p.log, Every: min(p.config.Ask, time.Second),
		Plan: job.AskPlan{First: p.config.Ask, Longest: max(longestAsk, p.config.Ask), Most: mostAsks},
	}
}

// ready is what /readyz tells.
func (p *process) ready(ctx context.Context) []httpapi.Check {
	database := httpapi.Check{Name: "database", OK: true}
	if err := p.store.Ready(ctx); err != nil {
		database.OK, database.Detail = false, "it does not answer, or its schema is older than this program"
	}
	safety := httpapi.Check{Name: "safety", OK: true}
	if p.unsafe != nil {
		safety.Detail = p.unsafe.Error()
	}
	return []httpapi.Check{database, safety}
}
