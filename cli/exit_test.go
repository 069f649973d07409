package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// TestTheExitCodeIsTheSameWhereverTheResultGoes runs commands of every code as
// processes. A result that nobody could read is never a yes.
func TestTheExitCodeIsTheSameWhereverTheResultGoes(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this machine has no /dev/full")
	}
	defer func() { _ = full.Close() }()
	t.Chdir(t.TempDir())
	write(t, "rejected.json", "{")
	for _, c := range []struct {
		args string
		code int
	}{
		{"version", cli.ExitOK}, {"version --json", cli.ExitOK}, {"help gate", cli.ExitOK}, {"explain I1", cli.ExitOK}, {"completion bash", cli.ExitOK},
		{"verify --list", cli.ExitOK}, {"mutants --list", cli.ExitOK}, {"verify --list --label none", cli.ExitInconclusive},
		{"gate --from openai-demo --to anthropic-demo --contract invoice", cli.ExitInconclusive}, {"gate --matrix", cli.ExitOK},
		{"judge rejected.json", cli.ExitUsage}, {"nonsense", cli.ExitUsage},
	} {
		args := append([]string{asProgram}, strings.Fields(c.args)...)
		for _, to := range []struct {
			name   string
			stdout *os.File
			shell  string // runs the command instead, with it as "$@"
		}{
			{"a file", nil, ""}, {"a full disk", full, ""}, {"nowhere", nil, `exec "$@" >&-`},
		} {
			cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
			if to.shell != "" {
				cmd = exec.CommandContext(t.Context(), "sh", append([]string{"-c", to.shell, "sh", os.Args[0]}, args...)...)
			}
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			if to.stdout != nil {
				cmd.Stdout = to.stdout
			}
			_ = cmd.Run()
			want := c.code
			if to.stdout != nil && want == cli.ExitOK {
				want = cli.ExitInfrastructure
			}
			got := cmd.ProcessState.ExitCode()
			lost := to.stdout != nil && got == cli.ExitInfrastructure // a gate says so too, and that is a no as well
			if got != want && !lost || strings.Contains(said.String(), "goroutine ") {
				t.Errorf("interlock %s > %s: exit %d, want %d; it said %s", c.args, to.name, got, want, said.String())
			}
		}
	}
}
