package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage"
)

// processOf runs this test binary as the program, in a folder of its own, without the
// settings of whoever runs the tests.
func processOf(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{asProgram}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "INTERLOCK_") || strings.HasPrefix(pair, "DATABASE_URL=")
	}), "XDG_CONFIG_HOME="+cmd.Dir)
	return cmd
}

// heard is one line of JSON of verify.
type heard struct {
	Type    string
	Slug    string
	Try     int
	Seed    int64
	History string
	Verdict invariant.Verdict
	Exit    int
	PID     int
	Kept    *stage.Places
}

// jsonOf runs a command and reads its standard output as lines of JSON.
func jsonOf(t *testing.T, cmd *exec.Cmd) (code int, lines []heard, stderr string) {
	t.Helper()
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(out)) {
		var l heard
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %.200s", err, text)
		}
		lines = append(lines, l)
	}
	return cmd.ProcessState.ExitCode(), lines, said.String()
}

func loaded(t *testing.T, dir string) report.Run {
	t.Helper()
	checked, err := report.Check(dir)
	if err != nil {
		t.Fatal(err)
	}
	if checked.Verdict != invariant.Pass {
		t.Errorf("the report does not agree with its history: %q", checked.Problems)
	}
	return checked.Stored.Run
}

// TestEachTryHasASeedAndAHistory plays a scenario three times, in two processes at a
// time.
func TestEachTryHasASeedAndAHistory(t *testing.T) {
	cmd := processOf(t, "verify", "double-click", "--repeat", "3", "--procs", "2", "--seed", "7", "--out", "out", "--json")
	cmd.Env = append(cmd.Env, "INTERLOCK_REPEAT=9", "INTERLOCK_UNTIL_VIOLATION=false") // the command line wins, and no child repeats
	code, lines, said := jsonOf(t, cmd)
	if code != cli.ExitOK {
		t.Fatalf("exit %d\n%s", code, said)
	}
	var plays, rounds []string
	for _, l := range lines {
		switch l.Type {
		case "play":
			plays = append(plays, l.History)
			if l.Seed != int64(6+l.Try) || l.Slug != "double-click" {
				t.Errorf("a play of %s has try %d and seed %d", l.Slug, l.Try, l.Seed)
			}
		case "round":
			rounds = append(rounds, report.TryName("", l.Try))
		}
	}
	slices.Sort(plays)
	slices.Sort(rounds)
	// the scenario has two specs
	if want := []string{"double-click/1", "double-click/1#2", "double-click/2", "double-click/2#2", "double-click/3", "double-click/3#2"}; !slices.Equal(plays, want) {
		t.Errorf("the plays are %q, want %q", plays, want)
	}
	if want := []string{"/1", "/2", "/3"}; !slices.Equal(rounds, want) {
		t.Errorf("the rounds are %q, want %q", rounds, want)
	}
	dir := filepath.Join(cmd.Dir, "out")
	run := loaded(t, dir)
	if len(run.Plays) != 6 || len(run.Rounds) != 3 || run.Interrupted || run.Ended != "" {
		t.Errorf("the report has %d plays in %d rounds, interrupted %v, ended %q", len(run.Plays), len(run.Rounds), run.Interrupted, run.Ended)
	}
	for i, p := range run.Plays {
		if p.Try != i/2+1 || p.Seed != int64(7+i/2) {
			t.Errorf("play %d is try %d with seed %d", i+1, p.Try, p.Seed)
		}
	}
	if strings.Contains(run.Stage, "127.0.0.1") || !strings.HasPrefix(run.Stage, "PostgreSQL ") {
		t.Errorf("the stage is %q", run.Stage)
	}
	if _, err := os.Stat(filepath.Join(dir, "rounds")); err == nil {
		t.Error("folders of the processes are left")
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "logs", "*", "*.log")); len(logs) < 3 {
		t.Errorf("%d logs are kept", len(logs))
	}
}

