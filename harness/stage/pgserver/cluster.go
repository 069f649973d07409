package pgserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/loopback"
	"github.com/interlock-harness/interlock/harness/stage/process"
	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

// Names inside the folder of a cluster. They are short: the path of a Unix
// socket must fit in 104 bytes.
const (
	dataFolder   = "data"
	socketFolder = "s"
	logFile      = "postgres.log"
)

// cluster is a private server: its folder, its process and how to reach it.
type cluster struct {
	dir      string // holds all of it
	owned    bool   // dir was made by us and goes with us
	bin      string
	as       *account
	settings []string
	password string
	standby  bool // it follows another cluster until it is promoted

	mu      sync.Mutex
	spare   string // an empty database that nobody has yet
	version string
	port    int
	proc    *process.Process
}

func startCluster(ctx context.Context, o Options) (*cluster, error) {
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	bin := o.Bin
	if bin == "" {
		if bin, err = Find(ctx); err != nil {
			if bin, err = fetch(ctx, programsFolder(), ""); err != nil {
				return nil, err
			}
		}
	}
	if !complete(bin) {
		return nil, fmt.Errorf("%s: %w", bin, ErrNoBinaries)
	}
	c := &cluster{dir: o.Dir, bin: bin, as: as, password: rand.Text(), settings: settings(o)}
	if c.dir == "" {
		if c.dir, err = scratch.New("", "PostgreSQL"); err != nil {
			return nil, err
		}
		c.owned = true
	}
	if as != nil {
		o.Note("PostgreSQL runs as user " + as.name + ", because it refuses to run as root")
	}
	kept, err := c.prepare(ctx, o.Cache)
	if err == nil {
		err = c.run(ctx)
	}
	if err != nil && kept != "" && ctx.Err() == nil { // a copy of something broken?
		if err = c.restart(ctx, kept, o.Cache); err == nil {
			o.Note("the kept cluster " + kept + " was broken and has been made anew")
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("private PostgreSQL: %w", err), c.remove())
	}
	return c, nil
}

