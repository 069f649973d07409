package service

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/interlock-harness/interlock/service/internal/interleave"
)

// Exit codes of interleave beside those of the whole command.
const (
	exitViolation    = 1 // a schedule broke a promise
	exitInconclusive = 2 // a schedule never went the way that its picks say
)

// exitError ends a command that has already said all.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// comesTo is the exit code of an exploration: a violation outranks what was not
// decided.
func comesTo(violation, undecided bool) int {
	switch {
	case violation:
		return exitViolation
	case undecided:
		return exitInconclusive
	}
	return exitOK
}

// end ends an exploration that has told what it saw.
func (e *exploration) end(code int) error {
	if code == exitOK {
		return nil
	}
	if code == exitInconclusive && !e.json {
		_, _ = fmt.Fprintln(e.stdout, "exit 2 (inconclusive)")
	}
	return &exitError{code}
}

// exploration is one invocation of interleave, the command behind `interlock
// explore --interleave`, which gives it empty databases.
type exploration struct {
	options        interleave.Options
	mutant         string
	pairs, triples bool
	everyOrder     bool
	hunt           bool
	only           []string // of the mutants that are hunted; all where it is empty
	replay         string
	times          int
	json           bool
	stdout, stderr io.Writer
}

func exploreOrders(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	e := &exploration{stdout: stdout, stderr: stderr}
	fs := flag.NewFlagSet("interleave", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("database", "", func(url string) error { e.options.Databases = append(e.options.Databases, url); return nil })
	fs.BoolVar(&e.pairs, "pairs", false, "")
	fs.BoolVar(&e.triples, "triples", false, "")
	fs.BoolVar(&e.everyOrder, "every-order", false, "")
	fs.BoolVar(&e.options.UntilViolation, "until-violation", false, "")
	fs.StringVar(&e.replay, "replay", "", "")
	fs.IntVar(&e.times, "times", 1, "")
	fs.StringVar(&e.mutant, "mutant", "", "")
	fs.BoolVar(&e.hunt, "mutants", false, "")
	fs.Func("only", "", func(name string) error { e.only = append(e.only, name); return nil })
	fs.BoolVar(&e.json, "json", false, "")
	if err := fs.Parse(args); err != nil {
		return usage("%v", err)
	}
	if len(e.options.Databases) == 0 {
		return usage("interleave is what interlock explore --interleave runs; call that")
	}
	var err error
	if e.options.Mutant, err = interleave.Choose(e.mutant); err != nil {
		return usage("%v", err)
	}
	if e.hunt {
		return e.mutants(ctx)
	}
	if e.replay != "" {
		return e.again(ctx)
	}
	return e.search(ctx)
}

// OrderMutants are the names of the mutants and guards that interleave knows.
func OrderMutants() []string {
	targets, _ := interleave.Targets() // an error names one that was asked for
	names := make([]string, len(targets))
	for i, m := range targets {
		names[i] = m.Name
	}
	return names
}

// IsOrderMutant reports whether interleave knows the name: one of OrderMutants, or
// a group of guards, each with or without the schema's second guards.
func IsOrderMutant(name string) bool {
	_, err := interleave.Targets(name)
	return err == nil
}

// CheckSchedule returns what is wrong with a schedule that interleave shall play
// again, SITUATION/TRANSACTION+TRANSACTION:PICKS.
func CheckSchedule(text string) error {
	_, _, err := interleave.ParseSchedule(text)
	return err
}

// search plays the pairs, then the triples.
func (e *exploration) search(ctx context.Context) error {
	both := e.pairs == e.triples
	all := interleave.Result{}
	for _, part := range []struct {
		name  string
		sets  []interleave.Set
		asked bool
	}{
		{"pairs", interleave.Pairs(), e.pairs || both},
		{"triples", interleave.Triples(), e.triples || both},
	} {
		if !part.asked || e.options.UntilViolation && all.Violating > 0 {
			continue
		}
		o := e.options
		o.Merge = !e.everyOrder
		if e.json {
			o.Done = func(s interleave.SetResult) {
				_ = json.NewEncoder(e.stdout).Encode(struct {
					Type string `json:"type"`
					interleave.SetResult
				}{"set", s})
			}
		}
		r, err := interleave.Search(ctx, o, part.sets)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		all.Append(r)
		if !e.json {
			e.tell(part.name, r, o.Merge)
		}
	}
	return e.finish(all)
}

func (e *exploration) tell(name string, r interleave.Result, merged bool) {
	how := "every order"
	if merged {
		how = "every order that can matter"
	}
	_, _ = fmt.Fprintf(e.stdout, "%-8s %d sets, %s of their statements: %d schedules in %s, %.0f a second\n", name, len(r.Sets), how,
		r.Schedules, r.Took.Round(100*time.Millisecond), float64(r.Schedules+r.Equal+r.Undecided)/r.Took.Seconds())
	_, _ = fmt.Fprintf(e.stdout, "%-8s %d statements waited for a lock, %d schedules diverged and were played again, %d of them in vain, %d broke a promise; none skipped\n", "",
		r.Blocked, r.Diverged, r.Undecided, r.Violating)
}

// finish says what came of it all, and with which code to exit.
func (e *exploration) finish(all interleave.Result) error {
	code := comesTo(all.Violating > 0, all.Undecided > 0 || all.Schedules == 0)
	if e.json {
		_ = json.NewEncoder(e.stdout).Encode(struct {
			Type       string                 `json:"type"`
			Schedules  int                    `json:"schedules"`
			Equal      int                    `json:"equal"`
			Diverged   int                    `json:"diverged"`
			Undecided  int                    `json:"undecided"`
			Blocked    int                    `json:"blocked"`
			Violating  int                    `json:"violating"`
			TookMS     int64                  `json:"took_ms"`
			Violations []interleave.Violation `json:"violations,omitempty"`
			Exit       int                    `json:"exit"`
		}{"run", all.Schedules, all.Equal, all.Diverged, all.Undecided, all.Blocked, all.Violating, all.Took.Milliseconds(), all.Violations, code})
		return e.end(code)
	}
	var told []string
	for _, v := range all.Violations {
		if slices.Contains(told, v.Invariant) {
			continue // the first of each invariant is enough to begin with
		}
		told = append(told, v.Invariant)
		e.show(v)
	}
	return e.end(code)
}

func (e *exploration) show(v interleave.Violation) {
	_, _ = fmt.Fprintf(e.stdout, "\n✗ %s  %s\n\n", v.Invariant, v.Sentence)
	for _, line := range v.Steps {
		_, _ = fmt.Fprintln(e.stdout, "    "+line)
	}
	_, _ = fmt.Fprintf(e.stdout, "\n  again  interlock explore --interleave --replay %s%s\n", v.Schedule, e.withMutant())
}

func (e *exploration) withMutant() string {
	if e.mutant == "" {
		return ""
	}
	return " --mutant " + e.mutant
}

// again plays one schedule.
func (e *exploration) again(ctx context.Context) error {
	set, picks, err := interleave.ParseSchedule(e.replay)
	if err != nil {
		return usage("%v", err)
	}
	if e.times < 1 || e.times > 10_000 {
		return usage("--times is %d, but must be 1 to 10000", e.times)
	}
	all, err := interleave.Replay(ctx, e.options, set, picks, e.times)
	if err != nil {
		return err
	}
	broke, diverged := map[string]int{}, 0
	for _, r := range all {
		if r.Diverged != "" {
			diverged++
		}
		ids := map[string]bool{} // an invariant counts once a time
		for _, v := range r.Violations {
			ids[v.Invariant] = true
		}
		for id := range ids {
			broke[id]++
		}
	}
	code := comesTo(len(broke) > 0, diverged > 0)
	if e.json {
		_ = json.NewEncoder(e.stdout).Encode(struct {
			Type     string              `json:"type"`
			Times    int                 `json:"times"`
			Diverged int                 `json:"diverged"`
			Broke    map[string]int      `json:"broke"`
			Last     interleave.Replayed `json:"last"`
			Exit     int                 `json:"exit"`
		}{"replay", len(all), diverged, broke, all[len(all)-1], code})
		return e.end(code)
	}
	last := all[len(all)-1]
	_, _ = fmt.Fprintln(e.stdout, last.Schedule)
	for _, line := range slices.Concat(last.Steps, last.Answers) {
		_, _ = fmt.Fprintln(e.stdout, "    "+line)
	}
	for _, v := range last.Violations {
		_, _ = fmt.Fprintf(e.stdout, "✗ %s  %s\n", v.Invariant, v.Sentence)
	}
	for name, n := range broke {
		_, _ = fmt.Fprintf(e.stdout, "%s in %d of %d\n", name, n, len(all))
	}
	if diverged > 0 {
		_, _ = fmt.Fprintf(e.stdout, "%d of %d went another way: %s\n", diverged, len(all), last.Diverged)
	}
	if len(broke)+diverged == 0 {
		_, _ = fmt.Fprintf(e.stdout, "no promise broken, %d of %d\n", len(all), len(all))
	}
	return e.end(code)
}
