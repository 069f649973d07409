// Package pgtest gives the tests of the service a real PostgreSQL: one private
// cluster per test binary, one fresh database per test.
//
// The cluster lives in a temporary folder, listens on a free loopback port, and
// is stopped and removed when the tests end. A cluster that a killed test run
// left behind is removed by the next run.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// toStart bounds how long a cluster may take to come up, and to go down.
const toStart = 30 * time.Second

// Main runs the tests of a package and then removes the cluster, if one was
// started. Use it in TestMain: os.Exit(pgtest.Main(m)).
func Main(m *testing.M) int {
	code := m.Run()
	if shared.cluster != nil {
		shared.cluster.stop()
	}
	return code
}

var shared struct {
	once    sync.Once
	cluster *cluster
	err     error
	number  int
	mu      sync.Mutex
}

// Database creates an empty database and returns its URL. It is dropped when
// the test ends. Without PostgreSQL binaries the test fails: the service has no
// meaning without its database.
func Database(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.cluster, shared.err = start() })
	if shared.err != nil {
		t.Fatalf("no PostgreSQL for the tests: %v", shared.err)
	}
	shared.mu.Lock()
	shared.number++
	name := fmt.Sprintf("t%d", shared.number)
	shared.mu.Unlock()
	if err := shared.cluster.exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.cluster.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return shared.cluster.url(name)
}

type cluster struct {
	folder string
	port   int
	server *exec.Cmd
	ended  chan struct{}
}

func (c *cluster) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

func (c *cluster) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), toStart)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// start makes a cluster that trusts loopback. fsync is off: no test of the
// service pulls the plug; the scenarios that do bring their own.
func start() (*cluster, error) {
	binaries, err := binaries()
	if err != nil {
		return nil, err
	}
	removeLeftovers()
	folder, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if as != nil {
		if err := os.Chown(folder, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(folder, "data")
	initdb := exec.Command(filepath.Join(binaries, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = as, folder
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	c := &cluster{folder: folder, port: freePort(), ended: make(chan struct{})}
	c.server = exec.Command(filepath.Join(binaries, "postgres"), "-D", data, "-p", strconv.Itoa(c.port), "-k", folder,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200", "-c", "log_min_messages=fatal")
	c.server.SysProcAttr, c.server.Dir = as, folder
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c.server.Stdout, c.server.Stderr = log, log
	if err := c.server.Start(); err != nil {
		return nil, err
	}
	go func() { _ = c.server.Wait(); close(c.ended) }()
	for begun := time.Now(); ; {
		if err = c.exec("SELECT 1"); err == nil {
			return c, nil
		}
		select {
		case <-c.ended:
			return nil, errors.New("postgres ended at once: see " + log.Name())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Since(begun) > toStart {
			c.stop()
			return nil, err
		}
	}
}

func (c *cluster) stop() {
	_ = c.server.Process.Signal(syscall.SIGINT) // fast shutdown
	select {
	case <-c.ended:
	case <-time.After(toStart):
		_ = c.server.Process.Kill()
	}
	_ = os.RemoveAll(c.folder)
}

const prefix = "interlock-pgtest-"

// removeLeftovers stops and removes clusters whose test process is gone.
func removeLeftovers() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, folder := range folders {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), prefix), "-")
		pid, err := strconv.Atoi(owner)
		if err != nil || syscall.Kill(pid, 0) == nil {
			continue
		}
		if file, err := os.ReadFile(filepath.Join(folder, "data", "postmaster.pid")); err == nil {
			first, _, _ := strings.Cut(string(file), "\n")
			if server, err := strconv.Atoi(first); err == nil {
				_ = syscall.Kill(server, syscall.SIGQUIT)
			}
		}
		_ = os.RemoveAll(folder)
	}
}

// binaries finds the folder of initdb and postgres: the newest under the usual
// places, else that of the PATH.
func binaries() (string, error) {
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/opt/homebrew/opt/postgresql@*/bin/initdb", "/usr/local/opt/postgresql@*/bin/initdb"} {
		matches, _ := filepath.Glob(pattern)
		found = append(found, matches...)
	}
	sort.Strings(found)
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("initdb is neither in the usual folders nor in the PATH: install PostgreSQL 15 or newer")
	}
	return filepath.Dir(path), nil
}

// unprivileged returns the user to run the server as: nil for ourselves, the
// user postgres or nobody when we are root, since initdb refuses root.
func unprivileged() (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("running as root, and there is no user postgres or nobody to run initdb as")
}

func freePort() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