// settings are given on the command line of the server. fsync is off unless
// asked for: the folder is thrown away, and kill -9 loses nothing without it.
func settings(o Options) []string {
	all := map[string]string{
		"listen_addresses":           "127.0.0.1",
		"max_connections":            "300",
		"shared_buffers":             "64MB",
		"dynamic_shared_memory_type": "mmap", // in our folder: nothing stays in /dev/shm
		"autovacuum_naptime":         "30s",
		"jit":                        "off", // a compiler for each worthless plan
		"deadlock_timeout":           "100ms",
		"log_min_messages":           "warning",
		"logging_collector":          "off",
		"timezone":                   "UTC",
		"max_wal_size":               "512MB",
		"lc_messages":                "C",
	}
	if !o.Durable {
		all["fsync"] = "off"
		all["full_page_writes"] = "off"
	}
	for name, value := range o.Settings {
		all[name] = value
	}
	var args []string
	for name, value := range all {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

// restart begins anew after a server would not start from the kept cluster, with
// a fresh one.
func (c *cluster) restart(ctx context.Context, kept, cache string) error {
	err := errors.Join(discard(kept), os.RemoveAll(filepath.Join(c.dir, "pg")))
	if err == nil {
		_, err = c.prepare(ctx, cache)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.port = 0 // nobody knows it: this is the first start
	c.mu.Unlock()
	return c.run(ctx)
}

// prepare makes the folders and the files of the cluster, and returns the kept
// cluster that it copied, if any.
func (c *cluster) prepare(ctx context.Context, cache string) (kept string, err error) {
	// initdb, run as another user, makes data itself; it needs the folder
	// above to be its own.
	home := filepath.Join(c.dir, "pg")
	socket := filepath.Join(home, socketFolder)
	if err := os.Mkdir(home, 0o700); err != nil {
		return "", fmt.Errorf("make the cluster's folder: %w", err)
	}
	if err := os.Mkdir(socket, 0o700); err != nil {
		return "", fmt.Errorf("make the socket's folder: %w", err)
	}
	if err := c.as.own(home); err != nil {
		return "", err
	}
	return initialise(ctx, c.bin, filepath.Join(home, dataFolder), cache, c.as)
}

// run starts the server and returns when it accepts connections. The port of
// the first start is kept, so that clients find the server again.
func (c *cluster) run(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc != nil && c.proc.Running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, toStart)
	defer cancel()
	first := c.port == 0
	for try := 0; ; try++ {
		if first {
			port, err := loopback.Port()
			if err != nil {
				return err
			}
			c.port = port
		}
		err := c.start(ctx, first)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) || !first || try == 5 {
			return err
		}
	}
}

func (c *cluster) start(ctx context.Context, first bool) error {
	log, err := os.OpenFile(c.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	said, _ := log.Seek(0, 2)

	home := filepath.Join(c.dir, "pg")
	args := append([]string{"-D", filepath.Join(home, dataFolder), "-p", strconv.Itoa(c.port), "-k", filepath.Join(home, socketFolder)}, c.settings...)
	cmd := exec.Command(filepath.Join(c.bin, "postgres"), args...)
	cmd.Dir = home
	cmd.SysProcAttr = c.as.attr()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if c.proc, err = process.Start("postgres", cmd, syscall.SIGQUIT); err != nil {
		return err
	}
	if err = c.ready(ctx); err == nil && first && !c.standby {
		err = c.found(ctx)
	}
	if err == nil {
		return nil
	}
	c.end(syscall.SIGQUIT)
	text := c.since(said)
	if strings.Contains(text, "Address already in use") {
		return fmt.Errorf("port %d: %w", c.port, syscall.EADDRINUSE)
	}
	return fmt.Errorf("start: %w: %s", err, lastLine(text))
}

// ready waits until the server says in its lock file that it accepts
// connections. Trying to connect would cost it a process each time.
func (c *cluster) ready(ctx context.Context) error {
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(filepath.Join(c.dir, "pg", dataFolder, "postmaster.pid"))
		lines := strings.Split(string(text), "\n")
		if err == nil && len(lines) > 7 && lines[0] == strconv.Itoa(c.proc.PID()) {
			if state := strings.TrimSpace(lines[7]); state == "ready" || state == "standby" && c.standby {
				return nil
			}
		}
		select {
		case <-c.proc.Done():
			return fmt.Errorf("postgres ended: %s", c.proc.Exit())
		case <-ctx.Done():
			return fmt.Errorf("postgres is not ready: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// found does what is done once in the life of a cluster: it sets the password
// (through the socket none is asked), reads the version, and makes the pristine
// template0, which nobody needs here, the first database that is handed out:
// creating one takes longer than starting the server.
func (c *cluster) found(ctx context.Context) (err error) {
	conn, err := pgx.Connect(ctx, c.socketURL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	c.spare = databaseName()
	for _, statement := range []string{
		"ALTER ROLE postgres PASSWORD '" + c.password + "'",
		"ALTER DATABASE template0 IS_TEMPLATE false ALLOW_CONNECTIONS true",
		"ALTER DATABASE template0 RENAME TO " + c.spare,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return conn.QueryRow(ctx, "SHOW server_version").Scan(&c.version)
}

// crash ends the server the way PostgreSQL calls immediate.
func (c *cluster) crash(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc == nil || !c.proc.Running() {
		return errors.New("crash: the server does not run")
	}
	if err := c.proc.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	return c.proc.Wait(ctx)
}

func (c *cluster) end(sig syscall.Signal) {
	if c.proc == nil {
		return
	}
	grace, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	c.proc.End(grace, sig)
}

// remove stops the server and deletes its files.
func (c *cluster) remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(syscall.SIGQUIT) // nothing is worth a checkpoint: the folder goes
	if c.owned {
		return os.RemoveAll(c.dir)
	}
	return os.RemoveAll(filepath.Join(c.dir, "pg"))
}

// leave stops the server with a checkpoint (SIGINT: fast) and keeps its files.
func (c *cluster) leave() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc == nil || !c.proc.Running() {
		return nil
	}
	if err := c.proc.Signal(syscall.SIGINT); err != nil {
		return err
	}
	grace, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	return c.proc.Wait(grace)
}

func (c *cluster) url(database string) url.URL {
	return url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", c.password),
		Host: "127.0.0.1:" + strconv.Itoa(c.port), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
}

func (c *cluster) local(database string) string {
	query := url.Values{
		"host": {filepath.Join(c.dir, "pg", socketFolder)}, "port": {strconv.Itoa(c.port)},
		"user": {"postgres"}, "sslmode": {"disable"},
	}
	return "postgres:///" + database + "?" + query.Encode()
}

func (c *cluster) socketURL() string {
	return fmt.Sprintf("host=%s port=%d user=postgres database=postgres", filepath.Join(c.dir, "pg", socketFolder), c.port)
}

func (c *cluster) log() string { return filepath.Join(c.dir, "pg", logFile) }

// since is what the server logged after byte n.
func (c *cluster) since(n int64) string {
	text, err := os.ReadFile(c.log())
	if err != nil || int64(len(text)) < n {
		return ""
	}
	return string(text[n:])
}

// programsFolder is where fetched programs are kept. Run as root it must be
// one that the server's user can enter.
func programsFolder() string {
	if os.Geteuid() != 0 {
		if dir, err := os.UserCacheDir(); err == nil {
			return filepath.Join(dir, "interlock", "postgres")
		}
	}
	return "/var/cache/interlock/postgres"
}
