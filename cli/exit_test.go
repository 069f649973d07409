package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/plan"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

var everyWay = flag.Bool("every-way", false, "also take the commands that set a stage through every way")

// way is one place that standard output can go to.
type way struct {
	name  string
	shell string // runs the command, which it finds as "$@"; empty runs it directly
	json  bool
	// noStdin closes standard input: nothing for a row that reads it.
	noStdin bool
	// lost says that nobody can read what is written.
	lost bool
	// always: heavy rows go this way too without -every-way.
	always bool
}

var ways = []way{
	{name: "a file", always: true},
	{name: "a file as JSON", json: true, always: true},
	{name: "a pipe", shell: `exec 3>&1; { "$@"; echo $? >&4; } 4>code | cat >&3; exit "$(cat code)"`},
	{name: "a pipe whose reader has gone", shell: `{ "$@"; echo $? >&4; } 4>code | true; exit "$(cat code)"`},
	{name: "a closed standard output", shell: `exec "$@" >&-`},
	{name: "a file, with standard input closed", shell: `exec "$@" <&-`, noStdin: true},
	{name: "a full disk", shell: `exec "$@" >/dev/full`, lost: true, always: true},
}

// exits are the codes with which a command may end on this way, best known first.
func (w way) exits(r exitRow) []int {
	switch {
	case w.name == "a pipe whose reader has gone": // raced: what was written before it went is read
		return []int{r.code, 128 + 13, cli.ExitInfrastructure}
	case w.lost && !r.silent && (r.code == cli.ExitOK || r.code == cli.ExitInconclusive):
		return []int{cli.ExitInfrastructure}
	case w.lost && !r.silent:
		return []int{r.code, cli.ExitInfrastructure} // no yes either way
	}
	return []int{r.code}
}

// oneStage keeps heavy rows from running beside each other.
var oneStage sync.Mutex

// TestExitCodes is the truth table: every command with every verdict, on every
// way that its result can take. A result that nobody could read is never a yes.
func TestExitCodes(t *testing.T) {
	f := exitFixtures(t)
	f.judged(t)
	cells, left := 0, 0
	for i, row := range exitTable {
		for _, w := range ways {
			if row.heavy && !w.always && !*everyWay || w.json && row.noJSON != "" || w.noStdin && row.stdin != "" {
				left++
				continue
			}
			cells++
			t.Run(fmt.Sprintf("%d %s %d to %s", i, row.command, row.code, w.name), func(t *testing.T) {
				t.Parallel()
				if row.heavy { // each sets a stage with bounded waits
					oneStage.Lock()
					defer oneStage.Unlock()
				}
				code, out, said := f.run(t, row, w)
				if !slices.Contains(w.exits(row), code) {
					t.Errorf("interlock %s %s: exit %d, want %v\n%.600s\n%.600s", row.command, row.args, code, w.exits(row), out, said)
				}
				if strings.Contains(said, "goroutine ") || strings.Contains(said, "panic:") {
					t.Errorf("it panics: %.2000s", said)
				}
				if strings.Contains(out+said, "\x1b") {
					t.Errorf("colour or movement without a terminal: %.300q", out+said)
				}
				if w.json {
					onlyJSON(t, out)
				}
				if row.silent && out != "" || !row.silent && !w.lost && w.shell == "" && out == "" {
					t.Errorf("standard output holds %.300q", out)
				}
			})
		}
	}
	t.Logf("%d cells; %d more with -every-way or without a form in JSON", cells, left)
}

// TestExitTableIsWhole fails when a command, or a verdict of it, has no row and no
// reason.
func TestExitTableIsWhole(t *testing.T) {
	known := cli.CommandPaths()
	for _, command := range known {
		for _, code := range []int{cli.ExitOK, cli.ExitViolation, cli.ExitInconclusive, cli.ExitInfrastructure, cli.ExitUsage} {
			has := slices.ContainsFunc(exitTable, func(r exitRow) bool { return r.command == command && r.code == code })
			why := exitNever[command][code]
			if has == (why != "") {
				t.Errorf("%s with exit %d: a row is %v, and the reason for none is %q", command, code, has, why)
			}
		}
	}
	for _, r := range exitTable {
		if !slices.Contains(known, r.command) {
			t.Errorf("there is no command %q", r.command)
		}
	}
}

// onlyJSON fails where standard output holds anything but JSON values.
func onlyJSON(t *testing.T, out string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(out))
	for {
		var value any
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Errorf("%v in %.300q", err, out)
			return
		}
	}
}

// rowFiles is what the rows of the table work on.
type rowFiles struct {
	dir  string
	env  []string
	mu   sync.Mutex
	outs int
}

