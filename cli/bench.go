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
	o := bench.Options{Statements: service.Statements()}
	cmd := &cobra.Command{
		Use:   "service",
		Short: "rates beside those of pgbench, races, growth and memory, with fsync on",
		Long: `Starts a private PostgreSQL with fsync on, the service as a child process and a provider that
answers at once, and measures both sides by turns: the service over HTTP and pgbench with the same
statements. Each line names what must hold.

exit 0 all of it holds, 1 something does not, 3 it could not be measured`,
		Example: `  interlock bench service
  interlock bench service --only new,lives --duration 20s
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
	flags.StringSliceVar(&o.Only, "only", nil, "measure these only: "+strings.Join(bench.Names(), ", "))
	return cmd
}

// Bounds of the flags: what is beyond is a slip.
const (
	mostBenchCount = 50_000_000
	mostClients    = 150 // the private server takes 200 connections
)

func runBench(ctx context.Context, s *streams, o bench.Options) error {
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
	executable, err := os.Executable()
	if err != nil {
		return infrastructuref("this program cannot be found to start the service: %v", err)
	}
	progress := s.progress()
	o.Command, o.Note = []string{executable}, progress.set
	rows, err := bench.Run(ctx, o)
	progress.clear()
	if showErr := showBench(s, rows); showErr != nil {
		return infrastructuref("write: %v", showErr)
	}
	if _, ended := endedBy(ctx); ended && err != nil && len(rows) > 0 {
		_, _ = fmt.Fprintln(s.err, "Interrupted: this is what was measured until then.")
	}
	if err != nil {
		return brokenOff(ctx, "%v", err)
	}
	for _, r := range rows {
		if !r.Holds {
			return exitWith(ExitViolation)
		}
	}
	return nil
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
	for _, r := range rows {
		mark, beside, bound := "✓", "", ""
		if !r.Holds {
			mark = "✗"
		}
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