// TestSeveralProcessesShareTheScenarios: without --repeat nothing is a try.
func TestSeveralProcessesShareTheScenarios(t *testing.T) {
	cmd := processOf(t, "verify", "double-click", "reverse-order", "same-key-other-payload", "--procs", "2", "--seed", "7", "--out", "out")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := loaded(t, filepath.Join(cmd.Dir, "out"))
	slugs := map[string]bool{}
	for _, p := range run.Plays {
		slugs[p.Slug] = true
		if p.Try != 0 || !strings.HasPrefix(p.History, p.Slug) || strings.Contains(p.History, "/") {
			t.Errorf("%s is try %d, its history %s", p.Slug, p.Try, p.History)
		}
	}
	if len(slugs) != 3 || len(run.Rounds) != 0 {
		t.Errorf("%d scenarios in %d rounds", len(slugs), len(run.Rounds))
	}
	if !strings.Contains(string(out), "3 pass, 0 violations, 0 inconclusive") {
		t.Errorf("it says\n%s", out)
	}
}

// TestUntilViolationEndsAtOne: the mutant breaks it in the first round, which is kept.
func TestUntilViolationEndsAtOne(t *testing.T) {
	cmd := processOf(t, "verify", "reverse-order", "--mutant", "last-write-wins", "--until-violation", "--seed", "7", "--out", "out")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitViolation {
		t.Fatalf("exit %d\n%s", code, out)
	}
	run := loaded(t, filepath.Join(cmd.Dir, "out"))
	if len(run.Rounds) != 1 || run.Rounds[0].Verdict != invariant.Violation || run.Ended != "Ended at the first violation, after 0 clean rounds of 1." {
		t.Errorf("the rounds are %+v, ended %q", run.Rounds, run.Ended)
	}
	if !strings.Contains(string(out), "✗ reverse-order\n") || !strings.Contains(string(out), run.Ended) {
		t.Errorf("it says\n%s", out)
	}
}

// TestUntilViolationCountsCleanRounds lets the time run out. A round that was cut is
// not counted; that none is over within the time proves nothing.
func TestUntilViolationCountsCleanRounds(t *testing.T) {
	for _, c := range []struct{ timeout string }{{"40s"}, {"10ms"}} {
		t.Run(c.timeout, func(t *testing.T) {
			cmd := processOf(t, "verify", "double-click", "--until-violation", "--timeout", c.timeout, "--seed", "7", "--out", "out")
			out, _ := cmd.CombinedOutput()
			code := cmd.ProcessState.ExitCode()
			if c.timeout == "10ms" {
				if code != cli.ExitInconclusive && code != cli.ExitInfrastructure {
					t.Errorf("exit %d\n%s", code, out)
				}
				return
			}
			if code != cli.ExitOK {
				t.Fatalf("exit %d\n%s", code, out)
			}
			run := loaded(t, filepath.Join(cmd.Dir, "out"))
			kept := 0
			for i, round := range run.Rounds {
				if round.Try != i+1 || round.Seed != int64(7+i) || round.Verdict != invariant.Pass || round.Plays != 2 {
					t.Errorf("round %d is %+v", i+1, round)
				}
				if !round.CountedOnly {
					kept++
				}
			}
			if len(run.Rounds) == 0 || kept != 1 || len(run.Plays) != 2 || !strings.HasPrefix(run.Ended, "No violation: ") || run.Interrupted {
				t.Errorf("%d rounds, %d kept, %d plays, ended %q", len(run.Rounds), kept, len(run.Plays), run.Ended)
			}
			if !strings.Contains(string(out), strings.TrimSuffix(run.Ended, ".")[:20]) {
				t.Errorf("it says\n%s", out)
			}
		})
	}
}

// TestTheTimeOfARunIsOver: what was not played is no pass, and nothing goes on.
func TestTheTimeOfARunIsOver(t *testing.T) {
	cmd := processOf(t, "verify", "--timeout", "3s", "--seed", "7", "--out", "out")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInconclusive && code != cli.ExitInfrastructure {
		t.Fatalf("exit %d\n%s", code, out)
	}
	stored, err := report.Load(filepath.Join(cmd.Dir, "out"))
	if err != nil { // the stage was not set in time
		return
	}
	if !stored.Run.Interrupted || len(stored.Scenarios) >= 60 {
		t.Errorf("%d scenarios were played, interrupted %v", len(stored.Scenarios), stored.Run.Interrupted)
	}
	if stored.Counts.Pass > 0 && stored.Counts.Infrastructure > 0 {
		t.Errorf("the end of the time is blamed on the stage: %+v\n%s", stored.Counts, out)
	}
}

