package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/scenarios"
)

// Bounds of a run that repeats its scenarios.
const (
	mostTries  = 1000
	mostEvents = 1_000_000 // in the history that is kept; no further try is begun after that
)

// repeatFlags say how often, and in how many processes, the scenarios are played.
type repeatFlags struct {
	times          int
	untilViolation bool
	procs          string
	sameSeed       bool // of every try, as replay wants it
}

func (f *repeatFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.times, "repeat", 1, "play each scenario so many times, 1 to 1000: try K with the seed plus K-1; the worst verdict counts, and every try is in the report")
	flags.BoolVar(&f.untilViolation, "until-violation", false, "play the scenarios round after round until one is violated (exit 1) or --timeout is over (exit 0 when every round was clean); clean rounds are counted, their histories are not kept")
	flags.StringVar(&f.procs, "procs", "1", "stages at once, 1 to 64, each a process: faster, and on a busy machine more scenarios come out inconclusive")
}

// apart says whether the scenarios are played in processes of their own.
func (f *repeatFlags) apart() bool {
	return f.times > 1 || f.sameSeed || f.untilViolation || f.procs != "1"
}

func (f *repeatFlags) check(seed int64) (procs int, err error) {
	if procs, err = parseProcs(f.procs); err != nil {
		return 0, err
	}
	switch {
	case f.times < 1 || f.times > mostTries:
		return 0, usagef("--repeat is %d, but must be 1 to %d", f.times, mostTries)
	case f.untilViolation && f.times > 1:
		return 0, usagef("--repeat plays so many tries, and --until-violation as many as --timeout leaves time for: leave one of them out")
	case f.apart() && !f.sameSeed && seed > math.MaxInt64-mostTries*mostTries:
		return 0, usagef("--seed is %d, and the tries after the first need larger ones: choose a smaller --seed", seed)
	}
	return procs, nil
}

// part is what one process plays: some or all scenarios of a try.
type part struct {
	try   int // 0 where nothing is repeated
	n     int // of the run, from 1
	seed  int64
	slugs []string
}

// playedPart is what came of it.
type playedPart struct {
	part
	run    report.Run
	events int  // in its history
	cut    bool // it was ended before everything was played
	kept   *keptStage
}

func (p playedPart) verdict() invariant.Verdict {
	v := invariant.Pass
	for _, play := range p.run.Plays {
		v = invariant.Worse(v, play.Reported())
	}
	return v
}

// rounds plays the scenarios in processes of their own and unites what they found.
type rounds struct {
	v     *verification
	procs int
	slugs []string
	url   string // of the database that all share; "" for a foreign target
	dir   string // below it each process has its folder
	limit time.Duration

	mu       sync.Mutex
	parts    []part // still to be played; with --until-violation they are made on the way
	n        int
	done     []playedPart
	last     *playedPart // the newest clean round of --until-violation
	counted  []report.Round
	events   int
	stop     string // why no further part begins
	progress *line
	plays    int
	bad      int
	newest   string
	end      context.CancelFunc
}

// playRounds is play for a run in several processes.
func (v *verification) playRounds(ctx context.Context, limit time.Duration, procs int, selected []scenarios.Info, skipped []report.NotApplicable) error {
	folder, run, err := v.begin(skipped)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	r := &rounds{v: v, procs: procs, dir: folder.Dir, limit: limit, progress: v.s.progress(), end: end}
	for _, i := range selected {
		r.slugs = append(r.slugs, i.Slug)
	}
	r.progress.set("setting the stage")
	server, err := r.database(ctx)
	if err != nil {
		r.progress.clear()
		return infrastructuref("nothing was run: %v. interlock doctor says what this machine has", err)
	}
	if server != nil {
		defer func() { _ = server.Close() }()
	}
	r.plan()
	var workers sync.WaitGroup
	for range procs {
		workers.Go(func() {
			for p, ok := r.next(ctx); ok; p, ok = r.next(ctx) {
				r.take(ctx, r.play(ctx, p))
			}
		})
	}
	workers.Wait()
	r.progress.clear()
	kept := r.keptStage()
	run.Stage = r.stageText(server)
	if err := r.unite(folder, run, context.Cause(ctx)); err != nil {
		return infrastructuref("%v", err)
	}
	run.End(folder.Recorder)
	run.Full = !run.Interrupted && v.foreign == nil && v.mutant == "" && len(selected) == len(scenarios.All())
	if err := folder.Write(run); err != nil {
		return infrastructuref("the report could not be written: %v", err)
	}
	err = v.finish(ctx, run, folder, nil)
	if kept != nil {
		return v.hold(ctx, kept, err, func() error {
			kept.end()
			return r.tidyKept()
		})
	}
	return err
}