// run takes a row one way and returns the exit code, standard output as far as it
// can be read, and standard error.
func (f *rowFiles) run(t *testing.T, row exitRow, w way) (code int, stdout, stderr string) {
	t.Helper()
	command := append([]string{os.Args[0], asProgram}, f.words(row)...)
	if w.json {
		command = append(command, "--json")
	}
	if w.shell != "" {
		command = append([]string{"sh", "-c", w.shell, "sh"}, command...)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var out, said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.TempDir(), append(f.env, row.env...), strings.NewReader(row.stdin), &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

func (f *rowFiles) words(row exitRow) []string {
	f.mu.Lock()
	f.outs++
	out := filepath.Join(f.dir, fmt.Sprintf("out-%d", f.outs))
	f.mu.Unlock()
	return strings.Fields(strings.NewReplacer("$F", f.dir, "$OUT", out).Replace(row.command + " " + row.args))
}

// exitFixtures makes them, once for all rows: certificates that say yes and no,
// reports that agree and do not, plans, keys, and a PostgreSQL for all stages.
func exitFixtures(t *testing.T) *rowFiles {
	t.Helper()
	f := &rowFiles{dir: t.TempDir()}
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	provider, err := standin.Start(standin.Options{Name: "anthropic-demo", Protocol: providers.AnthropicMessages})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Close() })
	f.env = append(withoutSettings(),
		"DATABASE_URL="+server.URL("postgres"), "INTERLOCK_ANTHROPIC_DEMO_KEY=k", "XDG_CONFIG_HOME="+f.dir)

	for _, dir := range []string{"empty", "broken", "away", "here", "rejected", "changed"} {
		if err := os.Mkdir(filepath.Join(f.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(f.dir, name) }
	for name, text := range map[string]string{
		"file": "x", "broken/trust.json": "{", "template.jinja": "{{ messages[0].content }}",
		"accepted.json": readText(t, exchange("anthropic-ping.json")), "refused.json": readText(t, exchange("enum-invented.json")),
		"unknown.json": readText(t, exchange("body-blank-lines.json")), "_contract.json": readText(t, exchange("_contract.json")),
	} {
		write(t, at(name), text)
	}
	demo := readText(t, "../providers/fixtures/profiles/anthropic-demo.yaml")
	write(t, at("away/anthropic-demo.yaml"), demo) // its address is one that nobody listens at
	write(t, at("here/anthropic-demo.yaml"), strings.Replace(demo, "http://127.0.0.1:1/anthropic-demo", "http://"+provider.Addr(), 1))
	if err := os.Symlink(at("loop"), at("loop")); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]plan.Plan{
		"good.json": {Steps: []plan.Step{{Do: plan.Stall, Job: "a", N: 1}, {Do: plan.Submit, Job: "a"}, {Do: plan.Answer, Job: "a", N: 1}}},
		"bad.json":  {Mutant: "last-write-wins", Invariant: "I5", Steps: lateAnswer},
	} {
		p.Format = plan.Format
		if err := p.Write(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// withoutSettings is the environment without what would set a flag.
func withoutSettings() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "INTERLOCK_") })
}

// judged adds what commands make: certificates, reports, bundles.
func (f *rowFiles) judged(t *testing.T) {
	t.Helper()
	at := func(name string) string { return filepath.Join(f.dir, name) }
	made := func(want int, args string) {
		t.Helper()
		row := exitRow{args: args}
		if code, out, said := f.run(t, row, ways[0]); code != want {
			t.Fatalf("interlock %s: exit %d, want %d\n%s%s", args, code, want, out, said)
		}
	}
	made(0, "key new $F/issuer.key")
	made(0, "certify anthropic-demo --contract invoice --certs $F/certificates --out $F/run --key-file $F/issuer.key --bundle $F/good.tgz")
	made(1, "certify anthropic-demo --contract invoice --no-job-service --bad below-minimum --certs $F/certificates --out $F/bad --key-file $F/issuer.key")
	write(t, at("rejected/trust.json"), readText(t, at("certificates/trust.json")))
	write(t, at("rejected/anthropic-demo--invoice@1.0.0.dsse.json"), readText(t, at("bad/certificate.dsse.json")))
	made(0, "verify double-click --seed 7 --out $F/good")
	for _, name := range []string{report.ReportFile, report.HistoryFile} {
		text := readText(t, filepath.Join(f.dir, "good", name))
		write(t, filepath.Join(f.dir, "changed", name), strings.Replace(text, `"verdict": "pass"`, `"verdict": "violation"`, 1))
	}
}

// lateAnswer is a race that the service loses with the mutant last-write-wins.
var lateAnswer = []plan.Step{
	{Do: plan.Stall, Job: "a", N: 1}, {Do: plan.Submit, Job: "a"}, {Do: plan.Release, Job: "a", N: 1}, {Do: plan.Start, Job: "a"}, {Do: plan.Answer, Job: "a", N: 1},
}

func exchange(name string) string { return filepath.Join("../providers/fixtures/exchanges", name) }