// TestASignalLeavesWhatWasPlayed interrupts the second try: both processes leave what
// they have judged, and nothing is blamed on the stage.
func TestASignalLeavesWhatWasPlayed(t *testing.T) {
	cmd := processOf(t, "verify", "reverse-order", "double-click", "--repeat", "20", "--seed", "7", "--out", "out", "--json")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l heard
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Type == "play" && l.Try == 2 {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d\n%s", code, cli.ExitInterrupted, said.String())
	}
	run := loaded(t, filepath.Join(cmd.Dir, "out"))
	if len(run.Rounds) != 2 || !run.Interrupted || run.Rounds[0].Verdict != invariant.Pass || run.Counts().Infrastructure != 0 {
		t.Errorf("the rounds are %+v, interrupted %v, counts %+v", run.Rounds, run.Interrupted, run.Counts())
	}
}

// TestReplayPlaysAScenarioWithOneSeed: each try has it, and the worst counts.
func TestReplayPlaysAScenarioWithOneSeed(t *testing.T) {
	cmd := processOf(t, "replay", "double-click@11", "--times", "2", "--out", "out", "--json")
	code, lines, said := jsonOf(t, cmd)
	if code != cli.ExitOK {
		t.Fatalf("exit %d\n%s", code, said)
	}
	run := loaded(t, filepath.Join(cmd.Dir, "out"))
	if len(run.Rounds) != 2 || run.Rounds[0].Seed != 11 || run.Rounds[1].Seed != 11 || run.Seed != 11 {
		t.Errorf("the rounds are %+v", run.Rounds)
	}
	if last := lines[len(lines)-1]; last.Type != "run" || last.Exit != 0 {
		t.Errorf("the last line is %+v", last)
	}
}

