package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// Summary tells a whole run in a screen: what it ran on, a line for each group,
// the counts, where the report is, what to do next, and the exit code.
func (r *Run) Summary(places Places, style Style) string {
	scenarios, counts, verdict := r.Scenarios(), r.Counts(), r.Verdict()
	t := &text{style: style}
	head := fmt.Sprintf("seed %d - %s", r.Seed, Untrusted(r.Target).Terminal())
	if r.Stage != "" {
		head += ", " + Untrusted(r.Stage).Terminal()
	}
	t.paragraphAt(head+", level"+glue+r.Level.String(), 3)
	if len(r.Rounds) > 0 {
		t.paragraphAt(r.rounds(), 2)
	}
	t.line("")
	for _, group := range r.groups() {
		t.group(group, scenarios)
	}
	if len(r.Skipped) > 0 {
		var names []string
		for _, s := range r.Skipped {
			names = append(names, s.Slug)
		}
		t.whole(clip(fmt.Sprintf("  - %-11s %2d          not applicable at this level: %s", "", len(r.Skipped), strings.Join(names, ", ")), maxWidth))
		t.reasons(r.Skipped)
	}
	t.line("")
	if r.Interrupted {
		t.line("Interrupted: these are the scenarios that were judged until then.")
	}
	t.line(counts.sentence(time.Duration(r.Took)))
	if r.Ended != "" {
		t.paragraphAt(Untrusted(r.Ended).Line(), 2)
	}
	if r.Full {
		t.states(r)
	}
	if places.HTML != "" {
		t.whole("Report: " + Shell(places.HTML))
	}
	if r.Interrupted {
		return t.b.String()
	}
	if next := r.next(scenarios); next != "" {
		t.whole("Next:   " + next)
	}
	if verdict != invariant.Pass {
		t.line(style.verdict(verdict, fmt.Sprintf("exit %d (%s)", ExitCode(verdict), verdict)))
	}
	return t.b.String()
}

// reasons tells why scenarios are not applicable where it is not the level alone.
func (t *text) reasons(skipped []NotApplicable) {
	count := map[string]int{}
	for _, s := range skipped {
		count[s.Why]++
	}
	delete(count, "")
	for _, why := range slices.Sorted(maps.Keys(count)) {
		t.paragraph(strings.Repeat(" ", 16), fmt.Sprintf("%d of them: %s", count[why], Untrusted(why).Terminal()), 0)
	}
}

// states tells how much of the state machines a full run exercised, and what it
// did not.
func (t *text) states(r *Run) {
	t.line("States: " + coverageText(r.Coverage))
	missing := r.missing()
	for i, e := range missing {
		if i == 6 && len(missing) > 7 {
			t.line(fmt.Sprintf("        and %d more", len(missing)-i))
			return
		}
		t.line("        not exercised: " + e.String())
	}
}

// paragraphAt wraps words without an indent.
func (t *text) paragraphAt(words string, n int) { t.paragraph("", words, n) }

// group is the line of a group: its worst verdict, how many passed, and the
// names of those that did not, or of the first that did.
func (t *text) group(group string, scenarios []Scenario) {
	worst, pass, total := invariant.Pass, 0, 0
	var passed []string
	var rest []Scenario
	for _, s := range scenarios {
		if s.Group != group {
			continue
		}
		total++
		worst = invariant.Worse(worst, s.Verdict)
		if s.Verdict == invariant.Pass {
			pass++
			passed = append(passed, Untrusted(s.Slug).Terminal())
		} else {
			rest = append(rest, s)
		}
	}
	line := fmt.Sprintf("%-11s %2d of %-3d", Untrusted(group).Terminal(), pass, total)
	if len(rest) == 0 {
		names := strings.Join(passed[:min(3, len(passed))], ", ")
		if len(passed) > 3 {
			names += " ..."
		}
		t.whole("  " + t.style.verdict(worst, Sign(worst)) + " " + clip(line+"   "+names, maxWidth-4))
		return
	}
	const most = 6
	for i, s := range rest {
		if i == most && len(rest) > most+1 {
			t.whole(fmt.Sprintf("%s   and %d more", strings.Repeat(" ", 24), len(rest)-most))
			return
		}
		why := Untrusted(s.Slug).Terminal() + ": " + s.often() + Untrusted(s.why()).Line()
		if i > 0 {
			line = strings.Repeat(" ", 20)
		}
		t.whole("  " + t.style.verdict(s.Verdict, Sign(s.Verdict)) + " " + clip(line+"   "+why, maxWidth-4))
	}
}

// why says in a few words what is wrong with a scenario that did not pass.
func (s Scenario) why() string {
	for _, p := range s.Plays {
		if !p.Met() {
			if p.canary() {
				return fmt.Sprintf("came out %s, must be %s", p.Verdict, p.wanted())
			}
			main := mainFinding(*p)
			if i, ok := invariant.ByID(main.Invariant); ok {
				return fmt.Sprintf("breaks %s (%s)", i.Name, i.ID)
			}
			return main.Sentence
		}
	}
	return ""
}

// whyOf is why with the short names of jobs and attempts.
func (s Scenario) whyOf(events map[string][]history.Event) string {
	for _, p := range s.Plays {
		if !p.Met() {
			return NewLabels(events[p.History]).In(s.why())
		}
	}
	return s.why()
}

func (c Counts) sentence(took time.Duration) string {
	violations := "violations"
	if c.Violation == 1 {
		violations = "violation"
	}
	text := fmt.Sprintf("%d pass, %d %s, %d inconclusive", c.Pass, c.Violation, violations, c.Inconclusive)
	if c.Infrastructure > 0 {
		text += fmt.Sprintf(", %d infrastructure", c.Infrastructure)
	}
	text += fmt.Sprintf(" in %s.", round(took))
	switch {
	case c.Armed == 0:
	case c.Fired == c.Armed:
		text += fmt.Sprintf(" All faults fired in %d of %d.", c.Fired, c.Armed)
	default:
		text += fmt.Sprintf(" All faults fired in %d of %d only.", c.Fired, c.Armed)
	}
	return text
}

// round shows a duration as a person says it.
func round(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// next is the command that helps most now.
func (r *Run) next(scenarios []Scenario) string {
	if len(scenarios) == 0 {
		return "interlock verify --list"
	}
	for _, want := range []invariant.Verdict{invariant.Violation, invariant.Infrastructure, invariant.Inconclusive} {
		for _, s := range scenarios {
			if s.Verdict != want {
				continue
			}
			switch {
			case want == invariant.Infrastructure:
				return "interlock doctor"
			case want == invariant.Inconclusive && r.Mutant == "" && s.Tries == 0: // is it always so?
				return s.Again + " --repeat 5"
			}
			return s.Again
		}
	}
	return ""
}
