package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/cli"
)

// signalRow is a command that is in the middle of its work until a signal ends it.
// $SILENT in args is the address of a server that takes connections and says
// nothing, $F the folder of exitFixtures, $OUT a path that does not exist yet.
type signalRow struct {
	args string // after the command
	// ready says when the signal may come: "printed X" and "said X" when standard
	// output or standard error holds X, "file X" when the file X of $OUT does hold
	// something, "child X" when a process below has X in its command line, "connected"
	// when $SILENT was called, "read" when standard input was read.
	ready string
	// answers is how many requests $SILENT answers before it says nothing more; it
	// counts as called after those.
	answers int
	// private: it starts a PostgreSQL of its own.
	private bool
	// screen: standard error is a terminal, as long as nothing else tells how far it is.
	screen bool
	// drains: SIGTERM and SIGINT are the way to end it, and exit 0 says that it did.
	drains bool
	// says is what it must tell of its own end.
	says []string
	// report is the file of $OUT that must hold what was judged until then, and with
	// these words.
	report string
	holds  []string
	// never must not be in $OUT afterwards.
	never string
	// heavy rows are ended by the one signal only, unless INTERLOCK_LONG is set.
	heavy syscall.Signal
}

const (
	silentURL = "postgres://nobody@$SILENT/none"
	byWhat    = "interlock: ended by $SIGNAL\n"
)

