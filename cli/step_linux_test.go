package cli_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/cli"
)

// TestStepAtATerminal replays a scenario for somebody who looks at two events and
// leaves. The scenario has two plays, each of which is left by itself.
func TestStepAtATerminal(t *testing.T) {
	screen := openTerminal(t)
	cmd := processOf(t, "replay", "double-click@7", "--step", "--out", "out")
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen.slave, screen.slave, screen.slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(screen.master, "\nq\nq\n"); err != nil { // read when it is asked for
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	shown := shownBy(t, screen.master, ended)
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitOK {
		t.Errorf("exit %d\n%s", code, shown)
	}
	if n := strings.Count(shown, " ms  "); n != 3 || !strings.Contains(shown, "double-click, ") || !strings.Contains(shown, "double-click#2, ") {
		t.Errorf("%d events are shown, want 3:\n%s", n, shown)
	}
}

// shownBy returns what comes out of a terminal until its program has ended.
func shownBy(t *testing.T, from *os.File, ended <-chan struct{}) string {
	t.Helper()
	var all bytes.Buffer
	part := make([]byte, 4096)
	for over := false; ; {
		_ = from.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		n, err := from.Read(part)
		all.Write(part[:n])
		if err != nil && over {
			return all.String()
		}
		select {
		case <-ended: // and once more, for what is left
			over = true
		default:
		}
	}
}
