package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/target"
)

// toLetGo bounds how long what a world held may take to be gone after its Close: a
// backend of PostgreSQL ends a little after its connection.
const toLetGo = 3 * time.Second

// gateState is a file that a service keeps beside its certificates: its memory, and
// nothing that a scenario leaves.
const gateState = "gate-state.json"

// Holdings is what the harness holds at one moment, each thing by its name.
type Holdings map[string]bool

// Holdings lists what is held now: goroutines of faults, clients and specs, proxies,
// children of this process and files below the stage's folder. What belongs to the
// stage itself or to a service that runs is left out.
func (s *Stage) Holdings() Holdings {
	h := Holdings{}
	for _, id := range goroutines() {
		h["goroutine "+id] = true
	}
	for _, p := range s.Network.Proxies() {
		h["proxy "+p] = true
	}
	for _, pid := range s.children() {
		h["process "+strconv.Itoa(pid)] = true
	}
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone
		}
		if s.pg != nil && path == s.pg.Data() {
			return filepath.SkipDir
		}
		if !d.IsDir() && d.Name() != gateState {
			h["file "+path] = true
		}
		return nil
	})
	return h
}

// Left fails when something is held that was not held before, or when PostgreSQL has
// a connection or a lock of the harness. It waits a little for what is on its way
// out. It says nothing about the target, and must not be called while another world
// is open.
func (s *Stage) Left(ctx context.Context, before Holdings) error {
	ctx, cancel := context.WithTimeout(ctx, toLetGo)
	defer cancel()
	var left error
	err := Until(ctx, "nothing is left of the scenario", func(ctx context.Context) (bool, error) {
		var now error
		for what := range s.Holdings() {
			if !before[what] {
				now = errors.Join(now, errors.New(what))
			}
		}
		inDatabase, err := s.heldInDatabase(ctx)
		if err != nil {
			return false, err
		}
		left = errors.Join(now, inDatabase)
		return left == nil, nil
	})
	switch {
	case err == nil:
		return nil
	case left != nil:
		return fmt.Errorf("the scenario left something behind: %w", left)
	}
	return fmt.Errorf("look for what the scenario left: %w", err)
}

const ofHarness = `
	SELECT count(*) FROM pg_stat_activity
	WHERE  datname = current_database() AND application_name = 'interlock-harness' AND pid <> pg_backend_pid()`

// Advisory locks are nobody's: neither the service nor the harness keeps one between
// two jobs.
const advisory = `
	SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

const rowLocks = `
	SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
	WHERE  a.datname = current_database() AND a.application_name = 'interlock-harness' AND a.pid <> pg_backend_pid()
	  AND  l.locktype IN ('relation', 'tuple') AND l.mode <> 'AccessShareLock'`

// heldInDatabase looks at the database of the shared service.
func (s *Stage) heldInDatabase(ctx context.Context) (held, failed error) {
	s.mu.Lock()
	shared := s.shared
	s.mu.Unlock()
	if shared == nil || s.Level() < 2 {
		return nil, nil
	}
	look := target.OpenDatabase(shared.PGURL(), nil).Reader()
	defer look.Close(ctx)
	for _, q := range []struct{ query, what string }{
		{ofHarness, "connections of the harness to the database"}, {advisory, "advisory locks"}, {rowLocks, "locks of the harness"},
	} {
		n, err := look.Count(ctx, q.query)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			held = errors.Join(held, fmt.Errorf("%d %s", n, q.what))
		}
	}
	return held, nil
}

// goroutines are those of this process that a scenario may have started: they run
// code of the faults, the clients or the specs.
func goroutines() (ids []string) {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	for i, one := range strings.Split(string(text), "\n\n") {
		if i == 0 { // who asks
			continue
		}
		id, stack, _ := strings.Cut(one, " [")
		for _, of := range []string{"interlock/harness/fault.", "interlock/harness/target.", "interlock/scenarios."} {
			if strings.Contains(stack, of) && !strings.Contains(stack, "ginkgo/v2/internal.(*Suite)") {
				ids = append(ids, strings.TrimPrefix(id, "goroutine ")+" in "+firstCall(stack, of))
				break
			}
		}
	}
	return ids
}

// firstCall is the innermost function of that package in a stack.
func firstCall(stack, of string) string {
	for _, line := range strings.Split(stack, "\n") {
		if strings.Contains(line, of) && !strings.HasPrefix(line, "created by") {
			name, _, _ := strings.Cut(line[strings.LastIndex(line, "/")+1:], "(0x")
			return strings.TrimSuffix(name, "()")
		}
	}
	return strings.TrimSuffix(of, ".")
}

// children are the processes that this one started and that belong to no service
// that runs. Where the machine does not tell there are none.
func (s *Stage) children() (pids []int) {
	ours := map[int]bool{}
	s.mu.Lock()
	services := make([]*Service, 0, len(s.services))
	for v := range s.services {
		services = append(services, v)
	}
	if s.target != nil {
		ours[s.target.PID()] = true
	}
	s.mu.Unlock()
	for _, v := range services {
		for _, p := range v.Processes() {
			ours[p.PID()] = true
		}
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil && !ours[pid] {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