var signalTable = map[string][]signalRow{
	"verify": {{args: "--seed 7 --json --out $OUT", ready: `printed "type":"play"`, private: true, heavy: syscall.SIGTERM,
		says: []string{"Interrupted: these are the scenarios that were judged until then.", `"exit":$CODE`}, report: "report.json", holds: []string{`"interrupted": true`, `"slug": "`}}},
	"replay": {{args: "$F/good.json --times 10000", ready: "child serve", heavy: syscall.SIGINT, says: []string{byWhat}}},
	"explore": {
		{args: "--plans 1000 --seed 1 --lanes 2 --out $OUT", ready: "said plans, plan", screen: true, private: true, heavy: syscall.SIGINT,
			says: []string{"Interrupted: these are the plans that were judged until then.\nseed 1, "}, report: "explore.json", holds: []string{`"interrupted": true`, `"passed": `}},
		{args: "--plans 1000000 --shard 7/2000 --seed 1 --json --lanes 2 --out $OUT", ready: `printed "type":"plan"`, heavy: syscall.SIGTERM,
			says: []string{`"interrupted":true`, `"exit":$CODE`}, report: "explore.json", holds: []string{`"interrupted": true`}},
		{args: "--plans 1 --seed 1 --out $OUT --pg-url " + silentURL, ready: "connected", says: []string{byWhat}},
		{args: "--interleave --json --lanes 2", ready: `printed "type":"set"`, says: []string{"ended by $SIGNAL"}},
	},
	"mutants": {
		{args: "last-write-wins owner-not-asked --seed 7 --procs 1 --out $OUT", ready: "file clean/report.json", heavy: syscall.SIGINT,
			says: []string{"Interrupted: the matrix holds what was played until then.", "undecided  owner-not-asked"}, report: "matrix.json", holds: []string{`"scenario": "reverse-order"`}},
		{args: "last-write-wins --out $OUT --pg-url " + silentURL, ready: "connected", says: []string{byWhat}, never: "matrix.json"},
	},
	"certify": {
		{args: "anthropic-demo --contract invoice --no-job-service --live --profiles $PROFILES --certs $OUT/certs --out $OUT", ready: "connected", says: []string{"Interrupted: nothing was signed; the plan of the run is in $OUT.\n" + byWhat}, report: "plan.json", never: "certs/anthropic-demo--invoice@1.0.0.dsse.json"},
		{args: "anthropic-demo --contract invoice --no-job-service --live --parallel 1 --profiles $PROFILES --certs $OUT/certs --out $OUT", ready: "connected", answers: 3,
			says: []string{"Interrupted: nothing was signed; the plan of the run and 3 answers that had come are in $OUT.\n" + byWhat}, never: "certs/anthropic-demo--invoice@1.0.0.dsse.json"},
		{args: "anthropic-demo --contract invoice --certs $OUT/certs --out $OUT --pg-url " + silentURL, ready: "connected", says: []string{" answers that had come are in $OUT.\n" + byWhat}, report: "plan.json", never: "certs/anthropic-demo--invoice@1.0.0.dsse.json"},
		{args: "--self-test --protocol openai-chat", ready: "said tried, last", screen: true, says: []string{byWhat}},
	},
	"record": {
		{args: "anthropic-demo --contract invoice --yes --profiles $PROFILES --out $OUT", ready: "connected", answers: 3,
			says: []string{"Interrupted: 3 of 20 requests were answered; their recordings are in $OUT/anthropic-demo.\n" + byWhat}},
		{args: "anthropic-demo --contract invoice --yes --profiles $PROFILES --out $OUT", ready: "connected", says: []string{"Interrupted: no recording was stored.\n" + byWhat}, never: "anthropic-demo"},
	},
	"gate":        {{args: "--from openai-demo --to anthropic-demo --contract invoice --wait 10m", ready: "said waiting up to 10m0s for a yes", says: []string{byWhat}}},
	"judge":       {{args: "-", ready: "read", says: []string{"ended by $SIGNAL"}}},
	"healthcheck": {{args: "http://$SILENT/ --wait 10m", ready: "connected", says: []string{byWhat}}},
	"bench service": {{args: "--only new,held --held 1h --duration 1s --in-flight 1 --raced 1", ready: "said whole lives beside a transaction", screen: true, private: true, heavy: syscall.SIGINT,
		says: []string{"Interrupted: this is what was measured until then.", byWhat}}},
	"prompt render": {{args: "--template $F/template.jinja", ready: "read", says: []string{"ended by $SIGNAL"}}},
	"prompt fetch":  {{ready: "file ../begun", says: []string{byWhat}}},
	"up":            {{args: "--port 0 --no-input", ready: "printed http://127.0.0.1:", private: true, heavy: syscall.SIGTERM}},
	"serve": {
		{args: "--listen 127.0.0.1:0 --migrate --keys $F/keys --allow-unsafe-database", ready: "printed listening", drains: true},
		{args: "--listen 127.0.0.1:0 --pg-url " + silentURL, ready: "connected"},
	},
	"migrate":        {{args: "--pg-url " + silentURL, ready: "connected"}},
	"stand provider": {{args: "openai-demo", ready: "printed listening"}},
	"stand balancer": {{args: "a=http://127.0.0.1:1", ready: "printed listening"}},
}

// tooQuick are the commands that are over before a signal can be aimed at them:
// they wait for nobody.
var tooQuick = map[string]string{
	"report": "it reads files", "report merge": "it reads files", "contract lint": "it reads files", "lock": "it reads files",
	"key new": "it writes a file", "key show": "it reads a file", "man": "it writes files",
	"explain": "it prints", "doctor": "it looks around", "version": "it prints",
	"completion bash": "it prints", "completion zsh": "it prints", "completion fish": "it prints", "completion powershell": "it prints",
	"prompt check": "it reads files; a server that it asks is asked under the same context",
	"prompt show":  "it reads files", "prompt tokenize": "it reads standard input through the reader of prompt render",
}

func TestSignalTableIsWhole(t *testing.T) {
	known := cli.CommandPaths()
	for _, command := range known {
		if (len(signalTable[command]) > 0) == (tooQuick[command] != "") {
			t.Errorf("%s: %d rows, and the reason for none is %q", command, len(signalTable[command]), tooQuick[command])
		}
	}
	for command := range signalTable {
		if !slices.Contains(known, command) {
			t.Errorf("there is no command %q", command)
		}
	}
}

