package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/bench"
	"github.com/interlock-harness/interlock/service"
)

func benchCommand(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "measure the reference service beside its database",
		Example: "  interlock bench service",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("no command %q.%s %s --help shows all.", args[0], didYouMean(args[0], commandNames(cmd)), cmd.CommandPath())
			}
			return usagef("bench needs service; interlock bench --help shows it")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(benchServiceCommand(s))
	return cmd
}

func benchServiceCommand(s *streams) *cobra.Command {
	o := benchOptions{Options: bench.Options{Statements: service.Statements()}}
	cmd := &cobra.Command{
		Use:   "service",
		Short: "rates beside those of pgbench, races, growth and memory, with fsync on",
		Long: `Starts a private PostgreSQL with fsync on, the service as a child process and a provider that
answers at once, and measures both sides by turns: the service over HTTP and pgbench with the same
statements. Each line names what must hold.

--budget FILE bounds figures of your machine: a TOML table for each measure, such as
[new] with at-least = 3000. --baseline FILE is what an earlier run wrote with --json: a
measure whose ratio is worse by more than a fifth is a no. Where the three turns of a
measure lie further apart than that, nothing is said about it.

exit 0 all of it holds, 1 something does not, or is worse, or misses its budget,
2 the turns lie too far apart to compare, 3 it could not be measured`,
		Example: `  interlock bench service
  interlock bench service --only new,lives --duration 20s
  interlock bench service --baseline last-week.json --budget budget.toml
  (cd bench/river && go build -o /tmp/river .) && interlock bench service --river /tmp/river
  interlock bench service --raced 100000 --finished 5000000 --held 1m --duration 20m`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBench(cmd.Context(), s, o) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&o.Duration, "duration", time.Minute, "of the whole run, about: the measuring; counts below add to it")
	flags.IntVar(&o.Clients, "clients", 32, "connections that ask at once")
	flags.IntVar(&o.Raced, "raced", 300, "jobs whose two attempts finish at once")
	flags.IntVar(&o.Finished, "finished", 100_000, "finished jobs in the tables for the growth")
	flags.DurationVar(&o.Held, "held", 0, "how long a transaction is held open at a time, three times (default: a 45th of the duration)")
	flags.IntVar(&o.InFlight, "in-flight", 1000, "attempts in flight for the memory")
	flags.StringVar(&o.River, "river", "", "the built program of bench/river: measure it beside the service")
	flags.StringVar(&o.baseline, "baseline", "", "compare with this file of an earlier bench service --json")
	flags.StringVar(&o.budget, "budget", "", "file of bounds for the figures: TOML tables named like measures, with at-least or at-most")
	flags.StringSliceVar(&o.Only, "only", nil, "measure these only: "+strings.Join(bench.Names(), ", "))
	return cmd
}

// Bounds of the flags: what is beyond is a slip.
const (
	mostBenchCount = 50_000_000
	mostClients    = 150 // the private server takes 200 connections
)

// benchOptions are those of the measuring, and what its rows are compared with.
type benchOptions struct {
	bench.Options
	baseline, budget string
}

// read reads what the rows are compared with, before anything is measured.
func (o *benchOptions) read() (baseline []bench.Row, budgets map[string]bench.Budget, err error) {
	if o.baseline != "" {
		if baseline, err = bench.ReadBaseline(o.baseline); err != nil {
			return nil, nil, usagef("--baseline: %v", err)
		}
	}
	if o.budget != "" {
		if budgets, err = bench.ReadBudget(o.budget); err != nil {
			return nil, nil, usagef("--budget: %v", err)
		}
	}
	for name := range budgets {
		if len(o.Only) > 0 && !slices.Contains(o.Only, name) {
			return nil, nil, usagef("--budget bounds %s, and --only leaves it out: add it, or take it out of the file", name)
		}
		if name == "river" && o.River == "" {
			return nil, nil, usagef("--budget bounds river, which is measured with --river only")
		}
	}
	return baseline, budgets, nil
}