// database starts the one PostgreSQL of all processes.
func (r *rounds) database(ctx context.Context) (*pgserver.Server, error) {
	if r.v.foreign != nil {
		return nil, nil
	}
	r.url = r.v.servers.databaseURL()
	server, err := pgserver.Start(ctx, pgserver.Options{URL: r.url, Note: func(text string) { r.v.say(r.progress, text) }})
	if err != nil {
		return nil, err
	}
	if r.url == "" {
		r.url = server.URL("postgres")
	}
	return server, nil
}

// plan makes the parts of --repeat and --procs. A try is split only where there are
// fewer tries than processes.
func (r *rounds) plan() {
	f := r.v.repeat
	if f.untilViolation {
		return
	}
	split := min(len(r.slugs), (r.procs+f.times-1)/f.times)
	for try := 1; try <= f.times; try++ {
		for i := range split {
			var slugs []string
			for k := i; k < len(r.slugs); k += split {
				slugs = append(slugs, r.slugs[k])
			}
			p := part{n: len(r.parts) + 1, seed: r.seed(try), slugs: slugs}
			if f.times > 1 || f.sameSeed {
				p.try = try
			}
			r.parts = append(r.parts, p)
		}
	}
}

// seed is that of a try, counted from 1.
func (r *rounds) seed(try int) int64 {
	if r.v.repeat.sameSeed {
		return r.v.selection.Seed
	}
	return r.v.selection.Seed + int64(try-1)
}

// next hands out a part.
func (r *rounds) next(ctx context.Context) (part, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != "" || ctx.Err() != nil {
		return part{}, false
	}
	if r.v.repeat.untilViolation {
		r.n++
		return part{try: r.n, n: r.n, seed: r.seed(r.n), slugs: r.slugs}, true
	}
	if len(r.parts) == 0 {
		return part{}, false
	}
	p := r.parts[0]
	r.parts = r.parts[1:]
	return p, true
}

// take adds what a part came to, and decides whether the run goes on.
func (r *rounds) take(ctx context.Context, p playedPart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict := p.verdict()
	until := r.v.repeat.untilViolation
	switch {
	case until && p.cut && verdict != invariant.Violation: // the time ran out in the middle of it
		_ = os.RemoveAll(r.folder(p.part))
		return
	case until && verdict == invariant.Pass:
		if r.last != nil {
			r.forget(*r.last)
		}
		r.last = &p
		r.told(p)
		return
	}
	r.done = append(r.done, p)
	r.events += p.events
	r.told(p)
	switch {
	case until && verdict == invariant.Violation:
		r.stop = "a violation was found"
		if r.procs > 1 {
			r.end() // rounds that are under way prove nothing more
		}
	case p.kept != nil:
		r.stop = "--keep ends the run at its first violation"
	case p.run.NeverBegan() != "":
		r.stop = "a process could not set its stage"
	case r.events > mostEvents:
		r.stop = fmt.Sprintf("the history holds more than %d events", mostEvents)
	}
}

// forget counts a clean round and drops its history.
func (r *rounds) forget(p playedPart) {
	round := roundOf(p)
	round.CountedOnly = true
	r.counted = append(r.counted, round)
	_ = os.RemoveAll(r.folder(p.part))
}

func roundOf(p playedPart) report.Round {
	return report.Round{Try: p.try, Seed: p.seed, Verdict: p.verdict(), Plays: len(p.run.Plays), Took: p.run.Took}
}

// told writes the line of a round that is over, with --json.
func (r *rounds) told(p playedPart) {
	if !r.v.s.json || p.try == 0 {
		return
	}
	_ = json.NewEncoder(r.v.s.out).Encode(struct {
		Type string `json:"type"`
		report.Round
	}{"round", roundOf(p)})
}

