package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

// standbyName is how a standby calls itself to its primary.
const standbyName = "interlock_standby"

// Standby starts a streaming standby of a private server: a copy of it that
// follows every commit, read-only until Promote.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	if s.cluster == nil {
		return nil, fmt.Errorf("standby: %w", ErrNotOurs)
	}
	p := s.cluster
	dir, err := scratch.New("", "PostgreSQL standby")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, owned: true, bin: p.bin, as: p.as, password: p.password, version: p.version, standby: true}
	socket := filepath.Join(p.dir, "pg", socketFolder)
	c.settings = append(append(c.settings, p.settings...), "-c",
		fmt.Sprintf("primary_conninfo=host=%s port=%d user=postgres application_name=%s", socket, p.port, standbyName))
	if err = c.copyOf(ctx, socket, p.port); err == nil {
		err = c.run(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("standby: %w", err), c.remove())
	}
	return &Server{cluster: c, admin: c.url("postgres"), version: c.version, databases: map[string]bool{}}, nil
}

// copyOf fills the folder of the cluster from a running server.
func (c *cluster) copyOf(ctx context.Context, socket string, port int) error {
	home := filepath.Join(c.dir, "pg")
	for _, dir := range []string{home, filepath.Join(home, socketFolder)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := c.as.own(home); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, toStart)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "pg_basebackup"), "-h", socket, "-p", fmt.Sprint(port), "-U", "postgres",
		"-D", filepath.Join(home, dataFolder), "-c", "fast", "-X", "stream", "--no-sync")
	cmd.SysProcAttr = c.as.attr()
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its child that streams would hold the pipe open
	cmd.Dir = home
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, lastLine(said.String()))
	}
	signal := filepath.Join(home, dataFolder, "standby.signal")
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		return err
	}
	return c.as.own(signal)
}

// Synchronous has commits of the primary wait until its standby has them on disk,
// or no longer. It returns when that is so.
func (s *Server) Synchronous(ctx context.Context, on bool) error {
	names, want := "", "async"
	if on {
		names, want = standbyName, "sync"
	}
	return s.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + names + "'", "SELECT pg_reload_conf()"} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		for state := ""; ; {
			err := conn.QueryRow(ctx, "SELECT coalesce(max(sync_state), '') FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming'", standbyName).Scan(&state)
			if err != nil || state == want {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the standby is %q, not %s: %w", state, want, ctx.Err())
			case <-time.After(between):
			}
		}
	})
}

// Promote makes a standby a primary and returns when it takes writes.
func (s *Server) Promote(ctx context.Context) error {
	return s.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var done bool
		if err := conn.QueryRow(ctx, "SELECT pg_promote(true, 15)").Scan(&done); err != nil || !done {
			return fmt.Errorf("promote: %v, %w", done, err)
		}
		return nil
	})
}

// Pause stops all processes of a private server where they are; Continue lets
// them go on. Its connections stay open and nothing is answered meanwhile.
func (s *Server) Pause() error { return s.signalAll(syscall.SIGSTOP) }

// Continue is the end of Pause.
func (s *Server) Continue() error { return s.signalAll(syscall.SIGCONT) }

// signalAll reaches the children of the server too, each of which leads a process
// group of its own.
func (s *Server) signalAll(sig syscall.Signal) error {
	if s.cluster == nil {
		return ErrNotOurs
	}
	pid := s.cluster.proc.PID()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return fmt.Errorf("the children of a server are found on Linux only: %w", err)
	}
	failed := s.cluster.proc.Signal(sig)
	for child := range strings.FieldsSeq(string(children)) {
		var id int
		if _, err := fmt.Sscan(child, &id); err == nil {
			if err := syscall.Kill(id, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
}
