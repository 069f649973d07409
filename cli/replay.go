package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/plan"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/scenarios"
)

// repetition is one invocation of replay.
type repetition struct {
	s       *streams
	servers serverFlags
	target  targetFlags
	times   int
	shrink  bool
	step    bool
	out     string
	timeout string
}

func replayCommand(s *streams) *cobra.Command {
	r := &repetition{s: s}
	cmd := &cobra.Command{
		Use:   "replay FILE|SCENARIO@SEED",
		Short: "play a plan of explore, or a scenario of verify, again and again",
		Long: `Plays the plan in FILE again, on a stage of its own, and says how often the same
invariant was broken. A plan that names a mutant is played with it.

SCENARIO@SEED is a scenario as verify played it with that seed: each of the tries has
the same seed, and all of them are in the report.

With --step it is played once, and what was recorded is shown one event at a time.

exit 0 no violation, 1 violation, 2 inconclusive, 3 infrastructure`,
		Example: `  interlock replay interlock-out/latest/plans/1-17.json
  interlock replay plan.json --times 100
  interlock replay plan.json --shrink
  interlock replay reverse-order@7 --times 5
  interlock replay reverse-order@7 --step`,
		Args: exactly(1, "a plan file or SCENARIO@SEED"),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.IntVar(&r.times, "times", 20, "so often, 1 to 10000")
	flags.BoolVar(&r.shrink, "shrink", false, "shrink the plan to the fewest steps that break the same invariant, and write it over FILE")
	flags.BoolVar(&r.step, "step", false, "play it once and show what was recorded, one event at a time; needs a terminal")
	flags.StringVar(&r.out, "out", "", "with SCENARIO@SEED: folder of the report (default ./interlock-out/TIME-SEED)")
	r.servers.postgres(cmd)
	r.servers.proxy(cmd)
	r.target.register(cmd)
	flags.StringVar(&r.timeout, "timeout", "10m", "give up after this time")
	return cmd
}

// scenarioAt is SCENARIO@SEED.
var scenarioAt = regexp.MustCompile(`^([^@/]+)@([^@/]*)$`)

func (r *repetition) run(cmd *cobra.Command, what string) error {
	limit, err := parseTimeout(r.timeout)
	if err != nil {
		return err
	}
	if err := r.servers.check(); err != nil {
		return err
	}
	if r.times < 1 || r.times > 10_000 {
		return usagef("--times is %d, but must be 1 to 10000", r.times)
	}
	switch {
	case r.step && cmd.Flags().Changed("times") && r.times > 1:
		return usagef("--step plays once, and --times says %d: leave one of them out", r.times)
	case r.step && r.s.json:
		return usagef("--step is for a person, and --json for a program: leave one of them out")
	case r.step && (!r.s.asks() || !isTerminal(r.s.out)):
		return usagef("--step shows one event at a time, and nobody is at a terminal here: leave it out, and read history.jsonl or report.html")
	case r.step:
		r.times = 1
	}
	_, err = os.Stat(what)
	if m := scenarioAt.FindStringSubmatch(what); m != nil && err != nil {
		return r.scenario(cmd, m[1], m[2])
	}
	if _, known := scenarios.Find(what); known && err != nil {
		return usagef("%s is a scenario: say with which seed, such as %[1]s@7", what)
	}
	if len(r.target.urls) > 0 || r.out != "" {
		return usagef("%s is a plan, which is played on the built-in service and writes no report: leave --target and --out out", shellWord(what))
	}
	if _, err := r.target.foreign(cmd); err != nil {
		return err
	}
	return r.plan(cmd.Context(), limit, what)
}

// scenario plays one as verify does, each try with the same seed.
func (r *repetition) scenario(cmd *cobra.Command, name, seed string) error {
	v := &verification{
		s: r.s, seed: seed, out: r.out, servers: r.servers, target: r.target, timeout: r.timeout,
		repeat: repeatFlags{times: r.times, procs: "1", sameSeed: true},
	}
	if err := v.names(cmd, []string{name}); err != nil {
		return err
	}
	if n, err := strconv.ParseInt(seed, 10, 64); err != nil || n < 0 || seed[0] == '+' {
		return usagef("%s@%s needs a seed behind the @, a whole number from 0 to 9223372036854775807", name, seed)
	}
	switch {
	case r.shrink:
		return usagef("--shrink takes steps from a plan, and %s is a scenario, which has none: interlock explore --plans 200 looks for a plan that breaks the same", name)
	case r.times > mostTries:
		return usagef("--times is %d, but must be 1 to %d for a scenario", r.times, mostTries)
	}
	var err error
	if v.foreign, err = v.target.foreign(cmd); err != nil {
		return err
	}
	if r.step {
		v.repeat.sameSeed = false // here and now, in this process
		v.after = func(run *report.Run, events map[string][]history.Event) error {
			steps := &stepper{in: r.s.in, out: r.s.out}
			for _, p := range run.Plays {
				if err := steps.show(p.History, events[p.History], p.Result.Findings); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return v.run(cmd.Context(), []string{name})
}

func (r *repetition) plan(ctx context.Context, limit time.Duration, file string) error {
	p, err := plan.Load(file)
	if err != nil {
		return usagef("%v", err)
	}
	if _, known := mutant.Find(p.Mutant); p.Mutant != "" && !known {
		return usagef("%s names the mutant %q, which there is not; interlock mutants --list shows all", file, p.Mutant)
	}
	if r.shrink && p.Invariant == "" {
		return usagef("%s names no invariant that it breaks, so there is nothing to keep while it shrinks", file)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	field := plan.Field{
		PGURL: r.servers.databaseURL(), Toxiproxy: r.servers.toxiproxy, Mutant: p.Mutant, Plays: r.times + shrinkPlays,
		Note: func(text string) { _, _ = fmt.Fprintln(r.s.err, printable(text)) },
	}
	s, err := field.Open(ctx)
	if err != nil {
		return brokenOff(ctx, "%v. interlock doctor says what this machine has", err)
	}
	defer func() { _ = s.Close() }()
	defer r.s.waits.add(s.Waiting)()
	drawn := p
	if r.shrink {
		small, err := plan.Smaller(ctx, s, p)
		if err != nil {
			return brokenOff(ctx, "%v", err)
		}
		if p = small.Plan; p.Write(file) != nil {
			return infrastructuref("%s cannot be written", file)
		}
	}
	verdict := invariant.Pass
	var last plan.Played
	fired := 0
	broke, err := plan.Again(ctx, s, p, r.times, func(played plan.Played) {
		verdict = invariant.Worse(verdict, played.Verdict)
		fired += played.Fired
		if played.Verdict == invariant.Violation || last.Events == nil {
			last = played
		}
	})
	if err != nil {
		return brokenOff(ctx, "%v", err)
	}
	if _, faults := p.Size(); faults > 0 && fired == 0 {
		// Nothing was put to the test. A violation without them stays one.
		verdict = invariant.Worse(verdict, invariant.Inconclusive)
		_, _ = fmt.Fprintln(r.s.err, "none of the faults of the plan fired")
	}
	if r.shrink {
		tellShrunk(r.s, drawn, p, fmt.Sprintf(" (%d of %d)", broke[drawn.Invariant], r.times))
	}
	if r.step {
		if err := (&stepper{in: r.s.in, out: r.s.out}).show(file, last.Events, last.Findings); err != nil {
			return infrastructuref("%v", err)
		}
	}
	return r.tell(p, drawn, broke, verdict, last)
}

func (r *repetition) tell(p, drawn plan.Plan, broke map[invariant.ID]int, verdict invariant.Verdict, last plan.Played) error {
	code := report.ExitCode(verdict)
	if r.s.json {
		var shrunk *sizes
		if r.shrink {
			shrunk = sizesOf(drawn, p)
		}
		if err := json.NewEncoder(r.s.out).Encode(struct {
			Type    string               `json:"type"`
			Verdict invariant.Verdict    `json:"verdict"`
			Times   int                  `json:"times"`
			Broke   map[invariant.ID]int `json:"broke"`
			Finding []invariant.Finding  `json:"findings,omitempty"`
			Shrunk  *sizes               `json:"shrunk,omitempty"`
			Exit    int                  `json:"exit"`
		}{"replay", verdict, r.times, broke, last.Findings, shrunk, code}); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(code)
	}
	for _, step := range p.Steps {
		_, _ = fmt.Fprintln(r.s.out, "    "+stepText(step))
	}
	for _, f := range last.Findings {
		_, _ = fmt.Fprintln(r.s.out, printable(strings.TrimSpace(fmt.Sprintf("  %s %s: %s", f.Invariant, f.Verdict, f.Sentence))))
	}
	for _, i := range invariant.All() {
		if n := broke[i.ID]; n > 0 {
			_, _ = fmt.Fprintf(r.s.out, "%s in %d of %d\n", i.ID, n, r.times)
		}
	}
	if len(broke) == 0 {
		_, _ = fmt.Fprintf(r.s.out, "%s, and nothing broken in %d of %d\n", verdict, r.times, r.times)
	}
	return exitWith(code)
}

// sizes are those of a plan before and after it was shrunk.
type sizes struct {
	Operations [2]int `json:"operations"`
	Faults     [2]int `json:"faults"`
}

func sizesOf(before, after plan.Plan) *sizes {
	var s sizes
	s.Operations[0], s.Faults[0] = before.Size()
	s.Operations[1], s.Faults[1] = after.Size()
	return &s
}
