package cli_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// TestWhatProvesNothingIsNeverAYes runs the program where a green light would be a
// lie, as a process.
func TestWhatProvesNothingIsNeverAYes(t *testing.T) {
	dir := t.TempDir()
	keys, unused := filepath.Join(dir, "keys"), filepath.Join(dir, "unused.json")
	write(t, keys, "ada owner a\nbob owner b\n")
	write(t, unused, `{"format":"interlock-plan/1","seed":1,"number":1,"steps":[{"do":"lost-response","job":"b"},{"do":"submit","job":"a"}]}`)
	never := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }))
	defer silent.Close()
	defer close(never)
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // accepts by itself, and reads nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.Close() }()

	for name, c := range map[string]struct {
		args  string
		shell string // runs the command, with it as "$@"
		code  int
		want  string
	}{
		"a typo":                    {args: "verify rverse-order", code: cli.ExitUsage, want: "Did you mean reverse-order?"},
		"a typo of a command":       {args: "verfy", code: cli.ExitUsage, want: "verify"},
		"a typo of a mutant":        {args: "explore --plans 1 --mutant last-write-win", code: cli.ExitUsage, want: "last-write-wins"},
		"an empty filter":           {args: "verify --label none", code: cli.ExitInconclusive, want: "selects no scenario"},
		"no plan":                   {args: "explore --plans 0", code: cli.ExitUsage, want: "--plans"},
		"a shard without a plan":    {args: "explore --plans 1 --seed 1 --shard 2/2", code: cli.ExitInconclusive, want: "0 of 1 plans"},
		"an unreachable target":     {args: "verify double-click --target http://" + freePort(t) + " --target-keys " + keys, code: cli.ExitInfrastructure, want: "does not take a job"},
		"a target that is silent":   {args: "verify double-click --target " + silent.URL + " --target-keys " + keys + " --timeout 10s", code: cli.ExitInfrastructure, want: "does not take a job"},
		"a target that is deaf":     {args: "verify double-click --target http://" + deaf.Addr().String() + " --target-keys " + keys + " --timeout 10s", code: cli.ExitInfrastructure, want: "does not take a job"},
		"no such database":          {args: "explore --plans 1 --seed 1 --pg-url postgres://a@" + freePort(t) + "/x", code: cli.ExitInfrastructure, want: "no PostgreSQL answers"},
		"a fault on an unused job":  {args: "replay " + unused + " --times 1", code: cli.ExitInconclusive, want: "none of the faults"},
		"a full disk":               {args: "verify double-click", shell: `ulimit -f 1 && exec "$@"`, code: cli.ExitInfrastructure, want: "file too large"},
		"a full disk for plans":     {args: "explore --plans 1 --seed 1", shell: `ulimit -f 1 && exec "$@"`, code: cli.ExitInfrastructure},
		"a full disk for the words": {args: "explore --plans 1 --seed 1 --json", shell: `exec "$@" >/dev/full`, code: cli.ExitInfrastructure},
		"a clock that jumps ahead":  {args: "verify clock-jump-forward --mutant deadline-by-wall-clock", code: cli.ExitViolation, want: "I4"},
		"a clock that jumps back":   {args: "verify clock-jump-back --mutant result-from-the-future", code: cli.ExitViolation, want: "I5"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.shell, "/dev/full") && runtime.GOOS != "linux" {
				t.Skip("this machine has no /dev/full")
			}
			args := append([]string{os.Args[0], asProgram}, strings.Fields(c.args)...)
			if c.shell != "" {
				args = append([]string{"sh", "-c", c.shell, "sh"}, args...)
			}
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Dir = t.TempDir()
			said, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.code || !strings.Contains(string(said), c.want) || strings.Contains(string(said), "goroutine ") {
				t.Errorf("interlock %s: exit %d, want %d and %q: %s", c.args, got, c.code, c.want, said)
			}
		})
	}
}
