package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/scenarios"
)

// mutation is one invocation of mutants.
type mutation struct {
	s        *streams
	scenario string
	seed     string
	procs    string
	out      string
	servers  serverFlags
	timeout  string
	list     bool
	failFast bool
	full     bool
}

func mutantsCommand(s *streams) *cobra.Command {
	m := &mutation{s: s}
	cmd := &cobra.Command{
		Use:   "mutants [MUTANT...]",
		Short: "prove that the scenarios can fail: each must catch the fault that is put in for it",
		Long: `Runs each mutant of the reference service (one deliberate, minimal fault) in the
scenario that must catch it, and the same scenarios on the clean service. A mutant
is caught only when the named invariant was violated in the named scenario, and
the clean service passed there in the same run.

With --full each mutant is played in every scenario, and those are listed that only
one scenario kills. That takes long: a minute for each mutant. When --timeout is over
the matrix holds what was played until then.

With --verbose the text of each violation is shown as verify shows it.

exit 0 all caught, 1 a mutant survived, 2 a mutant is not decided, 3 infrastructure`,
		Example: `  interlock mutants
  interlock mutants last-write-wins --verbose
  interlock mutants last-write-wins --scenario simultaneous-finish
  interlock mutants --full --timeout 3h
  interlock mutants --list`,
		Args: m.names,
		RunE: func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&m.scenario, "scenario", "", "run the mutants in this scenario instead of their own")
	flags.StringVar(&m.seed, "seed", "", "seed of the order (default: drawn and printed)")
	flags.StringVar(&m.procs, "procs", strconv.Itoa(runtime.NumCPU()), "stages at once, 1 to 64")
	flags.StringVar(&m.out, "out", "", "folder of matrix.json and report.html (default ./interlock-out/TIME-SEED)")
	m.servers.postgres(cmd)
	flags.StringVar(&m.timeout, "timeout", "10m", "give up after this time")
	flags.BoolVar(&m.full, "full", false, "play each mutant in every scenario, and say which mutants only one of them kills")
	flags.BoolVar(&m.failFast, "fail-fast", false, "start no further mutant after the first that is not caught")
	flags.BoolVar(&m.list, "list", false, "list the mutants instead of running them")
	return cmd
}

func (m *mutation) names(_ *cobra.Command, args []string) error {
	for _, name := range args {
		if _, ok := mutant.Find(name); !ok {
			return usagef("no mutant %q.%s interlock mutants --list shows all.", name, didYouMean(name, mutant.Names()))
		}
	}
	return nil
}