// TestSignals ends each command that can be at work with SIGINT and with SIGTERM:
// the exit code tells which, what was judged until then is there and says so, and
// no process, folder or database is left.
func TestSignals(t *testing.T) {
	f := exitFixtures(t)
	write(t, filepath.Join(f.dir, "keys"), "ada owner "+strings.Repeat("0", 64)+"\n")
	clients := filepath.Join(f.dir, "clients")
	if err := os.Mkdir(clients, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clients, "npm"), []byte("#!/bin/sh\necho x > \"$(dirname \"$INTERLOCK_PROMPT_CACHE\")/begun\"\nsleep 600\n"), 0o755); err != nil { // with a child of its own
		t.Fatal(err)
	}
	for _, command := range cli.CommandPaths() {
		for i, row := range signalTable[command] {
			for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
				if row.heavy != 0 && row.heavy != sig && os.Getenv("INTERLOCK_LONG") == "" {
					continue
				}
				t.Run(fmt.Sprintf("%s %d %s", command, i+1, sig), func(t *testing.T) {
					row.end(t, f, command, sig, clients)
				})
			}
		}
	}
}

// end runs the command of a row and ends it with sig.
func (row signalRow) end(t *testing.T, f *rowFiles, command string, sig syscall.Signal, clients string) {
	silent, connected := silentServer(t, row.answers)
	dir := t.TempDir()
	profile := readText(t, filepath.Join(f.dir, "away", "anthropic-demo.yaml"))
	write(t, filepath.Join(dir, "anthropic-demo.yaml"), strings.Replace(profile, "127.0.0.1:1/", silent+"/", 1))
	out := filepath.Join(t.TempDir(), "out")
	code := map[syscall.Signal]int{syscall.SIGINT: cli.ExitInterrupted, syscall.SIGTERM: cli.ExitTerminated}[sig]
	if row.drains {
		code = cli.ExitOK
	}
	fill := strings.NewReplacer("$SILENT", silent, "$PROFILES", dir, "$OUT", out, "$SIGNAL", map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}[sig], "$CODE", fmt.Sprint(code))
	env := append(slices.Clone(f.env), "INTERLOCK_PROMPT_CACHE="+out, "PATH="+clients+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+dir)
	if row.private {
		env = append(env, "DATABASE_URL=")
	}
	var screens []string
	if row.screen {
		screens = []string{"err"}
	}
	before := f.databases(t)
	p := startProgram(t, env, f.words(exitRow{command: command, args: fill.Replace(row.args)}), screens...)
	p.awaitReady(t, row.ready, out, connected)
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if got := p.wait(t); got != code {
		t.Errorf("exit %d, want %d\n%.600s\n%.600s", got, code, p.out.String(), p.said.String())
	}
	p.leftBehind(t)
	all := strings.ReplaceAll(p.out.String()+p.said.String(), "\r\n", "\n")
	if strings.Contains(all, "goroutine ") || strings.Contains(all, "context canceled") {
		t.Errorf("it does not say what ended it: %.2000s", all)
	}
	if wrong := uncleared(p.said.String()); row.screen && wrong != "" {
		t.Error(wrong)
	}
	for _, want := range row.says {
		if want = fill.Replace(want); !strings.Contains(all, want) {
			t.Errorf("it does not say %q\n%.600s\n%.600s", want, p.out.String(), p.said.String())
		}
	}
	if row.report != "" {
		text := readText(t, filepath.Join(out, row.report))
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON: %.300s", row.report, text)
		}
		for _, want := range row.holds {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not hold %q: %.600s", row.report, want, text)
			}
		}
	}
	if command == "verify" { // its evidence is that of what it judged
		for _, c := range []struct{ flag, want string }{{"--check", "judged anew"}, {"--quiet", "Interrupted: "}} {
			if code, shown, said := run(t, "report", out, c.flag); code != cli.ExitOK || !strings.Contains(shown, c.want) {
				t.Errorf("report %s: exit %d: %s%s", c.flag, code, shown, said)
			}
		}
	}
	if row.never != "" {
		if _, err := os.Lstat(filepath.Join(out, row.never)); err == nil {
			t.Errorf("%s was written", row.never)
		}
	}
	if after := f.databases(t); !slices.Equal(after, before) {
		t.Errorf("databases are left behind: of %q there were %q", after, before)
	}
}

