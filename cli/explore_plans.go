package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/plan"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage"
)

// planFlags belong to --plans.
type planFlags struct {
	plans int
	seed  string
	shard string
	out   string
}

// shrinkPlays is how many plays a shrinking may take, besides the search.
const shrinkPlays = 400

// mostShare is how many plans one run plays: each needs the keys of two owners
// of its own, which the service reads before it begins.
const mostShare = 100_000

// search plays the plans, and shrinks the first that breaks an invariant.
func (e *exploration) search(ctx context.Context, now time.Time) error {
	seed, err := parseSeed(e.plans.seed)
	if err != nil {
		return err
	}
	shard, err := plan.ParseShard(e.plans.shard)
	if err != nil {
		return usagef("--shard: %v", err)
	}
	if share := shard.Share(e.plans.plans); share > mostShare {
		parts := (e.plans.plans + mostShare - 1) / mostShare
		return usagef("%d plans in one run need as many keys twice over before the first is played, and a run plays %d at most: play them in parts, from --shard 1/%d to --shard %d/%d, and unite them with interlock report merge",
			share, mostShare, parts, parts, parts)
	}
	lanes, err := e.lanes()
	if err != nil {
		return err
	}
	folder, err := report.NewFolder(e.plans.out, seed, now)
	if errors.Is(err, report.ErrTaken) {
		return usagef("%v", err)
	}
	if err != nil {
		return infrastructuref("%v; choose a folder that can be written to with --out", err)
	}
	progress := e.s.progress()
	say := func(text string) {
		progress.clear()
		_, _ = fmt.Fprintln(e.s.err, printable(text))
	}
	field := plan.Field{
		PGURL: e.servers.databaseURL(), Toxiproxy: e.servers.toxiproxy, Mutant: e.mutant,
		Plays: shard.Share(e.plans.plans)*11/10 + shrinkPlays, Recorder: folder.Recorder, Note: say,
	}
	progress.set("setting the stage")
	s, err := field.Open(ctx)
	if err != nil {
		return brokenOff(ctx, "%v. interlock doctor says what this machine has", err)
	}
	defer e.s.waits.add(s.Waiting)()
	found, err := e.play(ctx, s, plan.Search{Seed: seed, Plans: e.plans.plans, Shard: shard, Mutant: e.mutant, Lanes: lanes}, folder, progress)
	progress.clear()
	if _, ended := endedBy(ctx); ended && err != nil {
		found.Interrupted, err = true, nil
	}
	if closing := s.Close(); err == nil && closing != nil {
		err = fmt.Errorf("the stage left something behind: %w", closing)
	}
	if err != nil {
		return infrastructuref("%v", err)
	}
	return e.finish(ctx, found, folder)
}

func (e *exploration) play(ctx context.Context, s *stage.Stage, search plan.Search, folder *report.Folder, progress *line) (plan.Summary, error) {
	played := 0
	search.Done = func(p plan.Plan, r plan.Played) {
		played++
		progress.set(fmt.Sprintf("%d plans, plan %d of %d: %s", played, p.Number, search.Plans, r.Verdict))
		if e.s.json {
			_ = json.NewEncoder(e.s.out).Encode(struct {
				Type    string            `json:"type"`
				Number  int               `json:"number"`
				Verdict invariant.Verdict `json:"verdict"`
				Broken  []invariant.ID    `json:"broken,omitempty"`
				TookMS  int64             `json:"took_ms"`
			}{"plan", p.Number, r.Verdict, r.Broken(), r.Took.Milliseconds()})
		}
	}
	sum, err := search.Run(ctx, s)
	if err != nil || sum.Found == nil {
		return sum, err
	}
	// A plan whose violation hangs on luck is kept, and the search goes on for a
	// while: one that breaks it always says more.
	for try := 1; ; try++ {
		if err := e.keep(folder, &sum); err != nil { // as it was drawn: better that than nothing
			return sum, err
		}
		progress.set(fmt.Sprintf("plan %d broke %s: shrinking it", sum.Found.Number, sum.Found.Invariant))
		small, err := plan.Smaller(ctx, s, *sum.Found)
		if err != nil {
			return sum, err
		}
		if sum.Always, err = plan.Steady(ctx, s, small.Plan); err != nil {
			return sum, err
		}
		tellShrunk(e.s, *sum.Found, small.Plan, fmt.Sprintf(", in %d plays", small.Plays))
		sum.Found = &small.Plan
		if err := e.keep(folder, &sum); err != nil || sum.Always || try == mostFinds {
			return sum, err
		}
		search.After = sum.Reached
		more, err := search.Run(ctx, s)
		sum.Append(more)
		if err != nil || more.Found == nil {
			return sum, err
		}
		sum.Found, sum.Reached = more.Found, more.Reached
	}
}

