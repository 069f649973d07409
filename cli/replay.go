package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/plan"
	"github.com/interlock-harness/interlock/harness/report"
)

// repetition is one invocation of replay.
type repetition struct {
	s       *streams
	servers serverFlags
	times   int
	shrink  bool
	timeout string
}

func replayCommand(s *streams) *cobra.Command {
	r := &repetition{s: s}
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "play a plan again that explore wrote",
		Long: `Plays the plan in FILE again, on a stage of its own, and says how often the same
invariant was broken. A plan that names a mutant is played with it.

exit 0 no violation, 1 violation, 2 inconclusive, 3 infrastructure`,
		Example: `  interlock replay interlock-out/latest/plans/1-17.json
  interlock replay plan.json --times 100
  interlock replay plan.json --shrink`,
		Args: exactly(1, "a plan file"),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args[0]) },
	}
	flags := cmd.Flags()
	flags.IntVar(&r.times, "times", 20, "so often, 1 to 10000")
	flags.BoolVar(&r.shrink, "shrink", false, "shrink it, and write it over FILE")
	r.servers.postgres(cmd)
	r.servers.proxy(cmd)
	flags.StringVar(&r.timeout, "timeout", "10m", "give up after this time")
	return cmd
}

func (r *repetition) run(ctx context.Context, file string) error {
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
	if r.shrink {
		small, err := plan.Smaller(ctx, s, p)
		if err != nil {
			return brokenOff(ctx, "%v", err)
		}
		tellShrunk(r.s, p, small)
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
	return r.tell(p, broke, verdict, last)
}

func (r *repetition) tell(p plan.Plan, broke map[invariant.ID]int, verdict invariant.Verdict, last plan.Played) error {
	code := report.ExitCode(verdict)
	if r.s.json {
		if err := json.NewEncoder(r.s.out).Encode(struct {
			Type    string               `json:"type"`
			Verdict invariant.Verdict    `json:"verdict"`
			Times   int                  `json:"times"`
			Broke   map[invariant.ID]int `json:"broke"`
			Finding []invariant.Finding  `json:"findings,omitempty"`
			Exit    int                  `json:"exit"`
		}{"replay", verdict, r.times, broke, last.Findings, code}); err != nil {
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
