package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/service"
)

// exploration is one invocation of explore.
type exploration struct {
	s       *streams
	servers serverFlags
	mutant  string
	timeout string
	orders  orderFlags
	plans   planFlags
	target  exploredTarget
}

// orderFlags belong to --interleave.
type orderFlags struct {
	interleave     bool
	pairs, triples bool
	everyOrder     bool
	untilViolation bool
	mutants        bool
	only           []string
	replay         string
	times          int
	lanes          string
}

const mostLanes = 64

func exploreCommand(s *streams) *cobra.Command {
	e := &exploration{s: s}
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "look for a violation where no scenario looks",
		Long: `explore --plans plays plans of 1 to 5 faults over 1 to 50 jobs, drawn from a seed,
judges each by all invariants, and shrinks the first that breaks one to a plan file
that interlock replay plays again.

explore --interleave plays every order of the statements of two and three of the
reference store's transactions on a real PostgreSQL, and judges each. With --target
it does so for two operations at once on a service that somebody else runs: a relay
before its database holds the statements (level L2).

exit 0 no violation, 1 violation, 2 inconclusive or nothing ran, 3 infrastructure`,
		Example: `  interlock explore --plans 200 --seed 1
  interlock explore --plans 2000 --seed 1 --shard 1/4
  interlock explore --interleave
  interlock explore --interleave --pairs
  interlock explore --interleave --mutants
  interlock explore --interleave --mutants --only guard:cancel-job:1
  interlock explore --interleave --replay raced/complete+complete:01010
  interlock explore --interleave --target http://127.0.0.1:8080 --target-keys keys.txt \
    --provider openai-demo=127.0.0.1:18081,anthropic-demo=127.0.0.1:18082 --target-pg-listen 127.0.0.1:15432`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.target.or(cmd, e) },
	}
	flags := cmd.Flags()
	flags.IntVar(&e.plans.plans, "plans", 0, "play so many plans, 1 to 1000000; above 100000 in parts, with --shard")
	flags.StringVar(&e.plans.seed, "seed", "", "with --plans: the seed they are drawn from (default: drawn and printed)")
	flags.StringVar(&e.plans.shard, "shard", "", "with --plans: play part I of N of them, such as 2/8; interlock report merge unites the parts")
	flags.StringVar(&e.plans.out, "out", "", "with --plans: folder of the summary, the history and the plan (default ./interlock-out/TIME-SEED)")
	flags.BoolVar(&e.orders.interleave, "interleave", false, "play every order of the store's statements")
	flags.BoolVar(&e.orders.pairs, "pairs", false, "with --interleave: pairs of transactions only")
	flags.BoolVar(&e.orders.triples, "triples", false, "with --interleave: triples of transactions only")
	flags.BoolVar(&e.orders.everyOrder, "every-order", false, "with --interleave: do not take orders for one that differ only in when a plain read ran (several times as many)")
	flags.BoolVar(&e.orders.untilViolation, "until-violation", false, "with --interleave: end at the first violation")
	flags.BoolVar(&e.orders.mutants, "mutants", false, "with --interleave: look whether the pairs find each mutant of the store's statements and schema, and each guard line that is taken away, alone or with another one that repeats it; exit 1 when one survives")
	flags.StringSliceVar(&e.orders.only, "only", nil, "with --mutants: these alone, and their pairs")
	flags.StringVar(&e.orders.replay, "replay", "", "with --interleave: play this schedule, as a violation names it")
	flags.IntVar(&e.orders.times, "times", 1, "with --replay: so many times, 1 to 10000")
	flags.StringVar(&e.orders.lanes, "lanes", "", "plans, or orders, that are played at once, 1 to 64 (default: plans 2 a processor, orders 3)")
	e.target.register(cmd)
	e.servers.postgres(cmd)
	e.servers.proxy(cmd)
	flags.StringVar(&e.timeout, "timeout", "10m", "give up after this time")
	flags.StringVar(&e.mutant, "mutant", "", "run the service with this fault")
	_ = flags.MarkHidden("mutant")
	return cmd
}