// mostFinds is how many plans that break an invariant by luck are put aside.
const mostFinds = 4

// keep writes the found plan into the folder.
func (e *exploration) keep(folder *report.Folder, sum *plan.Summary) error {
	sum.File = filepath.Join(folder.Dir, "plans", fmt.Sprintf("%d-%d.json", sum.Seed, sum.Found.Number))
	if err := os.MkdirAll(filepath.Dir(sum.File), 0o755); err != nil {
		return err
	}
	return sum.Found.Write(sum.File)
}

// tellShrunk says how much smaller a plan became, and how that is known.
func tellShrunk(s *streams, from, to plan.Plan, how string) {
	out := s.out
	if s.json {
		out = s.err
	}
	operations, faults := from.Size()
	fewer, less := to.Size()
	_, _ = fmt.Fprintf(out, "%d operations -> %d, %d faults -> %d, still %s%s\n", operations, fewer, faults, less, from.Invariant, how)
}

// finish writes the summary and says what came of the search.
func (e *exploration) finish(ctx context.Context, sum plan.Summary, folder *report.Folder) error {
	if err := sum.Write(folder.Dir); err != nil {
		return infrastructuref("%v", err)
	}
	return tellSummary(e.s, sum, exitCode(ctx, exitWith(report.ExitCode(sum.Verdict()))))
}

// tellSummary prints what came of a search, or of its united shards, and exits
// with code.
func tellSummary(s *streams, sum plan.Summary, code int) error {
	if s.json {
		if err := json.NewEncoder(s.out).Encode(struct {
			Type    string            `json:"type"`
			Verdict invariant.Verdict `json:"verdict"`
			plan.Summary
			Exit int `json:"exit"`
		}{"run", sum.Verdict(), sum, code}); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(code)
	}
	if sum.Interrupted {
		_, _ = fmt.Fprintln(s.out, "Interrupted: these are the plans that were judged until then.")
	}
	_, _ = fmt.Fprintf(s.out, "seed %d, %d of %d plans in %.1f s, %.1f a second: %d operations, %d of %d faults fired\n", sum.Seed, sum.Played, sum.Plans,
		float64(sum.TookMS)/1000, float64(sum.Played+sum.Audited)/max(0.001, float64(sum.TookMS)/1000), sum.Operations, sum.Fired, sum.Armed)
	_, _ = fmt.Fprintf(s.out, "%d pass, %d violations, %d inconclusive; %d played twice, %d came out in two ways\n", sum.Passed, sum.Violations,
		len(sum.Undecided), sum.Audited, len(sum.Unsteady))
	if p := sum.Found; p != nil {
		title := ""
		if i, ok := invariant.ByID(p.Invariant); ok {
			title = i.Name
		}
		how := ", now and then"
		if sum.Always {
			how = ""
		}
		_, _ = fmt.Fprintf(s.out, "\n✗ plan %d breaks %s (%s)%s\n\n", p.Number, p.Invariant, title, how)
		for _, step := range p.Steps {
			_, _ = fmt.Fprintln(s.out, "    "+stepText(step))
		}
		_, _ = fmt.Fprintf(s.out, "\n  again  interlock replay %s --times 20\n  explain  interlock explain %s\n", printable(sum.File), p.Invariant)
	}
	for _, group := range []struct {
		what    string
		numbers []int
	}{{"inconclusive", sum.Undecided}, {"infrastructure", sum.Broken}, {"came out in two ways", sum.Unsteady}} {
		if len(group.numbers) > 0 {
			_, _ = fmt.Fprintf(s.out, "%s: plans %v\n", group.what, group.numbers)
		}
	}
	if code != ExitOK && code == report.ExitCode(sum.Verdict()) {
		_, _ = fmt.Fprintf(s.out, "exit %d (%s)\n", code, sum.Verdict())
	}
	return exitWith(code)
}

// stepText is one step as a person reads it.
func stepText(s plan.Step) string {
	text := fmt.Sprintf("%-18s", s.Do)
	if s.Job != "" {
		text += " " + s.Job
	}
	if s.N > 0 {
		text += fmt.Sprintf(" attempt %d", s.N)
	}
	if s.Clients > 1 {
		text += fmt.Sprintf(" %d clients", s.Clients)
	}
	if s.Fault() {
		text += "   (fault, " + s.Edge() + ")"
	}
	return strings.TrimRight(text, " ")
}
