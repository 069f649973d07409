package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
)

// toEndChild is how long a child may take to clean up after it was told to end.
const toEndChild = 20 * time.Second

// playTask runs verify in a child process of this executable and reads what each
// scenario came out as. The database's address goes through the environment.
func playTask(ctx context.Context, s *streams, t task, seed int64, url, dir string) ([]mutant.Played, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := t.mutant
	if name == "" {
		name = "clean"
	}
	args := append([]string{"verify"}, t.slugs...)
	args = append(args, plainRun(false)...)
	args = append(args, "--seed", strconv.FormatInt(seed, 10), "--out", filepath.Join(dir, name))
	if t.mutant != "" {
		args = append(args, "--mutant", t.mutant)
	}
	var stdout bytes.Buffer
	stderr := &childTalk{to: s.err}
	child := exec.CommandContext(ctx, self, args...)
	child.Env = append(os.Environ(), "DATABASE_URL="+url)
	child.Stdout, child.Stderr = &stdout, stderr
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = toEndChild
	run := s.waits.start(child.Start)
	if run == nil {
		forget := s.waits.ask(func(asked syscall.Signal) error { return child.Process.Signal(asked) })
		run = child.Wait()
		forget()
	}
	played, err := readPlays(t, stdout.Bytes())
	if err != nil {
		return nil, err
	}
	for i := range played {
		if played[i].Verdict == "" {
			played[i].Verdict, played[i].Why = string(invariant.Infrastructure), lastLine(stderr.text(), run)
		}
	}
	return played, nil
}

// readPlays folds the plays of each scenario of the task into one: the worst
// verdict and all that was violated. A scenario that was not played keeps an
// empty verdict.
func readPlays(t task, stdout []byte) ([]mutant.Played, error) {
	played := make([]mutant.Played, len(t.slugs))
	for i, slug := range t.slugs {
		played[i] = mutant.Played{Mutant: t.mutant, Scenario: slug}
	}
	lines := bufio.NewScanner(bytes.NewReader(stdout))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct {
			Type string `json:"type"`
			report.Play
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("read what verify said: %w", err)
		}
		i := slices.Index(t.slugs, event.Slug)
		if event.Type != "play" || i < 0 {
			continue
		}
		p := &played[i]
		p.Verdict = string(worse(p.Verdict, event.Play))
		for _, f := range event.Result.Findings {
			if f.Verdict == invariant.Violation && f.Invariant != "" && !slices.Contains(p.Violated, string(f.Invariant)) {
				p.Violated = append(p.Violated, string(f.Invariant))
			}
			if f.Verdict == invariant.Inconclusive && p.Why == "" {
				p.Why = f.Sentence
			}
		}
		if event.Trouble != "" {
			p.Why = firstLine(event.Trouble)
		}
	}
	return played, lines.Err()
}

// worse folds the verdict of one more play. A play that came out as its scenario
// wants counts as passed.
func worse(so string, p report.Play) invariant.Verdict {
	verdict := p.Verdict
	if p.Met() {
		verdict = invariant.Pass
	}
	if so == "" {
		return verdict
	}
	return invariant.Worse(invariant.Verdict(so), verdict)
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return text
}

func lastLine(text string, err error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	if err != nil {
		return err.Error()
	}
	return "it was not played"
}
