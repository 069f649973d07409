package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Main(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestWrongInputIsOneSentenceAndExit64(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown command", []string{"vresion"}, "Did you mean version?"},
		{"unknown flag", []string{"version", "--jsn"}, "Did you mean json?"},
		{"argument too many", []string{"version", "x"}, "takes no argument"},
		{"argument missing", []string{"healthcheck"}, "needs URL"},
		{"colour that does not exist", []string{"version", "--color", "blue"}, "must be auto, always or never"},
		{"url without a scheme", []string{"healthcheck", "localhost"}, "needs an http or https URL"},
		{"control characters in a name", []string{"\x1b[2Jverify"}, `\x1b[2Jverify`},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := run(t, c.args...)
			if code != cli.ExitUsage {
				t.Errorf("exit %d, want %d", code, cli.ExitUsage)
			}
			if stdout != "" {
				t.Errorf("standard output %q, want none", stdout)
			}
			if !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "\x1b") {
				t.Errorf("standard error %q, want one line with %q", stderr, c.want)
			}
		})
	}
}

func TestInterlockAloneLeadsWithExamples(t *testing.T) {
	code, stdout, stderr := run(t)
	if code != cli.ExitOK || !strings.Contains(stdout, "  interlock verify reverse-order") || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