func runBench(ctx context.Context, s *streams, o benchOptions) error {
	for _, name := range o.Only {
		if !slices.Contains(bench.Names(), name) {
			return usagef("there is no measure %q.%s There are %s.", name, didYouMean(name, bench.Names()), strings.Join(bench.Names(), ", "))
		}
	}
	for flag, n := range map[string]int{"raced": o.Raced, "finished": o.Finished, "in-flight": o.InFlight} {
		if n < 1 || n > mostBenchCount {
			return usagef("--%s is %d, but must be 1 to %d", flag, n, mostBenchCount)
		}
	}
	switch {
	case o.Clients < 1 || o.Clients > mostClients:
		return usagef("--clients is %d, but must be 1 to %d", o.Clients, mostClients)
	case o.Duration < time.Second || o.Duration > 24*time.Hour:
		return usagef("--duration is %s, but must be 1s to 24h", o.Duration)
	case o.Held < 0 || o.Held > time.Hour:
		return usagef("--held is %s, but must be 0 to 1h", o.Held)
	}
	if o.River != "" {
		if found, err := exec.LookPath(o.River); err != nil {
			return usagef("--river: %s is no program; build it in bench/river with go build", o.River)
		} else if o.River, err = filepath.Abs(found); err != nil {
			return infrastructuref("%v", err)
		}
	}
	baseline, budgets, err := o.read()
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return infrastructuref("this program cannot be found to start the service: %v", err)
	}
	progress := s.progress()
	o.Command, o.Note = []string{executable}, progress.set
	rows, err := bench.Run(ctx, o.Options)
	progress.clear()
	rows = bench.Against(rows, baseline, budgets)
	if showErr := showBench(s, rows); showErr != nil {
		return infrastructuref("write: %v", showErr)
	}
	if _, ended := endedBy(ctx); ended && err != nil && len(rows) > 0 {
		_, _ = fmt.Fprintln(s.err, "Interrupted: this is what was measured until then.")
	}
	if err != nil {
		return brokenOff(ctx, "%v", err)
	}
	return exitWith(benchCode(rows))
}

// benchCode is the exit code of rows: what does not hold outranks what is unclear.
func benchCode(rows []bench.Row) int {
	code := ExitOK
	for _, r := range rows {
		switch {
		case !r.Holds || r.Missed || r.Compared == bench.Worse:
			return ExitViolation
		case r.Compared == bench.Unclear:
			code = ExitInconclusive
		}
	}
	return code
}

func showBench(s *streams, rows []bench.Row) error {
	if s.json {
		encoder := json.NewEncoder(s.out)
		for _, r := range rows {
			if err := encoder.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "  measure\tours\tbeside\tratio\tmust be\t\t")
	compared := false
	for _, r := range rows {
		mark, beside, bound := "✓", "", ""
		switch benchCode([]bench.Row{r}) {
		case ExitViolation:
			mark = "✗"
		case ExitInconclusive:
			mark = "?"
		}
		compared = compared || r.Before != nil || r.Budget != nil
		switch {
		case r.Most:
			bound = "≤ " + figure(r.Bound)
		case r.Bound > 0:
			bound = "≥ " + figure(r.Bound)
		}
		if r.Theirs > 0 {
			beside = fmt.Sprintf("%s (%s)", figure(r.Theirs), r.Against)
		}
		_, _ = fmt.Fprintf(table, "%s %s\t%s %s\t%s\t%s\t%s\t%s\n", mark, r.Measure, figure(r.Ours), r.Unit, beside, figure(r.Ratio), bound, r.Detail)
	}
	if err := table.Flush(); err != nil || !compared {
		return err
	}
	return showCompared(s, rows)
}

// showCompared shows the rows that have a budget or stand in the baseline.
func showCompared(s *streams, rows []bench.Row) error {
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\n  measure\tnow\tbudget\tratio before\tratio now\tchange\t3 turns, spread\t")
	for _, r := range rows {
		if r.Before == nil && r.Budget == nil {
			continue
		}
		budget, before, change, spread := "", "", "", ""
		if b := r.Budget; b != nil {
			if b.AtLeast > 0 {
				budget = "≥ " + figure(b.AtLeast)
			}
			if b.AtMost > 0 {
				budget = strings.TrimSpace(budget + " ≤ " + figure(b.AtMost))
			}
			if r.Missed {
				budget += ", missed"
			}
		}
		if r.Before != nil {
			before, change = figure(*r.Before), r.Compared
			if *r.Before != 0 {
				change = fmt.Sprintf("%+.0f %%, %s", 100*(r.Ratio / *r.Before - 1), r.Compared)
			}
		}
		if r.Spread > 0 {
			spread = fmt.Sprintf("%.0f %%", 100*r.Spread)
		}
		_, _ = fmt.Fprintf(table, "  %s\t%s %s\t%s\t%s\t%s\t%s\t%s\t\n", r.Measure, figure(r.Ours), r.Unit, budget, before, figure(r.Ratio), change, spread)
	}
	return table.Flush()
}

// figure shows a number with three digits or so.
func figure(f float64) string {
	switch {
	case f == float64(int64(f)) || f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
