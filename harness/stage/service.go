package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// Service is one running target with its own database: API replicas behind a
// balancer, and workers.
type Service struct {
	Name     string
	Options  ServiceOptions
	Balancer *edge.Balancer
	// Postgres is the relay between the service and its database, nil with
	// Options.Direct.
	Postgres *edge.Postgres

	stage    *Stage
	pg       *pgserver.Server // the stage's, or its own
	foreign  *Foreign         // nil for one that the stage started
	database string
	profiles string // folder of its own, "" for the stage's
	env      []string

	mu       sync.Mutex
	replicas []*Process
	workers  []*Process
	logs     []*logFile
}

// startService makes a database and starts a service on it.
func (s *Stage) startService(ctx context.Context, name string, o ServiceOptions) (_ *Service, err error) {
	o = o.filled()
	v := &Service{Name: name, Options: o, stage: s, pg: s.pg}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("service %s: %w", name, err), v.Close())
		}
	}()
	if o.OwnServer {
		if v.pg, err = pgserver.Start(ctx, pgserver.Options{Cache: s.o.PGCache}); err != nil {
			return nil, err
		}
		v.database, err = s.migrated(ctx, v.pg, o.Mutant, o.Clock)
	} else {
		v.database, err = s.newDatabase(ctx, o.Mutant, o.Clock)
	}
	if err != nil {
		return nil, err
	}
	address := v.pg.URL(v.database)
	if !o.Direct {
		if v.Postgres, err = edge.NewPostgres(v.pg.Addr()); err != nil {
			return nil, err
		}
		if address, err = through(address, v.Postgres.Addr()); err != nil {
			return nil, err
		}
	}
	if v.profiles, err = s.config.reroute(o.routes); err != nil {
		return nil, err
	}
	v.env = s.environment(address, o.Env)
	if v.Balancer, err = edge.NewBalancer(); err != nil {
		return nil, err
	}
	for i := range o.Replicas {
		v.replicas = append(v.replicas, v.process(fmt.Sprintf("api-%d", i+1), "api"))
	}
	for i := range max(0, o.Workers) {
		v.workers = append(v.workers, v.process(fmt.Sprintf("worker-%d", i+1), "worker"))
	}
	if err := startAll(ctx, append(append([]*Process(nil), v.replicas...), v.workers...)); err != nil {
		return nil, err
	}
	v.balance()
	return v, nil
}

func startAll(ctx context.Context, all []*Process) error {
	failed := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() { failed[i] = p.Start(ctx) })
	}
	wg.Wait()
	return errors.Join(failed...)
}

func (v *Service) process(name, role string) *Process {
	o := v.Options
	args := append([]string(nil), v.stage.command...)
	args = append(args, "serve", "--role", role,
		"--deadline", o.Deadline.String(), "--hard-limit", o.HardLimit.String(),
		"--lease", o.Lease.String(), "--heartbeat", o.Heartbeat.String(),
		"--poll", o.Poll.String(), "--reap", o.Reap.String(), "--shutdown-grace", o.Grace.String(),
		"--max-attempts", strconv.Itoa(o.MaxAttempts), "--concurrency", strconv.Itoa(o.Concurrency))
	if !v.stage.o.Durable {
		args = append(args, "--allow-unsafe-database")
	}
	args = append(args, v.stage.config.flags()...)
	if v.profiles != "" {
		args = append(args, "--profiles", v.profiles) // the last one counts
	}
	if o.Mutant != "" {
		args = append(args, "--mutant", o.Mutant)
	}
	args = append(args, o.Args...)
	log := &logFile{}
	if v.stage.o.Out != "" {
		log.path = filepath.Join(v.stage.o.Out, "logs", v.Name+"-"+name+".log")
	}
	v.logs = append(v.logs, log)
	return &Process{Name: name, Role: role, command: args, env: v.env, log: log}
}

// balance tells the balancer which replicas there are.
func (v *Service) balance() {
	v.mu.Lock()
	defer v.mu.Unlock()
	backends := make([]edge.Backend, len(v.replicas))
	for i, p := range v.replicas {
		backends[i] = edge.Backend{Name: p.Name, URL: p.URL()}
	}
	v.Balancer.Set(backends...)
}

// Replica returns API replica i, counted from 1.
// A foreign target with fewer replicas repeats them.
func (v *Service) Replica(i int) *Process { return v.replicas[(i-1)%len(v.replicas)] }

// Worker returns worker i, counted from 1.
func (v *Service) Worker(i int) *Process {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.workers[i-1]
}

// AddWorker starts one more worker, with further flags, which come last and
// therefore win.
func (v *Service) AddWorker(ctx context.Context, args ...string) (*Process, error) {
	v.mu.Lock()
	p := v.process(fmt.Sprintf("worker-%d", len(v.workers)+1), "worker")
	p.command = append(p.command, args...)
	v.workers = append(v.workers, p)
	v.mu.Unlock()
	return p, p.Start(ctx)
}

