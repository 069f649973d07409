package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/scenarios"
)

// verification is one invocation of verify.
type verification struct {
	s         *streams
	selection scenarios.Selection
	seed      string
	out       string
	servers   serverFlags
	target    targetFlags
	foreign   *stage.Foreign // what the flags of target name; nil for the built-in service
	repeat    repeatFlags
	mutant    string
	timeout   string
	list      bool
	dryRun    bool
	github    bool
	keep      bool
	// after is told of a run that was played in this process; nil for nobody.
	after func(*report.Run, map[string][]history.Event) error
}

func verifyCommand(s *streams) *cobra.Command {
	v := &verification{s: s}
	cmd := &cobra.Command{
		Use:   "verify [SCENARIO...]",
		Short: "break a job service in every way and judge what it did",
		Long: `Runs scenarios on a stage of its own: a private PostgreSQL, Toxiproxy, service
replicas as child processes, stand-in providers. Nothing is left behind.

With --repeat every try counts: the verdict is the worst of them, and each try is in
the history, the report and junit.xml as SCENARIO/TRY. With --until-violation the
scenarios are played until one is violated or the time of --timeout is over.

SIGQUIT (Ctrl-\) and SIGUSR1 make a run say what it waits for.

exit 0 all pass, 1 violation, 2 inconclusive or nothing ran, 3 infrastructure`,
		Example: `  interlock verify
  interlock verify reverse-order
  interlock verify --label breakpoints --seed 7
  interlock verify reverse-order --repeat 20
  interlock verify --label race --until-violation --timeout 2h
  interlock verify reverse-order --keep
  interlock verify --target http://127.0.0.1:8080 --target-keys keys.txt
  interlock verify --list`,
		Args: v.names,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if v.foreign, err = v.target.foreign(cmd); err != nil {
				return err
			}
			return v.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&v.selection.Labels, "label", "", "run the scenarios that a label expression selects, such as breakpoints or 'submit && !L2'")
	flags.StringVar(&v.seed, "seed", "", "seed of the order, 0 to 9223372036854775807 (default: drawn and printed)")
	flags.StringVar(&v.out, "out", "", "folder of the report (default ./interlock-out/TIME-SEED)")
	v.servers.postgres(cmd)
	v.servers.proxy(cmd)
	v.target.register(cmd)
	v.repeat.register(cmd)
	flags.BoolVar(&v.keep, "keep", false, "end at the first violation and leave its stack up, until Ctrl-C or --timeout; says where PostgreSQL and the service listen")
	flags.StringVar(&v.timeout, "timeout", "10m", "give up after this time")
	flags.BoolVar(&v.list, "list", false, "list the scenarios instead of running them")
	flags.BoolVar(&v.dryRun, "dry-run", false, "say what would run")
	flags.BoolVar(&v.github, "github", false, "also tell GitHub Actions: annotations, step summary, outputs")
	flags.StringVar(&v.mutant, "mutant", "", "run the service with this fault")
	_ = flags.MarkHidden("mutant")
	return cmd
}

func slugs() []string {
	var names []string
	for _, i := range scenarios.All() {
		names = append(names, i.Slug)
	}
	return names
}

func (v *verification) names(_ *cobra.Command, args []string) error {
	known := slugs()
	for _, name := range args {
		if !slices.Contains(known, name) {
			return usagef("no scenario %q.%s interlock verify --list shows all %d.", name, didYouMean(name, known), len(known))
		}
	}
	return nil
}

