package cli_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// TestRowsOfBadCommandLines are the rows H of the collection of bad inputs that
// one invocation can show: each ends in its exit code and in at most three short
// lines, and repeats no secret.
func TestRowsOfBadCommandLines(t *testing.T) {
	for _, c := range []struct {
		row  string
		args []string
		code int
		want string
	}{
		{"H01 a scenario misspelt", []string{"verify", "rverse-order"}, 64, "Did you mean reverse-order?"},
		{"H02 a label that selects nothing", []string{"verify", "--label", "submit && !submit"}, 2, "selects no scenario"},
		{"H02 a label that is no expression", []string{"verify", "--label", "submit &&"}, 64, "label expression"},
		{"H03 an empty name", []string{"verify", ""}, 64, "no scenario"},
		{"H03 a flag of another tool", []string{"verify", "--focus="}, 64, "no flag --focus"},
		{"H04 no number", []string{"verify", "--seed", "abc"}, 64, "--seed"},
		{"H04 below zero", []string{"verify", "--seed", "-1"}, 64, "--seed"},
		{"H04 too large", []string{"verify", "--seed", "18446744073709551616"}, 64, "--seed"},
		{"H04 in another base", []string{"verify", "--seed", "0x10"}, 64, "--seed"},
		{"H05 no time", []string{"verify", "--timeout", "0"}, 64, "--timeout"},
		{"H05 below zero", []string{"verify", "--timeout", "-1s"}, 64, "--timeout"},
		{"H05 without a unit", []string{"verify", "--timeout", "10"}, 64, "--timeout"},
		{"H05 of an unknown unit", []string{"certify", "openai-demo", "--contract", "invoice", "--timeout", "10x"}, 64, "--timeout"},
		{"H06 none", []string{"mutants", "--procs", "0"}, 64, "--procs"},
		{"H06 below zero", []string{"mutants", "--procs", "-3"}, 64, "--procs"},
		{"H06 too many", []string{"mutants", "--procs", "1000000"}, 64, "--procs"},
		{"H07 one flag with two values", []string{"verify", "--seed", "6", "--list", "--seed=7"}, 64, "given twice"},
		{"H08 two sources of answers", []string{"certify", "openai-demo", "--contract", "invoice", "--live", "--recorded"}, 64, "--live"},
		{"H09 another scheme", []string{"verify", "--target", "ftp://x", "--target-keys", "keys"}, 64, "must look like http://"},
		{"H09 a file", []string{"verify", "--target", "file:///x", "--target-keys", "keys"}, 64, "must look like http://"},
		{"H09 no host", []string{"verify", "--target", "http://", "--target-keys", "keys"}, 64, "must look like http://"},
		{"H09 a password", []string{"verify", "--target", "http://user:s3cret@x:80", "--target-keys", "keys"}, 64, "without a password"},
		{"H10 metadata", []string{"verify", "--target", "http://169.254.169.254/", "--target-keys", "keys"}, 64, "--allow-link-local"},
		{"H10 metadata in IPv6", []string{"verify", "--target", "http://[::ffff:a9fe:a9fe]/", "--target-keys", "keys"}, 64, "--allow-link-local"},
		{"H17 a secret as a flag", []string{"certify", "openai-demo", "--contract", "invoice", "--live", "--api-key", "s3cret"}, 64, "never from the command line"},
		{"H24 no calls at all", []string{"certify", "openai-demo", "--contract", "invoice", "--max-calls", "-1"}, 64, "--max-calls"},
		{"H25 a line break", []string{"verify", "a\nb"}, 64, `a\nb`},
		{"H25 NUL", []string{"verify", "a\x00b"}, 64, `a\x00b`},
		{"H25 a megabyte", []string{"verify", strings.Repeat("x", 1<<20)}, 64, "no scenario"},
		{"H25 a megabyte as a flag", []string{"verify", "--" + strings.Repeat("x", 1<<20)}, 64, "no flag"},
		{"H25 a megabyte as a command", []string{strings.Repeat("x", 1<<20)}, 64, "no command"},
		{"H25 a megabyte as a value", []string{"verify", "--seed", strings.Repeat("9", 1<<20)}, 64, "--seed"},
	} {
		t.Run(c.row, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "keys", "ada owner a\nbob owner b\n")
			code, stdout, stderr := run(t, c.args...)
			if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
				t.Errorf("exit %d, want %d with %q; standard output %q, standard error %.300q", code, c.code, c.want, stdout, stderr)
			}
			if strings.Count(stderr, "\n") > 3 || len(stderr) > 1000 || strings.Contains(stderr, "s3cret") {
				t.Errorf("%d bytes in %d lines: %.300q", len(stderr), strings.Count(stderr, "\n"), stderr)
			}
		})
	}
}

func TestStrayAndBeatenVariablesAreNoted(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("INTERLOCK_SEDE", "1")
	t.Setenv("INTERLOCK_SEED", "6")
	code, _, stderr := run(t, "verify", "--list", "--seed", "7")
	for _, want := range []string{"INTERLOCK_SEDE is no setting of interlock. Did you mean INTERLOCK_SEED?", "--seed wins over INTERLOCK_SEED"} {
		if code != cli.ExitOK || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, want %q in %q", code, want, stderr)
		}
	}
	if _, _, stderr := run(t, "verify", "--list", "--seed", "7", "--quiet"); stderr != "" {
		t.Errorf("quiet, and it said %q", stderr)
	}
}