// keeping starts a run that leaves a stack up, and reads until it says where.
func keeping(t *testing.T, args ...string) (*exec.Cmd, heard, *strings.Builder) {
	t.Helper()
	cmd := processOf(t, append([]string{"verify", "reverse-order", "--mutant", "last-write-wins", "--keep", "--seed", "7", "--json", "--out", "out"}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l heard
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Type == "kept" {
			return cmd, l, &said
		}
	}
	_ = cmd.Wait()
	t.Fatalf("nothing is kept\n%s", said.String())
	return nil, heard{}, nil
}

// TestKeepLeavesTheStackOfAViolationUp asks the service and the database of the
// violated scenario, ends the run by a signal, and finds nothing of it. The verdict
// stays the exit code.
func TestKeepLeavesTheStackOfAViolationUp(t *testing.T) {
	for name, args := range map[string][]string{"in this process": nil, "in a process of its own": {"--until-violation"}} {
		t.Run(name, func(t *testing.T) {
			cmd, l, said := keeping(t, args...)
			if resp, err := http.Get(l.Kept.Service + "/livez"); err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("the service does not answer: %v", err)
			} else {
				_ = resp.Body.Close()
			}
			address, err := os.ReadFile(l.Kept.URLFile)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			conn, err := pgx.Connect(ctx, strings.TrimSpace(string(address)))
			if err != nil {
				t.Fatal(err)
			}
			var won int
			if err := conn.QueryRow(ctx, "SELECT count(*) FROM attempts WHERE state = 'succeeded'").Scan(&won); err != nil || won != 2 {
				t.Errorf("the database holds %d winners (%v): it is not as the violation left it", won, err)
			}
			_ = conn.Close(ctx)
			run := loaded(t, filepath.Join(cmd.Dir, "out"))
			if run.Verdict() != invariant.Violation {
				t.Errorf("the report says %s", run.Verdict())
			}
			if err := syscall.Kill(l.PID, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != cli.ExitViolation {
				t.Errorf("exit %d, want %d\n%s", code, cli.ExitViolation, said.String())
			}
			if _, err := os.Stat(l.Kept.URLFile); err == nil {
				t.Error("the file with the secret is left")
			}
			if resp, err := http.Get(l.Kept.Service + "/livez"); err == nil {
				_ = resp.Body.Close()
				t.Error("the service still answers")
			}
			if conn, err := pgx.Connect(ctx, strings.TrimSpace(string(address))); err == nil {
				_ = conn.Close(ctx)
				t.Error("PostgreSQL still answers")
			}
		})
	}
}

// TestKeepOfACleanRunLeavesNothing: there is nothing to look at.
func TestKeepOfACleanRunLeavesNothing(t *testing.T) {
	code, lines, said := jsonOf(t, processOf(t, "verify", "double-click", "--keep", "--seed", "7", "--out", "out", "--json"))
	if code != cli.ExitOK || slices.ContainsFunc(lines, func(l heard) bool { return l.Type == "kept" }) {
		t.Errorf("exit %d, %+v\n%s", code, lines, said)
	}
}

// TestASignalMakesARunSayWhatItWaitsFor asks by SIGUSR1 and SIGQUIT until the answer
// names the scenario; the run goes on and passes. With --procs the question is handed on.
func TestASignalMakesARunSayWhatItWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		args   []string
	}{
		"here": {syscall.SIGQUIT, nil}, "in another process": {syscall.SIGUSR1, []string{"--repeat", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := processOf(t, append([]string{"verify", "reverse-order", "--seed", "7", "--out", "out", "--quiet"}, c.args...)...)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			named, said := make(chan struct{}), make(chan string, 1)
			go func() {
				var all strings.Builder
				lines := bufio.NewScanner(stderr)
				for seen := false; lines.Scan(); {
					all.WriteString(lines.Text() + "\n")
					if strings.HasPrefix(lines.Text(), "waits: reverse-order, for ") && !seen {
						seen = true
						close(named)
					}
				}
				said <- all.String()
			}()
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for asking := true; asking; {
				select {
				case <-named:
					asking = false
				case text := <-said:
					said <- text
					asking = false
				case <-tick.C:
					if _, err := os.Stat(filepath.Join(cmd.Dir, "out")); err == nil { // before that it is no program yet
						_ = cmd.Process.Signal(c.signal)
					}
				}
			}
			text := <-said
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != cli.ExitOK {
				t.Errorf("exit %d\n%s", code, text)
			}
			select {
			case <-named:
			default:
				t.Errorf("no answer names the scenario:\n%s", text)
			}
		})
	}
}

// TestATargetIsJudgedAgain repeats a scenario on a service that somebody else runs.
func TestATargetIsJudgedAgain(t *testing.T) {
	f := startForeignService(t)
	cmd := processOf(t, "verify", "double-click", "--target", f.url, "--target-keys", f.keys, "--repeat", "2", "--seed", "7", "--out", "out", "--json")
	code, lines, said := jsonOf(t, cmd)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %+v\n%s", code, lines, said)
	}
	run := loaded(t, filepath.Join(cmd.Dir, "out"))
	if len(run.Rounds) != 2 || run.Level != 0 || run.Target != f.url || run.Rounds[1].Verdict != invariant.Pass {
		t.Errorf("level %s of %s, rounds %+v", run.Level, run.Target, run.Rounds)
	}
}

// TestATargetIsOneStack: nothing of it is ours to keep, and two processes would break
// it for each other.
func TestATargetIsOneStack(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	write(t, keys, "a owner k1\nb owner k2\n")
	for want, args := range map[string][]string{"a target stays up by itself": {"--keep"}, "judged by one process at a time": {"--procs", "2"}} {
		code, out, said := run(t, append([]string{"verify", "double-click", "--target", "http://127.0.0.1:1", "--target-keys", keys}, args...)...)
		if code != cli.ExitUsage || out != "" || !strings.Contains(said, want) {
			t.Errorf("%v: exit %d, %q", args, code, said)
		}
	}
}
