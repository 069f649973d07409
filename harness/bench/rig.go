package bench

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/harness/stage/process"
	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

// Bounds of what waits beside the measuring.
const (
	toStart  = 30 * time.Second
	toStop   = 15 * time.Second
	toSettle = 2 * time.Minute // work that was begun, until it is done
)

const ownerKey = "ilk_bench"

// rig is what a run measures on: a database server, the provider, and a folder
// with the configuration of the service.
type rig struct {
	o        Options
	dir      string
	database *pgserver.Server
	bin      string // folder of pgbench
	provider *provider
	conn     *pgx.Conn // the database of the service, beside it
	url      string
	name     string // of the database of the service

	rivals map[string]string // databases of pgbench, by what they are for
}

func newRig(ctx context.Context, o Options) (r *rig, err error) {
	r = &rig{o: o, rivals: map[string]string{}}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.bin, err = pgserver.Find(ctx); err != nil {
		return r, err
	}
	if _, err = os.Stat(filepath.Join(r.bin, "pgbench")); err != nil {
		return r, fmt.Errorf("no pgbench beside the programs of PostgreSQL in %s: install the package that holds it (Debian: postgresql)", r.bin)
	}
	if r.dir, err = scratch.New("", "bench"); err != nil {
		return r, err
	}
	r.database, err = pgserver.Start(ctx, pgserver.Options{Durable: true, Settings: map[string]string{
		"max_connections": "200", "max_wal_size": "4GB", "shared_buffers": "256MB"}})
	if err != nil {
		return r, err
	}
	if r.provider, err = startProvider(); err != nil {
		return r, err
	}
	if err = r.configure(); err != nil {
		return r, err
	}
	if r.name, err = r.migrated(ctx); err != nil {
		return r, err
	}
	r.url = r.database.URL(r.name)
	r.conn, err = pgx.Connect(ctx, r.url)
	return r, err
}

func (r *rig) close() {
	if r.conn != nil {
		_ = r.conn.Close(context.Background())
	}
	if r.provider != nil {
		r.provider.close()
	}
	if r.database != nil {
		_ = r.database.Close()
	}
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}

// beside is the rig over a database of its own, on the same server.
func (r *rig) beside(ctx context.Context) (*rig, error) {
	side := *r
	var err error
	if side.name, err = r.migrated(ctx); err != nil {
		return nil, err
	}
	side.url = r.database.URL(side.name)
	side.conn, err = pgx.Connect(ctx, side.url)
	return &side, err
}

// leave ends what beside began; the database goes with the server.
func (r *rig) leave() { _ = r.conn.Close(context.Background()) }

// configure writes the key and a profile for each provider.
func (r *rig) configure() error {
	profiles := filepath.Join(r.dir, "profiles")
	if err := os.Mkdir(profiles, 0o700); err != nil {
		return err
	}
	for _, name := range []string{atOnce, paired, held} {
		text := "name: " + name + "\nprotocol: openai-chat\nbase_url: " + r.provider.url(name) + "\nmodel: bench\nallow_loopback: true\n"
		if err := os.WriteFile(filepath.Join(profiles, name+".yaml"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.dir, "keys"), fmt.Appendf(nil, "bench owner %x\n", sha256.Sum256([]byte(ownerKey))), 0o600)
}

// migrated makes a database with the schema of the service.
func (r *rig) migrated(ctx context.Context) (name string, err error) {
	if name, err = r.database.Create(ctx, ""); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, toStart)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.o.Command[0], append(r.o.Command[1:], "migrate")...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+r.database.URL(name))
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("migrate: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return name, nil
}

// service is one process of the service.
type service struct {
	addr    string
	process *process.Process
	said    *tail
}

// serve starts the service; stop ends it.
func (r *rig) serve(ctx context.Context, args ...string) (*service, error) {
	ctx, cancel := context.WithTimeout(ctx, toStart)
	defer cancel()
	flags := append([]string{"serve", "--listen", "127.0.0.1:0", "--keys", filepath.Join(r.dir, "keys"), "--profiles", filepath.Join(r.dir, "profiles"),
		"--owner-rate", "0", "--poll", "20ms", "--log-level", "warn"}, args...)
	cmd := exec.Command(r.o.Command[0], append(r.o.Command[1:], flags...)...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+r.url)
	s := &service{said: &tail{}}
	cmd.Stderr = s.said
	out, in := io.Pipe()
	cmd.Stdout = in
	var err error
	if s.process, err = process.Start("service", cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(out).ReadString('\n')
		line <- text
		_, _ = io.Copy(io.Discard, out)
	}()
	var said struct{ Listening string }
	select {
	case text := <-line:
		if err := json.Unmarshal([]byte(text), &said); err == nil {
			s.addr = said.Listening
			return s, nil
		}
	case <-s.process.Done():
		err = errors.New(s.process.Exit())
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.stop()
	return nil, fmt.Errorf("the service does not start: %v: %s", err, s.said)
}

// answering starts a process that takes requests and does no work.
func (r *rig) answering(ctx context.Context) (*service, error) {
	return r.serve(ctx, "--role", "api", "--pool-size", "32")
}

// working starts a process that also works, with room for the clients, over an
// empty queue.
func (r *rig) working(ctx context.Context) (*service, error) {
	if err := r.forget(ctx); err != nil {
		return nil, err
	}
	return r.serve(ctx, "--role", "api,worker", "--pool-size", "48", "--concurrency", strconv.Itoa(2*r.o.Clients))
}

// forget takes attempts that nobody works on out of the queue: other measures
// leave them.
func (r *rig) forget(ctx context.Context) error {
	_, err := r.conn.Exec(ctx, `UPDATE attempts SET state = 'cancelled', reason = 'bench', ended_at = now() WHERE state = 'starting'`)
	return err
}

func (s *service) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	s.process.End(ctx, syscall.SIGTERM)
}

// tail keeps the last of what a process says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 4096 {
		t.text = t.text[len(t.text)-2048:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}

// number reads one number from the database of the service.
func (r *rig) number(ctx context.Context, query string, args ...any) (n float64, err error) {
	err = r.conn.QueryRow(ctx, query, args...).Scan(&n)
	return n, err
}

// until waits until a query counts as much as is wanted.
func (r *rig) until(ctx context.Context, what string, want float64, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, toSettle)
	defer cancel()
	seen := 0.0
	return every(ctx, 20*time.Millisecond, func() (bool, error) {
		n, err := r.number(ctx, query, args...)
		if err == nil {
			seen = n
		}
		return err == nil && n >= want, nil // an error passes, or the bound ends it
	}, func() string { return fmt.Sprintf("%s: %.0f of %.0f", what, seen, want) })
}

// every looks at something that will come until it is there, look fails or ctx
// ends, which state says then how far it had come.
func every(ctx context.Context, pause time.Duration, look func() (there bool, err error), state func() string) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		if there, err := look(); there || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", state(), context.Cause(ctx))
		case <-tick.C:
		}
	}
}
