package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/interleave"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

// exploredTarget is a service that somebody else runs, two of whose operations at a
// time are played in every order of their statements.
type exploredTarget struct {
	targetFlags
	sets []string

	e       *exploration
	service *stage.Foreign
}

func (t *exploredTarget) register(cmd *cobra.Command) {
	t.targetFlags.register(cmd)
	cmd.Flags().StringSliceVar(&t.sets, "set", nil, "with --interleave --target: play these pairs only, such as running/cancel-job+complete")
}

// or explores the target, where one is named, or what e does without one.
func (t *exploredTarget) or(cmd *cobra.Command, e *exploration) error {
	var err error
	if t.service, err = t.foreign(cmd); err != nil {
		return err
	}
	if t.service == nil {
		if len(t.sets) > 0 {
			return usagef("--set belongs to --interleave --target")
		}
		return e.run(cmd.Context())
	}
	t.e = e
	o := e.orders
	switch {
	case !o.interleave:
		return usagef("--target belongs to --interleave: plans are played on the built-in service")
	case e.plans.plans != 0 || e.mutant != "" || o.mutants || len(o.only) > 0 || o.triples || o.everyOrder:
		return usagef("--interleave --target plays pairs of operations in every order of their statements; leave --plans, --mutant, --mutants, --only, --triples and --every-order out")
	case t.service.Level() < 2:
		return usagef("--interleave --target holds statements on their way to the target's database, which is level L2, and the target is seen at %s: give --provider, --target-pg-listen and INTERLOCK_TARGET_PG_URL", t.service.Level())
	case o.times < 1 || o.times > 10_000:
		return usagef("--times is %d, but must be 1 to 10000", o.times)
	}
	limit, err := parseTimeout(e.timeout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), limit)
	defer cancel()
	return t.explore(ctx)
}

