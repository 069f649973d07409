package report

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// Checked is what Check found out about a report folder.
type Checked struct {
	Stored Stored
	// Verdict of the check itself: Pass when the stored history gives what the
	// report says; Violation when it does not, or is not the history of this run;
	// Inconclusive when there is nothing to recompute.
	Verdict invariant.Verdict
	// Problems say, one sentence each, what does not agree.
	Problems []string
	Plays    int // recomputed
}

// Check judges the stored history of a folder anew and compares every verdict
// with the one in report.json. It returns an error only when a file cannot be
// read at all.
//
// A report that nobody signed proves what it says about its own history; that
// the history was recorded, and not written by hand, it cannot prove.
func Check(dir string) (Checked, error) {
	var c Checked
	stored, err := Load(dir)
	if err != nil {
		return c, err
	}
	c.Stored, c.Verdict = stored, invariant.Pass
	path := filepath.Join(dir, HistoryFile)
	d, err := digestFile(path)
	if err != nil {
		return c, fmt.Errorf("read history: %w", err)
	}
	if d != stored.History {
		c.wrong("the history is not the one that was judged: it has %d bytes and digest %s, the report says %d and %s", d.Bytes, head(d.SHA256), stored.History.Bytes, head(stored.History.SHA256))
	}
	plays, run, err := collect(path)
	if err != nil {
		return c, err
	}
	c.sameRun(run)
	c.recompute(plays)
	c.totals()
	if c.Plays == 0 && c.Verdict == invariant.Pass {
		c.Verdict = invariant.Inconclusive
		c.Problems = append(c.Problems, "the report holds no play that could be judged anew")
	}
	return c, nil
}

func head(s string) string { return s[:min(12, len(s))] }

func (c *Checked) wrong(format string, args ...any) {
	c.Verdict = invariant.Violation
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// collect reads a history once, by play, without keeping its events.
func collect(path string) (map[string]*invariant.Collector, RunFacts, error) {
	plays := map[string]*invariant.Collector{}
	var run RunFacts
	err := history.ScanFile(path, func(e history.Event) error {
		if e.Kind == history.Note && e.Op == NoteRun && e.Scenario == "" && run.Run == "" {
			return e.Decode(&run)
		}
		if e.Scenario == "" {
			return nil
		}
		play, ok := plays[e.Scenario]
		if !ok {
			if len(plays) > 100_000 {
				return errors.New("too many plays")
			}
			play = invariant.NewCollector()
			plays[e.Scenario] = play
		}
		play.Add(e)
		return nil
	})
	return plays, run, err
}

// sameRun compares who the history says it is with the report.
func (c *Checked) sameRun(run RunFacts) {
	r := c.Stored.Run
	run.Wall = ""
	want := RunFacts{Run: r.ID, Seed: r.Seed, Level: r.Level.String(), Target: r.Target}
	if run != want {
		c.wrong("the history belongs to run %q of target %q with seed %d, the report to run %q of %q with seed %d", run.Run, run.Target, run.Seed, want.Run, want.Target, want.Seed)
	}
}

// recompute judges every play of the report anew.
func (c *Checked) recompute(plays map[string]*invariant.Collector) {
	r := c.Stored.Run
	told := map[string]bool{}
	for _, p := range r.Plays {
		if p.History == "" && p.Result.Verdict == invariant.Infrastructure {
			continue // it never began
		}
		if told[p.History] {
			c.wrong("play %s is in the report twice", p.History)
		}
		told[p.History] = true
		if history.Slug(p.History) != p.Slug {
			c.wrong("play %s is shown under scenario %s", p.History, p.Slug)
		}
		collected, ok := plays[p.History]
		if !ok {
			if p.Result.Verdict != invariant.Infrastructure {
				c.wrong("play %s has no history", p.History)
			}
			continue
		}
		c.Plays++
		again := collected.History().Judge(r.Level, p.Expect)
		if again.Verdict != p.Result.Verdict {
			c.wrong("play %s is %s by its history, and the report says %s", p.History, again.Verdict, p.Result.Verdict)
			continue
		}
		if a, b := outline(again), outline(p.Result); !slices.Equal(a, b) {
			c.wrong("the findings of play %s are others than the report says: %v, not %v", p.History, a, b)
		}
		// What a play did beside its history (a step that failed) can make the
		// verdict worse, never better.
		if invariant.Worse(p.Verdict, again.Verdict) != p.Verdict {
			c.wrong("play %s is called %s, and its history says %s", p.History, p.Verdict, again.Verdict)
		}
	}
	for name := range plays {
		if !told[name] {
			c.wrong("play %s is in the history and not in the report", name)
		}
	}
}

// outline is a result as far as it must be the same again.
func outline(r invariant.Result) []string {
	list := []string{fmt.Sprintf("%d operations", r.Operations), fmt.Sprintf("%d of %d faults", r.Fired, r.Armed)}
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%s %s %s", f.Verdict, f.Invariant, f.Sentence))
	}
	slices.Sort(list)
	return list
}

// totals compares what the report says of the whole run with its own plays.
func (c *Checked) totals() {
	s := c.Stored
	r := &s.Run
	c.rounds()
	if v := r.Verdict(); v != s.Verdict || ExitCode(v) != s.ExitCode {
		c.wrong("the run is %s by its plays, and the report says %s, exit %d", v, s.Verdict, s.ExitCode)
	}
	if counts := r.Counts(); counts != s.Counts {
		c.wrong("the counts are %+v by the plays, and the report says %+v", counts, s.Counts)
	}
	scenarios := r.Scenarios()
	if !slices.EqualFunc(scenarios, s.Scenarios, func(a, b Scenario) bool {
		return a.Slug == b.Slug && a.Verdict == b.Verdict && slices.Equal(a.Violated, b.Violated)
	}) {
		c.wrong("the table of scenarios does not agree with the plays")
	}
}

// rounds compares what the report says of each try with the plays of the try.
func (c *Checked) rounds() {
	r := c.Stored.Run
	verdicts, plays := map[int]invariant.Verdict{}, map[int]int{}
	for _, p := range r.Plays {
		if plays[p.Try] == 0 {
			verdicts[p.Try] = invariant.Pass
		}
		plays[p.Try]++
		verdicts[p.Try] = invariant.Worse(verdicts[p.Try], p.reported())
	}
	for _, round := range r.Rounds {
		switch n := plays[round.Try]; {
		case round.CountedOnly && (n > 0 || round.Verdict != invariant.Pass):
			c.wrong("try %d is %s with %d plays, and the report says that it was clean and only counted", round.Try, round.Verdict, n)
		case !round.CountedOnly && (n != round.Plays || n > 0 && verdicts[round.Try] != round.Verdict):
			c.wrong("try %d is %s by its %d plays, and the report says %s and %d", round.Try, verdicts[round.Try], n, round.Verdict, round.Plays)
		}
		delete(plays, round.Try)
	}
	for try := range plays {
		if try > 0 {
			c.wrong("try %d has plays, and the table of tries does not hold it", try)
		}
	}
}
