package cli_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/cli"
)

// TestUpServesUntilInterrupted starts the console as a process of its own and
// interrupts it as Ctrl-C does: nothing answers afterwards, and the exit code says
// why it ended. With --keep the data of PostgreSQL stay.
func TestUpServesUntilInterrupted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, asProgram, "up", "--port", "0", "--json", "--no-input", "--keep")
	cmd.Dir = t.TempDir()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	var line struct{ Type, URL, Address string }
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Type != "console" || !strings.HasPrefix(line.URL, line.Address+"/?token=") {
		t.Fatalf("the first line is %q (%v)\n%s", lines.Text(), err, said.String())
	}
	if code, _, stderr := run(t, "healthcheck", line.Address+"/healthz"); code != cli.ExitOK {
		t.Errorf("healthcheck: exit %d: %s", code, stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	defer limit.Stop()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d\n%s", code, cli.ExitInterrupted, said.String())
	}
	if resp, err := http.Get(line.Address + "/healthz"); err == nil {
		_ = resp.Body.Close()
		t.Error("something still answers at " + line.Address)
	}
	const kept = "The data of PostgreSQL stay in "
	_, data, found := strings.Cut(said.String(), kept)
	data = strings.TrimSuffix(strings.TrimSpace(data), ".")
	if !found || strings.Contains(data, "\n") {
		t.Fatalf("it does not say what stays: %s", said.String())
	}
	folder := strings.TrimSuffix(data, "/pg/data")
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if _, err := os.Stat(data + "/PG_VERSION"); err != nil {
		t.Errorf("the data are not there: %v", err)
	}
	if _, err := os.Stat(data + "/postmaster.pid"); err == nil {
		t.Error("PostgreSQL was not stopped in order")
	}
}