// Processes are all processes of the service.
func (v *Service) Processes() []*Process {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append(append([]*Process(nil), v.replicas...), v.workers...)
}

// PGURL is the connection string of the service's database, past the relay.
// It holds a password.
func (v *Service) PGURL() string {
	if v.foreign != nil {
		return v.foreign.PGURL
	}
	return v.pg.URL(v.database)
}

// Heal brings everything back: dead processes are started again, paused ones
// go on.
func (v *Service) Heal(ctx context.Context) error {
	if t := v.stage.target; v.foreign != nil && t != nil && !t.Running() {
		return t.Start(ctx)
	}
	if v.foreign != nil {
		return nil
	}
	var dead []*Process
	for _, p := range v.Processes() {
		if !p.Running() {
			dead = append(dead, p)
			continue
		}
		if err := p.Continue(); err != nil {
			return err
		}
	}
	return startAll(ctx, dead)
}

// Close ends the service and drops its database.
func (v *Service) Close() error {
	var failed error
	if v.Balancer != nil {
		failed = errors.Join(failed, v.Balancer.Close())
	}
	var wg sync.WaitGroup
	for _, p := range v.Processes() {
		wg.Go(p.remove)
	}
	wg.Wait()
	for _, l := range v.logs {
		l.close()
	}
	if v.Postgres != nil {
		failed = errors.Join(failed, v.Postgres.Close())
	}
	v.stage.forget(v)
	if v.profiles != "" {
		failed = errors.Join(failed, os.RemoveAll(v.profiles))
	}
	if v.foreign != nil {
		return failed
	}
	if v.Options.OwnServer {
		if v.pg != nil {
			failed = errors.Join(failed, v.pg.Close())
		}
		return failed
	}
	if v.database == "" || v.stage.closing() && (v.stage.o.Keep || v.pg.Private()) {
		return failed // the whole cluster goes, or all of it stays
	}
	ctx, cancel := context.WithTimeout(context.Background(), toClose)
	defer cancel()
	return errors.Join(failed, v.pg.Drop(ctx, v.database))
}

// newDatabase makes a migrated database that allows mutants. From the second
// on they are copies of a template.
func (s *Stage) newDatabase(ctx context.Context, mutant string, clock bool) (string, error) {
	s.templates.Lock()
	defer s.templates.Unlock()
	if mutant != "" || clock { // not as others are
		return s.migrated(ctx, s.pg, mutant, clock)
	}
	if !s.first { // most runs need no second
		s.first = true
		return s.migrated(ctx, s.pg, "", false)
	}
	if s.template == "" {
		name, err := s.migrated(ctx, s.pg, "", false)
		if err != nil {
			return "", err
		}
		s.template = name
	}
	return s.pg.Create(ctx, s.template)
}

func (s *Stage) migrated(ctx context.Context, pg *pgserver.Server, mutant string, clock bool) (string, error) {
	name, err := pg.Create(ctx, "")
	if err != nil {
		return "", err
	}
	more := ""
	if clock {
		more = fault.ClockSchema
	}
	if err := s.mark(ctx, pg.URL(name), more); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, toStart)
	defer cancel()
	args := append(append([]string(nil), s.command[1:]...), "migrate")
	if mutant != "" {
		args = append(args, "--mutant", mutant)
	}
	cmd := exec.CommandContext(ctx, s.command[0], args...)
	cmd.Env = s.environment(pg.URL(name), nil)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t := &tail{buf: said.Bytes()}
		return "", fmt.Errorf("migrate: %w%s", err, t.quote())
	}
	return name, nil
}

// mark writes the row by which a service knows a throw-away database, the
// only kind on which it accepts a mutant, and runs more.
func (s *Stage) mark(ctx context.Context, url, more string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, `
		CREATE TABLE interlock_stage (marker text PRIMARY KEY);
		INSERT INTO interlock_stage VALUES ('throw-away');
		GRANT SELECT ON interlock_stage TO PUBLIC;`+more)
	if err != nil {
		return fmt.Errorf("mark the database as throw-away: %w", err)
	}
	return nil
}

// environment is what a child gets: ours, without what would lead it to
// another database or another configuration.
func (s *Stage) environment(address string, more []string) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "INTERLOCK_") || strings.HasPrefix(name, "PG") || name == "DATABASE_URL" {
			continue
		}
		env = append(env, v)
	}
	env = append(append(env, "DATABASE_URL="+address), s.config.env...)
	return append(env, more...)
}

// through replaces host and port of a connection string. The relay speaks
// plain TCP.
func through(address, relay string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the PostgreSQL URL cannot be read")
	}
	u.Host = relay
	q := u.Query()
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	return u.String(), nil
}