// heard is told of each play while it comes.
func (r *rounds) heard(p part, play report.Play) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plays++
	if !play.Met() {
		r.bad++
	}
	r.newest = report.TryName(play.Slug, p.try)
	r.progress.set(fmt.Sprintf("%d plays, %s ... %d not as they must be", r.plays, r.newest, r.bad))
	if r.v.s.json {
		_ = json.NewEncoder(r.v.s.out).Encode(struct {
			Type string `json:"type"`
			report.Play
		}{"play", play})
	}
}

func (r *rounds) keptStage() *keptStage {
	for _, p := range r.done {
		if p.kept != nil {
			return p.kept
		}
	}
	return nil
}

// stageText is the stage as the first process saw it; to it our private server is
// somebody else's.
func (r *rounds) stageText(server *pgserver.Server) string {
	parts := r.done
	if r.last != nil {
		parts = append(parts, *r.last)
	}
	for _, p := range parts {
		if p.run.Stage != "" && server != nil && server.Private() {
			return strings.Replace(p.run.Stage, " at "+server.Addr(), "", 1)
		} else if p.run.Stage != "" {
			return p.run.Stage
		}
	}
	return ""
}

// unite puts plays and histories together, and says what was repeated.
func (r *rounds) unite(folder *report.Folder, run *report.Run, ended error) error {
	until := r.v.repeat.untilViolation
	stopped := r.stop
	if r.last != nil && len(r.done) == 0 {
		r.done = append(r.done, *r.last) // a report of nothing shows nothing
	} else if r.last != nil {
		r.forget(*r.last)
	}
	slices.SortFunc(r.done, func(a, b playedPart) int { return a.n - b.n })
	if err := r.adopt(folder, run); err != nil {
		return err
	}
	run.Skipped = append(run.Skipped, r.leftOut(run)...)
	run.Rounds = append(run.Rounds, r.counted...)
	for _, p := range r.done {
		i := slices.IndexFunc(run.Rounds, func(round report.Round) bool { return round.Try == p.try })
		switch {
		case p.try == 0 || len(p.run.Plays) == 0:
		case i < 0:
			run.Rounds = append(run.Rounds, roundOf(p))
		default: // the other half of a try
			run.Rounds[i].Verdict = invariant.Worse(run.Rounds[i].Verdict, p.verdict())
			run.Rounds[i].Plays += len(p.run.Plays)
			run.Rounds[i].Took = max(run.Rounds[i].Took, p.run.Took)
		}
	}
	slices.SortFunc(run.Rounds, func(a, b report.Round) int { return a.Try - b.Try })
	var by signalled
	signal := errors.As(ended, &by)
	switch {
	case until && stopped == "" && !signal && len(run.Rounds) == 0:
		run.Ended = fmt.Sprintf("No round was over within --timeout %s: give it more time.", r.v.timeout)
	case until && stopped == "" && !signal:
		run.Ended = fmt.Sprintf("No violation: %s within --timeout %s.", cleanRounds(run.Rounds), r.v.timeout)
	case until && stopped != "" && run.Verdict() == invariant.Violation:
		run.Ended = "Ended at the first violation, after " + cleanRounds(run.Rounds) + "."
	case stopped != "":
		run.Ended = "Ended early: " + stopped + "."
		run.Interrupted = !until && r.keptStage() == nil
	default:
		run.Interrupted = ended != nil || len(r.parts) > 0 || slices.ContainsFunc(r.done, func(p playedPart) bool { return p.cut })
	}
	return nil
}

// cleanRounds counts them.
func cleanRounds(all []report.Round) string {
	clean := 0
	for _, round := range all {
		if round.Verdict == invariant.Pass {
			clean++
		}
	}
	if clean == len(all) {
		return plural(clean, "clean round")
	}
	return fmt.Sprintf("%s of %d", plural(clean, "clean round"), len(all))
}

// leftOut are the scenarios that every process left out.
func (r *rounds) leftOut(run *report.Run) []report.NotApplicable {
	var list []report.NotApplicable
	for _, p := range r.done {
		for _, n := range p.run.Skipped {
			played := slices.ContainsFunc(run.Plays, func(play report.Play) bool { return play.Slug == n.Slug })
			known := slices.ContainsFunc(list, func(other report.NotApplicable) bool { return other.Slug == n.Slug })
			if !played && !known {
				list = append(list, n)
			}
		}
	}
	return list
}
