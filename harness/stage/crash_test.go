package stage_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/stage/process"
)

// left is what a stage has on this machine.
type left struct {
	Dir   string
	Addrs []string
	PIDs  []int
}

// standAndWait sets a stage, says what it has, and waits to be killed.
func standAndWait() {
	ctx := context.Background()
	s, err := stage.Start(ctx, stage.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	v, err := s.Service(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	l := left{Dir: s.Config().Dir, Addrs: []string{s.PG().Addr(), v.Balancer.Addr()}}
	for _, p := range v.Processes() {
		l.Addrs, l.PIDs = append(l.Addrs, p.Addr()), append(l.PIDs, p.PID())
	}
	_ = json.NewEncoder(os.Stdout).Encode(l)
	select {}
}

func TestNothingIsLeftWhenTheStageItselfIsKilled(t *testing.T) {
	ctx, pg := bounded(t), mustPG(t)            // the shared stage starts first: it sweeps too
	tmp, err := os.MkdirTemp("", "stage-test-") // where no other run of this machine sweeps
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil { // the cluster's user must get through
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	t.Setenv("TMPDIR", tmp)
	cmd := exec.Command(self(t), "stand-and-wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	p, err := process.Start("stage", cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	defer p.End(ctx, syscall.SIGKILL)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var l left
	if err := json.Unmarshal(line, &l); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for _, addr := range l.Addrs {
		err := stage.Until(ctx, "nobody listens at "+addr, func(context.Context) (bool, error) {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				_ = conn.Close()
			}
			return err != nil, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, pid := range l.PIDs {
		err := stage.Until(ctx, fmt.Sprintf("process %d is gone", pid), func(context.Context) (bool, error) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || strings.Contains(string(text), ") Z "), nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(l.Dir); err != nil {
		t.Fatalf("the folder is gone already, so that this test proves nothing: %v", err)
	}
	var notes []string
	next, err := stage.Start(ctx, stage.Options{PGURL: pg, Note: func(n string) { notes = append(notes, n) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(l.Dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there after the next run: %v", err)
	}
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "left behind") }) {
		t.Errorf("the next run said %q", notes)
	}
}