// awaitReady returns when the program is in the middle of its work.
func (p *program) awaitReady(t *testing.T, ready, out string, connected <-chan struct{}) {
	t.Helper()
	kind, what, _ := strings.Cut(ready, " ")
	switch kind {
	case "read": // more than a pipe holds: when it is written somebody has read
		if _, err := p.in.Write(bytes.Repeat([]byte(" "), 1<<17)); err != nil {
			t.Fatal(err)
		}
	case "printed":
		p.await(t, "printing "+what, p.out.has(what))
	case "said":
		p.await(t, "saying "+what, p.said.has(what))
	case "file":
		p.await(t, "writing "+what, func() bool { info, err := os.Stat(filepath.Join(out, what)); return err == nil && info.Size() > 0 })
	case "child":
		p.await(t, "starting "+what, func() bool {
			return slices.ContainsFunc(p.children(), func(line string) bool { return strings.Contains(line, " "+what+" ") })
		})
	case "connected":
		p.await(t, "asking", func() bool {
			select {
			case <-connected:
				return true
			default:
				return false
			}
		})
	default:
		t.Fatalf("ready when? %q", ready)
	}
}

// databases are those of runs on the server that the rows share.
func (f *rowFiles) databases(t *testing.T) (names []string) {
	t.Helper()
	url := ""
	for _, pair := range f.env {
		if value, ok := strings.CutPrefix(pair, "DATABASE_URL="); ok {
			url = value
		}
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), `SELECT datname FROM pg_database ORDER BY datname`)
	if err != nil {
		t.Fatal(err)
	}
	if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestASecondSignalEndsAtOnce is for commands that do not heed the first: one waits
// for somebody who opened its file and does not write, one drains what is under way
// for longer than anybody waits here.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	f := exitFixtures(t)
	key := "a key"
	write(t, filepath.Join(f.dir, "keys"), fmt.Sprintf("ada owner %x\n", sha256.Sum256([]byte(key))))
	t.Run("a file that never comes", func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "plan.json")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		p := startProgram(t, f.env, []string{"replay", fifo})
		writer, err := os.OpenFile(fifo, os.O_WRONLY, 0) // until it reads
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = writer.Close() }()
		p.insist(t)
	})
	t.Run("a request that never ends", func(t *testing.T) {
		p := startProgram(t, f.env, strings.Fields("serve --listen 127.0.0.1:0 --migrate --allow-unsafe-database --shutdown-grace 10m --body-time 10m --keys "+filepath.Join(f.dir, "keys")))
		p.await(t, "listening", p.out.has("\n"))
		var line struct{ Listening string }
		if err := json.Unmarshal([]byte(p.out.String()), &line); err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", line.Listening)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := fmt.Fprintf(conn, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", key); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 64)
		n, err := conn.Read(answer)
		if err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 100 ") {
			t.Fatalf("the service does not wait for the body: %q, %v", answer[:n], err)
		}
		p.insist(t)
	})
}

// insist sends SIGINT until the program ends, which must be by the second that
// counts: those within a second are one.
func (p *program) insist(t *testing.T) {
	t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for limit := time.After(toEnd); ; {
		_ = p.cmd.Process.Signal(syscall.SIGINT)
		select {
		case <-p.done:
			if code := p.cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
				t.Errorf("exit %d, want %d\n%.600s", code, cli.ExitInterrupted, p.said.String())
			}
			return
		case <-again.C:
		case <-limit:
			t.Fatal("it does not end")
		}
	}
}
