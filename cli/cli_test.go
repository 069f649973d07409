package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/loopback"
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
		{"database that is no URL", []string{"verify", "double-click", "--pg-url", "nonsense"}, "--pg-url: the PostgreSQL URL must look like"},
		{"proxy that is no URL", []string{"verify", "double-click", "--toxiproxy", "ftp://h"}, "--toxiproxy: the address of Toxiproxy must look like"},
		{"port that is no number", []string{"up", "--port", "http"}, `--port is "http", but must be a whole number from 0`},
		{"port that does not exist", []string{"up", "--port", "65536"}, "to 65535"},
		{"port below zero", []string{"up", "--port", "-1"}, "--port is \"-1\""},
		{"seed of a console", []string{"up", "--seed", "abc"}, "--seed is \"abc\""},
		{"browser without a person", []string{"up", "--open", "--no-input"}, "contradict each other"},
		{"database of a console that is no URL", []string{"up", "--pg-url", "nonsense"}, "--pg-url: the PostgreSQL URL must look like"},
		{"argument of a console", []string{"up", "now"}, "takes no argument"},
		{"report that is not there", []string{"report", "nowhere"}, "there is no report folder nowhere"},
		{"bench of nothing", []string{"bench"}, "needs service"},
		{"bench of what does not exist", []string{"bench", "servcie"}, "Did you mean service?"},
		{"measure that does not exist", []string{"bench", "service", "--only", "livs"}, "Did you mean lives?"},
		{"bench without clients", []string{"bench", "service", "--clients", "0"}, "--clients is 0"},
		{"bench of too many races", []string{"bench", "service", "--raced", "-3"}, "--raced is -3"},
		{"bench beside what is not there", []string{"bench", "service", "--river", "./nowhere"}, "--river: ./nowhere is no program"},
		{"bench without time", []string{"bench", "service", "--duration", "0"}, "--duration is 0s"},
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

func TestMutantsWithoutTheNamedDatabaseSaysSoOnceAndExits3(t *testing.T) {
	refused, release, err := loopback.Refused()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	code, stdout, stderr := run(t, "mutants", "--out", t.TempDir(), "--pg-url", "postgres://u:s3cret@"+refused+"/x")
	if code != cli.ExitInfrastructure || stdout != "" || strings.Count(stderr, "\n") != 1 ||
		!strings.Contains(stderr, "no PostgreSQL answers at "+refused) || strings.Contains(stderr, "s3cret") {
		t.Errorf("exit %d, standard output %q, standard error %q", code, stdout, stderr)
	}
}
