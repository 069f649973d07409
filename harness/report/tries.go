package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// Round is one try of all scenarios of a run that repeats them.
type Round struct {
	Try     int               `json:"try"` // from 1
	Seed    int64             `json:"seed"`
	Verdict invariant.Verdict `json:"verdict"` // the worst of its plays
	Plays   int               `json:"plays"`
	Took    Milliseconds      `json:"took_ms"`
	// Counted only: the round was clean, and the run kept neither its plays nor its
	// history.
	CountedOnly bool `json:"counted_only,omitempty"`
}

// Try is one try of a scenario.
type Try struct {
	Try     int               `json:"try"`
	Seed    int64             `json:"seed"`
	Verdict invariant.Verdict `json:"verdict"`
}

// TryName is what a try of a scenario is called in every file: SLUG/TRY, or the slug
// where the run does not repeat its scenarios.
func TryName(slug string, try int) string {
	if try == 0 {
		return slug
	}
	return fmt.Sprintf("%s/%d", slug, try)
}

// TryOf is what a play that its own process called name is called as part of a try.
func TryOf(name string, try int) string {
	slug := history.Slug(name)
	return TryName(slug, try) + strings.TrimPrefix(name, slug)
}

// Reported is the verdict of a play as the run counts it.
func (p Play) Reported() invariant.Verdict { return p.reported() }

// cases are the scenarios, or each try of them where the run repeats them.
func (r *Run) cases() []Scenario {
	return r.grouped(func(p *Play) string { return TryName(p.Slug, p.Try) })
}

// count adds a play to the tries of its scenario. Plays of one try come together.
func (s *Scenario) count(p *Play) {
	if p.Try == 0 {
		return
	}
	if n := len(s.Plays); n < 2 || s.Plays[n-2].Try != p.Try {
		s.Tries++
	}
	if p.Met() {
		return
	}
	if n := len(s.Unmet); n > 0 && s.Unmet[n-1].Try == p.Try {
		s.Unmet[n-1].Verdict = invariant.Worse(s.Unmet[n-1].Verdict, p.reported())
		return
	}
	s.Unmet = append(s.Unmet, Try{p.Try, p.Seed, p.reported()})
}

// told are the plays of a scenario that a text tells of: all that did not come out as
// they must, and of a scenario that was repeated the first of the worst.
func (s Scenario) told() []*Play {
	var list []*Play
	for _, p := range s.Plays {
		switch {
		case p.Met():
		case p.Try == 0:
			list = append(list, p)
		case p.reported() == s.Verdict:
			return []*Play{p}
		}
	}
	return list
}

// Told are the plays of the run that a text tells of.
func (r *Run) Told() []Play {
	var list []Play
	if len(r.Rounds) == 0 { // in the order in which they were played
		for _, p := range r.Plays {
			if !p.Met() {
				list = append(list, p)
			}
		}
		return list
	}
	for _, s := range r.Scenarios() {
		for _, p := range s.told() {
			list = append(list, *p)
		}
	}
	return list
}

// often says how many tries of a scenario came out so; "" where it was not repeated.
func (s Scenario) often() string {
	if s.Tries < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d tries: ", len(s.Unmet), s.Tries)
}

// tried is often for a table.
func (s Scenario) tried() string {
	switch {
	case s.Tries == 0:
		return ""
	case len(s.Unmet) == 0:
		return fmt.Sprintf(", %s", several(s.Tries, "try", "tries"))
	}
	return fmt.Sprintf(", %d of %s", len(s.Unmet), several(s.Tries, "try", "tries"))
}

// triesOf says which tries of the scenario of a play came out otherwise than they
// must, as far as a line takes.
func (r *Run) triesOf(p Play) string {
	for _, s := range r.Scenarios() {
		if s.Slug != p.Slug {
			continue
		}
		seeds := make([]string, len(s.Unmet))
		for i, t := range s.Unmet {
			seeds[i] = itoa(t.Seed)
		}
		word := "seeds"
		if len(seeds) == 1 {
			word = "seed"
		}
		return fmt.Sprintf("%d of %d, this is try %d; %s %s", len(s.Unmet), s.Tries, p.Try, word, strings.Join(slices.Compact(seeds), " "))
	}
	return ""
}

// rounds says in a sentence what was repeated and what came of it.
func (r *Run) rounds() string {
	clean := 0
	for _, round := range r.Rounds {
		if round.Verdict == invariant.Pass {
			clean++
		}
	}
	first, last := r.Rounds[0].Seed, r.Rounds[len(r.Rounds)-1].Seed
	seeds := fmt.Sprintf("seeds %d to %d", first, last)
	if first == last {
		seeds = fmt.Sprintf("seed %d", first)
	}
	return fmt.Sprintf("%s, %s: %d clean", several(len(r.Rounds), "try", "tries"), seeds, clean)
}

// roundsExtra is a table of the tries.
func (r *Run) roundsExtra() []Extra {
	if len(r.Rounds) == 0 {
		return nil
	}
	e := Extra{ID: "tries", Title: "Tries", Intro: "The verdict of the run is the worst of its tries. " + upper(r.rounds()) + ".", Columns: []string{"try", "seed", "verdict", "plays", "ms", "history"}}
	for _, round := range r.Rounds {
		kept := "kept"
		if round.CountedOnly {
			kept = "counted only"
		}
		e.Rows = append(e.Rows, []Cell{
			{Text: itoa(int64(round.Try))}, {Text: itoa(round.Seed)}, {Text: string(round.Verdict), Verdict: round.Verdict},
			{Text: itoa(int64(round.Plays))}, {Text: itoa(time.Duration(round.Took).Milliseconds())}, {Text: kept},
		})
	}
	return []Extra{e}
}

func several(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