func (e *exploration) run(ctx context.Context) error {
	limit, err := parseTimeout(e.timeout)
	if err != nil {
		return err
	}
	if err := e.servers.check(); err != nil {
		return err
	}
	guard := e.orders.interleave && strings.HasPrefix(e.mutant, "guard:") // the explorer knows which there are
	if _, known := mutant.Find(e.mutant); e.mutant != "" && !known && !guard {
		return usagef("no mutant %q.%s interlock mutants --list shows all.", e.mutant, didYouMean(e.mutant, mutant.Names()))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	switch {
	case e.orders.mutants && (!e.orders.interleave || e.orders.replay != "" || e.orders.triples || e.orders.everyOrder || e.mutant != ""):
		return usagef("--mutants belongs to --interleave and plays pairs until each mutant is found; leave --replay, --triples, --every-order and --mutant out")
	case len(e.orders.only) > 0 && !e.orders.mutants:
		return usagef("--only belongs to --mutants")
	case e.orders.interleave && e.plans.plans != 0:
		return usagef("--interleave and --plans are two searches; give one of them")
	case e.orders.interleave:
		return e.interleave(ctx)
	case e.plans.plans < 1 || e.plans.plans > 1_000_000:
		return usagef("explore needs --plans, 1 to 1000000, or --interleave; interlock explore --help says what they do")
	}
	return e.search(ctx, time.Now())
}

// lanes reads --lanes. In most lanes of orders nothing runs for a moment, since a
// statement waits for a lock and the others for what PostgreSQL says of that.
func (e *exploration) lanes() (int, error) {
	if e.orders.lanes == "" {
		if e.orders.interleave {
			return min(3*runtime.NumCPU(), mostLanes), nil
		}
		return min(2*runtime.NumCPU(), mostLanes), nil
	}
	lanes, err := strconv.Atoi(e.orders.lanes)
	if err != nil || lanes < 1 || lanes > mostLanes {
		return 0, usagef("--lanes is %q, but must be a whole number from 1 to %d", e.orders.lanes, mostLanes)
	}
	return lanes, nil
}

// checkOrders refuses names of --interleave that there are not, before a server starts.
func (e *exploration) checkOrders() error {
	known := service.OrderMutants()
	asked := e.orders.only
	if strings.HasPrefix(e.mutant, "guard:") {
		asked = append(slices.Clone(asked), e.mutant)
	}
	for _, name := range asked {
		if bare := strings.TrimSuffix(name, "+schema"); !service.IsOrderMutant(name) {
			near := didYouMean(bare, known)
			if near == "" {
				near = " There are " + strings.Join(known, ", ")
			}
			return usagef("%q is no mutant that the pairs are asked to find.%s", name, near)
		}
	}
	if e.orders.times < 1 || e.orders.times > 10_000 {
		return usagef("--times is %d, but must be 1 to 10000", e.orders.times)
	}
	if e.orders.replay != "" {
		if err := service.CheckSchedule(e.orders.replay); err != nil {
			return usagef("--replay: %v", err)
		}
	}
	return nil
}

// interleave gives the service's own explorer empty databases to play on.
func (e *exploration) interleave(ctx context.Context) error {
	lanes, err := e.lanes()
	if err != nil {
		return err
	}
	if err := e.checkOrders(); err != nil {
		return err
	}
	if e.orders.replay != "" {
		lanes = 1
	}
	server, err := pgserver.Start(ctx, pgserver.Options{
		URL: e.servers.databaseURL(), Settings: map[string]string{"max_connections": strconv.Itoa(50 + 8*lanes), "autovacuum": "off", "update_process_title": "off", "wal_level": "minimal", "max_wal_senders": "0", "bgwriter_lru_maxpages": "0", "checkpoint_timeout": "1h"},
		Note: func(text string) { _, _ = fmt.Fprintln(e.s.err, printable(text)) },
	})
	if err != nil {
		return brokenOff(ctx, "%v", err)
	}
	defer func() { _ = server.Close() }()
	args := []string{"interleave", "--pairs=" + strconv.FormatBool(e.orders.pairs), "--triples=" + strconv.FormatBool(e.orders.triples),
		"--every-order=" + strconv.FormatBool(e.orders.everyOrder), "--until-violation=" + strconv.FormatBool(e.orders.untilViolation),
		"--mutants=" + strconv.FormatBool(e.orders.mutants), "--replay", e.orders.replay, "--times", strconv.Itoa(e.orders.times), "--mutant", e.mutant, "--json=" + strconv.FormatBool(e.s.json)}
	for _, name := range e.orders.only {
		args = append(args, "--only", name)
	}
	for range lanes {
		name, err := server.Create(ctx, "")
		if err != nil {
			return brokenOff(ctx, "%v", err)
		}
		args = append(args, "--database", server.LocalURL(name))
	}
	return exitWith(service.Run(ctx, args, e.s.out, e.s.err))
}
