package pgserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

// Sweep removes what crashed runs of this user left below parent ("" for the
// usual place): folders and, where the system did not end it with its owner,
// the server that runs in one.
func Sweep(ctx context.Context, parent string) ([]string, error) {
	return scratch.Sweep(parent, func(dir string) error { return endServer(ctx, dir) })
}

// endServer ends the PostgreSQL server whose cluster is in dir, if one runs.
func endServer(ctx context.Context, dir string) error {
	data := filepath.Join(dir, "pg", dataFolder)
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return nil // it ended in order
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]))
	if err != nil || pid <= 1 {
		return nil
	}
	// The number may belong to somebody else by now: only a process that
	// was started on this very folder is ours.
	mine := func() bool {
		line, err := scratch.CommandLine(pid)
		return err == nil && strings.Contains(line, data)
	}
	if !mine() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, toStop)
	defer cancel()
	tick := time.NewTicker(between)
	defer tick.Stop()
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	for mine() {
		select {
		case <-ctx.Done():
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return fmt.Errorf("the PostgreSQL server %d left over in %s does not end", pid, dir)
		case <-tick.C:
		}
	}
	return nil
}