func (m *mutation) run(ctx context.Context, args []string) error {
	seed, err := parseSeed(m.seed)
	if err != nil {
		return err
	}
	limit, err := parseTimeout(m.timeout)
	if err != nil {
		return err
	}
	procs, err := parseProcs(m.procs)
	if err != nil {
		return err
	}
	if m.scenario != "" {
		if _, ok := scenarios.Find(m.scenario); !ok {
			return usagef("no scenario %q.%s interlock verify --list shows all.", m.scenario, didYouMean(m.scenario, slugs()))
		}
	}
	if m.full && (m.scenario != "" || m.failFast) {
		return usagef("--full plays each mutant in every scenario, and --scenario and --fail-fast play less: leave out one of them")
	}
	chosen := chooseMutants(args)
	if m.list {
		return m.print(chosen)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return m.play(ctx, seed, procs, chosen)
}

// chooseMutants returns the named mutants, or all whose scenario there is.
func chooseMutants(names []string) []mutant.Mutant {
	var chosen []mutant.Mutant
	for _, m := range mutant.All() {
		_, playable := scenarios.Find(m.Scenario)
		if slices.Contains(names, m.Name) || len(names) == 0 && playable {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

func (m *mutation) print(chosen []mutant.Mutant) error {
	for _, c := range chosen {
		if m.s.json {
			if err := json.NewEncoder(m.s.out).Encode(c); err != nil {
				return infrastructuref("write: %v", err)
			}
			continue
		}
		_, _ = fmt.Fprintf(m.s.out, "%-28s %-36s %-4s %s\n", c.Name, c.Scenario, c.Invariant, c.Description)
	}
	return nil
}

// task is one run of verify in a child process: all clean scenarios, or one
// mutant in one scenario.
type task struct {
	mutant string
	slugs  []string
}

func (m *mutation) play(ctx context.Context, seed int64, procs int, chosen []mutant.Mutant) error {
	dir := m.out
	if dir == "" {
		dir = report.DefaultDir(seed, time.Now())
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return infrastructuref("%v; choose a folder that can be written to with --out", err)
	}
	url := m.servers.databaseURL()
	server, err := pgserver.Start(ctx, pgserver.Options{URL: url, Note: func(text string) { _, _ = fmt.Fprintln(m.s.err, printable(text)) }})
	if err != nil {
		return brokenOff(ctx, "%v", err)
	}
	defer func() { _ = server.Close() }()
	if url == "" {
		url = server.URL("postgres")
	}

	tasks := m.tasks(chosen)
	progress := m.s.progress()
	played, err := m.playAll(ctx, tasks, procs, progress, func(ctx context.Context, t task) ([]mutant.Played, error) {
		return playTask(ctx, m.s, t, seed, url, dir)
	})
	progress.clear()
	_, ended := endedBy(ctx)
	switch {
	case ended:
		_, _ = fmt.Fprintln(m.s.err, "Interrupted: the matrix holds what was played until then.")
		err = nil
	case m.full && errors.Is(err, context.DeadlineExceeded):
		_, _ = fmt.Fprintf(m.s.err, "the time of --timeout is over: the matrix holds what was played until then\n")
		err = nil
	}
	if err != nil {
		return infrastructuref("%v", err)
	}
	matrix := mutant.NewMatrix(seed, chosen, played)
	if m.full {
		matrix = matrix.Whole()
	}
	if err := report.WriteJSON(dir, report.MatrixFile, matrix); err != nil {
		return infrastructuref("%v", err)
	}
	if err := writeSheet(dir, mutantsSheet(matrix, os.Args[min(1, len(os.Args)):])); err != nil {
		return infrastructuref("%v", err)
	}
	if m.s.json {
		if err := json.NewEncoder(m.s.out).Encode(matrix); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(matrix.ExitCode())
	}
	if m.s.verbose {
		if err := m.texts(dir, matrix.Rows); err != nil {
			return infrastructuref("%v", err)
		}
	}
	text := matrix.Text()
	if ended { // the exit code is that of the signal
		text = strings.TrimSuffix(text, fmt.Sprintf("exit %d\n", matrix.ExitCode()))
	}
	_, _ = fmt.Fprint(m.s.out, text)
	_, _ = fmt.Fprintf(m.s.out, "matrix: %s\nReport: %s\n", filepath.Join(dir, report.MatrixFile), filepath.Join(dir, report.HTMLFile))
	return exitWith(matrix.ExitCode())
}

// tasks begins with the clean service in every scenario that a mutant needs.
func (m *mutation) tasks(chosen []mutant.Mutant) []task {
	var clean []string
	tasks := []task{{}}
	if m.full {
		for _, i := range scenarios.All() {
			if i.Group != scenarios.Canary && !slices.Contains(clean, i.Slug) { // a canary says nothing about the service
				clean = append(clean, i.Slug)
			}
		}
	}
	for _, c := range chosen {
		if m.full {
			tasks = append(tasks, task{mutant: c.Name, slugs: clean})
			continue
		}
		slug := c.Scenario
		if m.scenario != "" {
			slug = m.scenario
		}
		if !slices.Contains(clean, slug) {
			clean = append(clean, slug)
		}
		tasks = append(tasks, task{mutant: c.Name, slugs: []string{slug}})
	}
	tasks[0].slugs = clean
	return tasks
}

// playAll runs the tasks, procs at a time.
func (m *mutation) playAll(ctx context.Context, tasks []task, procs int, progress *line, play func(context.Context, task) ([]mutant.Played, error)) ([]mutant.Played, error) {
	var mu sync.Mutex
	var played []mutant.Played
	var failed error
	done, stopped := 0, false
	queue := make(chan task, len(tasks))
	for _, t := range tasks {
		queue <- t
	}
	close(queue)
	var workers sync.WaitGroup
	for range min(procs, len(tasks)) {
		workers.Go(func() {
			for t := range queue {
				results, err := play(ctx, t)
				mu.Lock()
				played = append(played, results...)
				if err != nil && failed == nil {
					failed = err
				}
				done++
				if m.failFast && t.mutant != "" && !m.caught(t.mutant, results) {
					stopped = true
				}
				end := stopped
				progress.set(fmt.Sprintf("%d/%d %s", done, len(tasks), t.mutant))
				mu.Unlock()
				if ctx.Err() != nil || end {
					return
				}
			}
		})
	}
	workers.Wait()
	if failed == nil {
		failed = context.Cause(ctx)
	}
	return played, failed
}

// caught says whether a mutant broke what it must, as far as its own play shows.
func (m *mutation) caught(name string, played []mutant.Played) bool {
	named, _ := mutant.Find(name)
	return slices.ContainsFunc(played, func(p mutant.Played) bool { return slices.Contains(p.Violated, named.Invariant) })
}

func parseProcs(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 64 {
		return 0, usagef("--procs is %q, but must be a whole number from 1 to 64", text)
	}
	return n, nil
}