func (v *verification) run(ctx context.Context, args []string) error {
	v.selection.Slugs = args
	seed, err := parseSeed(v.seed)
	if err != nil {
		return err
	}
	v.selection.Seed = seed
	limit, err := parseTimeout(v.timeout)
	if err != nil {
		return err
	}
	if err := v.servers.check(); err != nil {
		return err
	}
	procs, err := v.modes()
	if err != nil {
		return err
	}
	selected, err := scenarios.Matching(v.selection)
	if err != nil {
		return usagef("%v", err)
	}
	selected, skipped := v.applicable(selected)
	if v.list || v.dryRun {
		return v.print(selected)
	}
	if len(selected)+len(skipped) == 0 {
		return &exitError{code: ExitInconclusive, message: fmt.Sprintf("label %q selects no scenario, so nothing ran; interlock verify --list shows the labels", v.selection.Labels)}
	}
	if len(selected) == 0 && len(skipped) > 0 {
		next := "interlock verify --help says what a deeper look needs"
		if skipped[0].Why != "" {
			next = skipped[0].Why
		}
		return &exitError{code: ExitInconclusive, message: fmt.Sprintf("%s needs %s, and the target is seen at %s, so nothing ran; %s", skipped[0].Slug, skipped[0].Needs, v.foreign.Level(), next)}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if v.repeat.apart() {
		return v.playRounds(ctx, limit, procs, selected, skipped)
	}
	return v.play(ctx, selected, skipped)
}

// modes refuses flags that contradict each other, and says how many processes play.
func (v *verification) modes() (procs int, err error) {
	if procs, err = v.repeat.check(v.selection.Seed); err != nil {
		return 0, err
	}
	switch {
	case v.list && v.dryRun:
		return 0, usagef("--list shows what there is, and --dry-run what would run: leave one of them out")
	case (v.list || v.dryRun) && v.keep:
		return 0, usagef("--keep leaves up what a run has started, and with --list or --dry-run nothing runs: leave --keep out")
	case v.foreign != nil && v.keep:
		return 0, usagef("--keep leaves the built-in stack up, and a target stays up by itself: leave --keep out")
	case v.foreign != nil && procs > 1:
		return 0, usagef("--procs is %d, and a target is judged by one process at a time: leave --procs out", procs)
	case v.keep && procs > 1:
		return 0, usagef("--keep leaves one stack up: leave --procs out")
	}
	return procs, nil
}

func (v *verification) print(selected []scenarios.Info) error {
	for _, i := range selected {
		if v.s.json {
			if err := json.NewEncoder(v.s.out).Encode(i); err != nil {
				return infrastructuref("write: %v", err)
			}
			continue
		}
		_, _ = fmt.Fprintf(v.s.out, "%3d  %-36s %-11s %s  %s\n", i.Number, i.Slug, i.Group, i.Level, i.Title)
	}
	if len(selected) == 0 {
		return exitWith(ExitInconclusive)
	}
	if v.dryRun && v.repeat.apart() && !v.s.quiet {
		_, _ = fmt.Fprintln(v.s.err, v.repeat.told(v.selection.Seed))
	}
	return nil
}

// begin makes the folder of a run and opens its history.
func (v *verification) begin(skipped []report.NotApplicable) (*report.Folder, *report.Run, error) {
	started := time.Now()
	seed := v.selection.Seed
	folder, err := report.NewFolder(v.out, seed, started)
	if errors.Is(err, report.ErrTaken) {
		return nil, nil, usagef("%v", err)
	}
	if err != nil {
		return nil, nil, infrastructuref("%v; choose a folder that can be written to with --out", err)
	}
	run := &report.Run{
		ID: strconv.FormatInt(started.UnixNano(), 36), Command: os.Args[min(1, len(os.Args)):], Seed: seed, Level: v.level(),
		Target: v.described(), Again: v.target.again(), Skipped: skipped, Mutant: v.mutant, Started: started, Versions: versions(),
	}
	run.Begin(folder.Recorder)
	return folder, run, nil
}

// play runs the selected scenarios and writes the report.
func (v *verification) play(ctx context.Context, selected []scenarios.Info, skipped []report.NotApplicable) error {
	folder, run, err := v.begin(skipped)
	if err != nil {
		return err
	}
	progress := v.s.progress()
	v.selection.Keep = v.keep
	defer v.s.waits.add(scenarios.Waiting)()
	scenarios.Configure(stage.Options{
		Out: folder.Dir, Recorder: folder.Recorder, PGURL: v.servers.databaseURL(), Toxiproxy: v.servers.toxiproxy,
		Service: stage.ServiceOptions{Mutant: v.mutant}, Foreign: v.foreign,
		Note: func(text string) { v.say(progress, text) },
	})
	progress.set("setting the stage")
	total, done, bad := len(selected), map[string]bool{}, 0
	var histories []invariant.History
	v.selection.Begun = func(slug string) {
		progress.set(fmt.Sprintf("%d/%d %s ... %d not as they must be", len(done), total, slug, bad))
	}
	played := scenarios.Run(ctx, v.selection, func(o scenarios.Outcome) {
		o.Named = v.named(o.Slug)
		run.Plays = append(run.Plays, o.Play)
		done[o.Slug] = true
		histories = append(histories, invariant.Open(o.Events))
		if !o.Met() {
			bad++
		}
		if v.s.json {
			_ = json.NewEncoder(v.s.out).Encode(struct {
				Type string `json:"type"`
				report.Play
			}{"play", o.Play})
		}
	})
	run.Skipped = append(run.Skipped, leftOut(done)...)
	run.Stage = scenarios.StageText()
	kept := scenarios.Kept()
	var closing error
	if kept == nil {
		closing = scenarios.Close()
	} else if left := len(selected) - len(done); left > 0 {
		run.Ended = fmt.Sprintf("Ended at the first violation (--keep); %s not played.", wereLeft(left))
	}
	progress.clear()
	run.End(folder.Recorder)
	run.Interrupted = played != nil && kept == nil
	run.Coverage = invariant.Coverage(histories...)
	run.Full = !run.Interrupted && v.foreign == nil && v.mutant == "" && len(selected) == len(scenarios.All())
	if err := folder.Write(run); err != nil {
		return infrastructuref("the report could not be written: %v", err)
	}
	err = v.finish(ctx, run, folder, closing)
	if v.after != nil {
		if failed := v.after(run, report.ByPlay(folder.Recorder.Events())); failed != nil {
			return infrastructuref("%v", failed)
		}
	}
	if kept != nil {
		return v.hold(ctx, &keptStage{Kept: kept}, err, scenarios.Close)
	}
	return err
}

// named is the invariant by which the mutant of this run must die in a scenario.
func (v *verification) named(slug string) invariant.ID {
	if m, ok := mutant.Find(v.mutant); ok && m.Scenario == slug {
		return invariant.ID(m.Invariant)
	}
	return ""
}

// level is how deep this run looks into its target.
func (v *verification) level() invariant.Level {
	if v.foreign != nil {
		return v.foreign.Level()
	}
	return scenarios.StageLevel
}

func (v *verification) described() string {
	if v.foreign != nil {
		return strings.Join(v.foreign.URLs, " and ")
	}
	return "built-in service"
}

// applicable parts the scenarios that the target can be put through from those
// that need a deeper look.
func (v *verification) applicable(all []scenarios.Info) (can []scenarios.Info, cannot []report.NotApplicable) {
	if v.foreign != nil {
		v.selection.Slugs = nil
	}
	for _, i := range all {
		if i.Level > v.level() {
			why := ""
			if i.Level == scenarios.StageLevel {
				why = stage.WhyNotL4
			}
			cannot = append(cannot, report.NotApplicable{Slug: i.Slug, Title: i.Title, Group: string(i.Group), Needs: i.Level, Why: why})
			continue
		}
		can = append(can, i)
		if v.foreign != nil {
			v.selection.Slugs = append(v.selection.Slugs, i.Slug)
		}
	}
	return can, cannot
}

// leftOut are the scenarios that said of themselves that the target lacks what
// they need, where no spec of theirs was played.
func leftOut(played map[string]bool) []report.NotApplicable {
	var list []report.NotApplicable
	reasons := scenarios.LeftOut()
	for _, slug := range slices.Sorted(maps.Keys(reasons)) {
		if i, ok := scenarios.Find(slug); ok && !played[slug] {
			list = append(list, report.NotApplicable{Slug: slug, Title: i.Title, Group: string(i.Group), Needs: i.Level, Why: reasons[slug]})
		}
	}
	return list
}

// finish prints the result and says with which code to exit.
func (v *verification) finish(ctx context.Context, run *report.Run, folder *report.Folder, closing error) error {
	out, code := v.s.out, report.ExitCode(run.Verdict())
	if v.s.json {
		out = v.s.err
		_ = json.NewEncoder(v.s.out).Encode(struct {
			Type    string            `json:"type"`
			Verdict invariant.Verdict `json:"verdict"`
			Counts  report.Counts     `json:"counts"`
			Seed    int64             `json:"seed"`
			Exit    int               `json:"exit"`
			Report  string            `json:"report"`
		}{"run", run.Verdict(), run.Counts(), run.Seed, exitCode(ctx, exitWith(code)), folder.Dir})
	}
	if trouble := run.NeverBegan(); trouble != "" && !run.Interrupted && !v.github {
		return infrastructuref("nothing was run: %s. interlock doctor says what this machine has", printable(trouble))
	}
	style := report.Style{Color: v.s.colored(out)}
	places := report.Places{HTML: folder.Shown(report.HTMLFile)}
	if !v.s.quiet {
		byPlay := report.ByPlay(folder.Recorder.Events())
		for _, p := range run.Told() {
			_, _ = fmt.Fprintln(out, run.Violation(p, byPlay[p.History], places, style))
		}
	}
	if !v.s.quiet || !v.s.json {
		_, _ = fmt.Fprint(out, run.Summary(places, style))
	}
	if v.github {
		if err := tellGitHub(out, run, folder.Dir, report.ByPlay(folder.Recorder.Events())); err != nil {
			return infrastructuref("tell GitHub: %v", err)
		}
	}
	if closing != nil {
		return infrastructuref("the stage left something behind: %v", closing)
	}
	return exitWith(code)
}

func (v *verification) say(progress *line, text string) {
	if v.s.quiet {
		return
	}
	progress.clear()
	_, _ = fmt.Fprintln(v.s.err, printable(text))
}

// parseSeed reads a decimal number, or draws one.
func parseSeed(text string) (int64, error) {
	if text == "" {
		return rand.Int64N(1_000_000), nil
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seed < 0 || strings.HasPrefix(text, "+") {
		return 0, usagef("--seed is %q, but must be a whole number from 0 to 9223372036854775807", text)
	}
	return seed, nil
}

func parseTimeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, usagef("--timeout is %q, but must be a time above zero such as 90s or 10m", text)
	}
	return d, nil
}

// versions are what the report keeps of the program.
func versions() map[string]string {
	info := readBuildInfo()
	all := map[string]string{"interlock": strings.TrimSpace(info.Version + " " + info.Revision), "go": info.Go}
	for path, version := range info.Modules {
		all[path] = version
	}
	return all
}