// explore sets the stage, plays and tells.
func (t *exploredTarget) explore(ctx context.Context) error {
	sets, leftOut, err := t.chosen()
	if err != nil {
		return err
	}
	replayed, picks, err := t.replayed()
	if err != nil {
		return err
	}
	lanes, err := t.e.lanes()
	if err != nil {
		return err
	}
	progress := t.e.s.progress()
	progress.set("setting the stage")
	say := func(text string) {
		progress.clear()
		_, _ = fmt.Fprintln(t.e.s.err, printable(text))
	}
	s, err := stage.Start(ctx, stage.Options{Foreign: t.service, Toxiproxy: t.e.servers.toxiproxy, Note: say})
	if err == nil {
		if err = s.Probe(ctx); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if err != nil {
		progress.clear()
		return brokenOff(ctx, "%v", err)
	}
	o := interleave.Options{Stage: s, Ahead: lanes, UntilViolation: t.e.orders.untilViolation, Now: progress.set, Done: func(r interleave.SetResult) {
		progress.clear()
		t.tellSet(r)
	}}
	var code int
	if picks != nil {
		var all []interleave.Replayed
		o.Ahead = 1
		all, err = interleave.Replay(ctx, o, replayed, picks, t.e.orders.times)
		progress.clear()
		if err == nil {
			code = t.tellReplay(all)
		}
	} else {
		var r interleave.Result
		r, err = interleave.Search(ctx, o, sets)
		progress.clear()
		code = t.tell(r, leftOut, err)
	}
	closing := s.Close()
	switch {
	case code == ExitViolation:
		return exitWith(code)
	case err != nil && errors.Is(err, context.DeadlineExceeded):
		_, _ = fmt.Fprintf(t.e.s.err, "not all was played: %s\n", printable(err.Error()))
		return exitWith(ExitInconclusive)
	case err != nil:
		return brokenOff(ctx, "%v", err)
	case closing != nil:
		return infrastructuref("the stage left something behind: %v", closing)
	}
	return exitWith(code)
}

// chosen are the pairs to play, and those that this target lets nobody play.
func (t *exploredTarget) chosen() ([]interleave.Set, []interleave.LeftOut, error) {
	can, cannot := interleave.Sets(t.service.Adapter, t.service.Operator.Key != "")
	if len(t.sets) == 0 {
		return can, cannot, nil
	}
	var sets []interleave.Set
	for _, text := range t.sets {
		set, err := interleave.ParseSet(text)
		if err != nil {
			return nil, nil, usagef("--set: %v", err)
		}
		if !slices.Contains(sets, set) && slices.Contains(can, set) {
			sets = append(sets, set)
		}
	}
	asked := slices.DeleteFunc(cannot, func(l interleave.LeftOut) bool { return !slices.Contains(t.sets, l.Set) })
	return sets, asked, nil
}

// replayed is the schedule to play; no picks without one.
func (t *exploredTarget) replayed() (set interleave.Set, picks []int, err error) {
	if t.e.orders.replay == "" {
		return set, nil, nil
	}
	if set, picks, err = interleave.ParseSchedule(t.e.orders.replay); err != nil {
		return set, nil, usagef("--replay: %v", err)
	}
	can, cannot := interleave.Sets(t.service.Adapter, t.service.Operator.Key != "")
	if !slices.Contains(can, set) {
		i := slices.IndexFunc(cannot, func(l interleave.LeftOut) bool { return l.Set == set.String() })
		return set, nil, usagef("--replay: %s cannot be played here: %s", set, cannot[i].Why)
	}
	return set, picks, nil
}

func (t *exploredTarget) tellSet(r interleave.SetResult) {
	if t.e.s.json {
		_ = json.NewEncoder(t.e.s.out).Encode(struct {
			Type string `json:"type"`
			interleave.SetResult
		}{"set", r})
		return
	}
	mark := "✓"
	switch {
	case r.Violating > 0:
		mark = "✗"
	case r.Undecided > 0 || r.Schedules == 0:
		mark = "?"
	}
	text := fmt.Sprintf("%s %-32s %4d schedules, %d statements waited for a lock", mark, r.Set, r.Schedules, r.Blocked)
	for _, more := range []struct {
		n    int
		what string
	}{{r.Diverged, "diverged and were played again"}, {r.Undecided, "came to nothing"}, {r.Aside, "waits inside the service"}, {r.Deadlocks, "deadlocks"}, {r.Violating, "broke an invariant"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	_, _ = fmt.Fprintln(t.e.s.out, text)
}

// tell says what came of it all, and with which code to exit. failed ended the search
// before its end.
func (t *exploredTarget) tell(r interleave.Result, leftOut []interleave.LeftOut, failed error) int {
	code := ExitOK
	switch {
	case r.Violating > 0:
		code = ExitViolation
	case r.Undecided > 0 || r.Schedules == 0 || failed != nil:
		code = ExitInconclusive
	}
	if t.e.s.json {
		_ = json.NewEncoder(t.e.s.out).Encode(struct {
			Type       string                 `json:"type"`
			Schedules  int                    `json:"schedules"`
			Diverged   int                    `json:"diverged"`
			Undecided  int                    `json:"undecided"`
			Blocked    int                    `json:"blocked"`
			Aside      int                    `json:"aside"`
			Deadlocks  int                    `json:"deadlocks"`
			Violating  int                    `json:"violating"`
			Background int                    `json:"background"`
			LeftOut    []interleave.LeftOut   `json:"left_out,omitempty"`
			TookMS     int64                  `json:"took_ms"`
			Violations []interleave.Violation `json:"violations,omitempty"`
			Why        string                 `json:"why,omitempty"`
			Exit       int                    `json:"exit"`
		}{"run", r.Schedules, r.Diverged, r.Undecided, r.Blocked, r.Aside, r.Deadlocks, r.Violating, r.Background, leftOut, r.Took.Milliseconds(), r.Violations, r.Why, code})
		return code
	}
	_, _ = fmt.Fprintf(t.e.s.out, "pairs    %d sets, every order of their statements: %d schedules in %s, %.1f a second\n", len(r.Sets), r.Schedules,
		r.Took.Round(100*time.Millisecond), float64(r.Schedules)/max(r.Took.Seconds(), 0.001))
	_, _ = fmt.Fprintf(t.e.s.out, "%-8s %d statements waited for a lock, %d schedules diverged and were played again, %d came to nothing, %d broke an invariant\n", "",
		r.Blocked, r.Diverged, r.Undecided, r.Violating)
	_, _ = fmt.Fprintf(t.e.s.out, "%-8s %d kinds of statement passed as the target's own\n", "", r.Background)
	for _, l := range leftOut {
		_, _ = fmt.Fprintf(t.e.s.out, "%-8s not applicable: %s: %s\n", "", l.Set, l.Why)
	}
	if r.Why != "" {
		_, _ = fmt.Fprintf(t.e.s.out, "%-8s %s\n", "", printable(r.Why))
	}
	var told []invariant.ID
	for _, v := range r.Violations {
		if slices.Contains(told, v.Invariant) {
			continue // the first of each invariant is enough to begin with
		}
		told = append(told, v.Invariant)
		_, _ = fmt.Fprintf(t.e.s.out, "\n✗ %s  %s\n\n", v.Invariant, printable(v.Sentence))
		for _, line := range v.Steps {
			_, _ = fmt.Fprintln(t.e.s.out, "    "+printable(line))
		}
		_, _ = fmt.Fprintf(t.e.s.out, "\n  again  interlock %s\n", shellLine(append([]string{"explore", "--interleave", "--replay", v.Schedule}, t.again()...)))
	}
	if code == ExitInconclusive {
		_, _ = fmt.Fprintln(t.e.s.out, "exit 2 (inconclusive)")
	}
	return code
}

func (t *exploredTarget) tellReplay(all []interleave.Replayed) int {
	broke, diverged, undecided := map[invariant.ID]int{}, 0, 0
	for _, r := range all {
		if r.Diverged != "" {
			diverged++
		}
		if r.Undecided != "" {
			undecided++
		}
		ids := map[invariant.ID]bool{} // an invariant counts once a time
		for _, v := range r.Violations {
			ids[v.Invariant] = true
		}
		for id := range ids {
			broke[id]++
		}
	}
	code := ExitOK
	switch {
	case len(broke) > 0:
		code = ExitViolation
	case diverged+undecided > 0 || len(all) == 0:
		code = ExitInconclusive
	}
	last := all[len(all)-1]
	if t.e.s.json {
		_ = json.NewEncoder(t.e.s.out).Encode(struct {
			Type      string               `json:"type"`
			Times     int                  `json:"times"`
			Diverged  int                  `json:"diverged"`
			Undecided int                  `json:"undecided"`
			Broke     map[invariant.ID]int `json:"broke"`
			Last      interleave.Replayed  `json:"last"`
			Exit      int                  `json:"exit"`
		}{"replay", len(all), diverged, undecided, broke, last, code})
		return code
	}
	_, _ = fmt.Fprintln(t.e.s.out, last.Schedule)
	for _, line := range last.Steps {
		_, _ = fmt.Fprintln(t.e.s.out, "    "+printable(line))
	}
	for _, v := range last.Violations {
		_, _ = fmt.Fprintf(t.e.s.out, "✗ %s  %s\n", v.Invariant, printable(v.Sentence))
	}
	for id, n := range broke {
		_, _ = fmt.Fprintf(t.e.s.out, "%s in %d of %d\n", id, n, len(all))
	}
	if diverged > 0 {
		_, _ = fmt.Fprintf(t.e.s.out, "%d of %d went another way: %s\n", diverged, len(all), printable(last.Diverged))
	}
	if undecided > 0 {
		_, _ = fmt.Fprintf(t.e.s.out, "%d of %d proved nothing: %s\n", undecided, len(all), printable(last.Undecided))
	}
	if len(broke)+diverged+undecided == 0 {
		_, _ = fmt.Fprintf(t.e.s.out, "no invariant broken, %d of %d\n", len(all), len(all))
	}
	return code
}

// shellLine is a command with its arguments, as a shell takes it.
func shellLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if name, ok := strings.CutPrefix(a, "--"); !ok || shellWord(name) != name {
			words[i] = shellWord(a)
		}
	}
	return strings.Join(words, " ")
}
