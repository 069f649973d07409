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
		{"guard that does not exist", []string{"explore", "--interleave", "--mutants", "--only", "guard:cancel-jbo:1", "--pg-url", refusedURL}, "Did you mean guard:cancel-job:1?"},
		{"guard to run with that does not exist", []string{"explore", "--interleave", "--mutant", "guard:cancel-jbo:1", "--pg-url", refusedURL}, "Did you mean guard:cancel-job:1?"},
		{"schedule of no transaction", []string{"explore", "--interleave", "--replay", "raced/complete+finish:01", "--pg-url", refusedURL}, `--replay: there is no transaction "finish"`},
		{"schedule that is played never", []string{"explore", "--interleave", "--replay", "raced/complete+complete:01", "--times", "0", "--pg-url", refusedURL}, "--times is 0, but must be 1 to 10000"},
		{"plans that need too many keys", []string{"explore", "--plans", "1000000", "--pg-url", refusedURL}, "from --shard 1/10 to --shard 10/10"},
		{"a part that needs too many keys", []string{"explore", "--plans", "250000", "--shard", "1/2", "--pg-url", refusedURL}, "from --shard 1/3 to --shard 3/3"},
		{"bench of nothing", []string{"bench"}, "needs service"},
		{"bench of what does not exist", []string{"bench", "servcie"}, "Did you mean service?"},
		{"measure that does not exist", []string{"bench", "service", "--only", "livs"}, "Did you mean lives?"},
		{"bench without clients", []string{"bench", "service", "--clients", "0"}, "--clients is 0"},
		{"bench of too many races", []string{"bench", "service", "--raced", "-3"}, "--raced is -3"},
		{"bench beside what is not there", []string{"bench", "service", "--river", "./nowhere"}, "--river: ./nowhere is no program"},
		{"bench beside a file that is not there", []string{"bench", "service", "--baseline", "nowhere.json"}, "--baseline: nowhere.json cannot be read"},
		{"bench beside a file that is no bench", []string{"bench", "service", "--baseline", "cli.go"}, "--baseline: cli.go:1 is no row of bench service --json"},
		{"budget that is not there", []string{"bench", "service", "--budget", "nowhere.toml"}, "--budget: nowhere.toml cannot be read"},
		{"budget that is none", []string{"bench", "service", "--budget", "cli.go"}, "--budget: cli.go"},
		{"bench without time", []string{"bench", "service", "--duration", "0"}, "--duration is 0s"},
		{"no try at all", []string{"verify", "--repeat", "0"}, "--repeat is 0, but must be 1 to 1000"},
		{"too many tries", []string{"verify", "--repeat", "1001"}, "--repeat is 1001"},
		{"tries without a number", []string{"verify", "--repeat", "x"}, "invalid argument"},
		{"tries and no end of them", []string{"verify", "--repeat", "2", "--until-violation"}, "leave one of them out"},
		{"tries beyond the last seed", []string{"verify", "--repeat", "2", "--seed", "9223372036854775807"}, "choose a smaller --seed"},
		{"processes that are none", []string{"verify", "--procs", "0"}, `--procs is "0"`},
		{"too many processes", []string{"verify", "--procs", "65"}, "from 1 to 64"},
		{"matrix that waits", []string{"gate", "--matrix", "--wait", "1s"}, "leave --wait, --explain and --detailed-exit out"},
		{"matrix that explains", []string{"gate", "--matrix", "--explain"}, "or ask with --from and --to"},
		{"matrix of one request", []string{"gate", "--matrix", "--language", "ml"}, "leave --mode, --stream, --language"},
		{"wait for another time", []string{"gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice", "--at", "+48h", "--wait", "1s"}, "leave one of them out"},
		{"wait into the past", []string{"gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice", "--wait", "-1s"}, "are not negative"},
		{"mutants in no process", []string{"mutants", "--procs", "0"}, `--procs is "0"`},
		{"mutants of which fewer and all are played", []string{"mutants", "--full", "--fail-fast"}, "leave out one of them"},
		{"list of what would run", []string{"verify", "--list", "--dry-run"}, "leave one of them out"},
		{"list that is kept", []string{"verify", "--list", "--keep"}, "leave --keep out"},
		{"stacks that are kept", []string{"verify", "--keep", "--procs", "2"}, "leave --procs out"},
		{"label that is none", []string{"verify", "--label", "a &&"}, "label expression"},
		{"status of a mismatch without a target", []string{"verify", "--mismatch-status", "422"}, "no --target is named"},
		{"address of a target without one", []string{"verify", "--allow-link-local"}, "no --target is named"},
		{"time that is none", []string{"verify", "--timeout", "soon"}, `--timeout is "soon"`},
		{"scenario to replay without a seed", []string{"replay", "reverse-order"}, "such as reverse-order@7"},
		{"scenario to replay that is not there", []string{"replay", "rverse-order@7"}, "Did you mean reverse-order?"},
		{"seed to replay that is none", []string{"replay", "reverse-order@x"}, "needs a seed behind the @"},
		{"seed to replay that is missing", []string{"replay", "reverse-order@"}, "needs a seed behind the @"},
		{"scenario that cannot shrink", []string{"replay", "reverse-order@7", "--shrink"}, "--shrink takes steps from a plan"},
		{"scenario too often", []string{"replay", "reverse-order@7", "--times", "1001"}, "1 to 1000 for a scenario"},
		{"replay of nothing", []string{"replay", "reverse-order@7", "--times", "0"}, "--times is 0"},
		{"steps without a terminal", []string{"replay", "reverse-order@7", "--step"}, "nobody is at a terminal here"},
		{"steps for a program", []string{"replay", "reverse-order@7", "--step", "--json"}, "leave one of them out"},
		{"steps many times", []string{"replay", "reverse-order@7", "--step", "--times", "3"}, "--step plays once"},
		{"plan on a target", []string{"replay", "plan.json", "--out", "out"}, "leave --target and --out out"},
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
