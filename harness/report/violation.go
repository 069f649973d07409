package report

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// Limits of a text that tells one violation.
const (
	maxLines = 24
	maxWidth = 80
)

// Signs go with the verdict words everywhere.
var signs = map[invariant.Verdict]string{
	invariant.Pass: "✓", invariant.Violation: "✗", invariant.Inconclusive: "?", invariant.Infrastructure: "!",
}

// Sign returns the sign of a verdict.
func Sign(v invariant.Verdict) string { return signs[v] }

// Places are where a text sends its reader.
type Places struct {
	HTML string // path of report.html, "" where there is none
}

// Violation tells one play that did not come out as it must, in at most 24 lines
// of 80 columns: the sentence, the fault, the invariant, expected and found, an
// excerpt of the history, and the commands that repeat, show and explain it.
func (r *Run) Violation(p Play, events []history.Event, places Places, style Style) string {
	labels := NewLabels(events)
	main := mainFinding(p)
	t := &text{style: style}
	t.line(style.verdict(p.reported(), Sign(p.reported())+" "+Untrusted(p.Slug).Terminal()))
	t.line("")
	sentence := labels.In(main.Sentence)
	if p.canary() && !p.Met() {
		sentence = fmt.Sprintf("The canary came out %s, and it must come out %s: no verdict of this run can be trusted.", p.Verdict, p.wanted())
	}
	t.paragraph("  ", Untrusted(sentence).Line(), 3)
	t.line("")
	t.field("fault", faultLine(p, events))
	if i, ok := invariant.ByID(main.Invariant); ok {
		t.field("invariant", fmt.Sprintf("%s (%s): %s", i.Name, i.ID, i.Rule))
	}
	if main.Expected != "" {
		t.field("expected", labels.In(main.Expected))
		t.field("found", labels.In(main.Found))
	}
	if p.Try > 0 {
		t.field("tries", r.triesOf(p))
	}
	if p.Trouble != "" && (main.Sentence == "" || main.Verdict != invariant.Violation) {
		t.field("stopped", labels.In(oneLine(p.Trouble)))
	}
	commands := []string{"  again    " + r.again(p)}
	if places.HTML != "" {
		at := int64(0)
		if len(main.Events) > 0 {
			at = millis(events, main.Events[len(main.Events)-1])
		}
		commands = append(commands, look(places.HTML, firstOf(p.History, p.Slug), at))
	}
	if main.Invariant != "" {
		commands = append(commands, "  explain  interlock explain "+string(main.Invariant))
	}
	room := maxLines - t.lines - len(commands) - 2
	if lines := Excerpt(events, main, labels, room); len(lines) > 0 {
		t.line("")
		t.excerpt(lines, start(events))
	}
	t.line("")
	for _, c := range commands {
		t.whole(c) // never cut: a command must work when it is pasted
	}
	return t.b.String()
}

// look is the line that says where the report shows a play: to the millisecond
// where that fits, else from its beginning, else the report alone.
func look(page, play string, at int64) string {
	line := "  look     " + Shell(page)
	for _, fragment := range []string{fmt.Sprintf("#s=%s&t=%d", url.QueryEscape(play), at), "#s=" + url.QueryEscape(play)} {
		if columns(line+fragment) <= maxWidth {
			return line + fragment
		}
	}
	return line
}

// oneLine joins the lines of a message. Where an assertion spells out an error with
// its types and addresses, what the error says is kept.
func oneLine(text string) string {
	text = strings.TrimPrefix(dumped.ReplaceAllString(text, ": $1"), ": ")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n: ", ": ")), " ")
}

// dumped is how Gomega shows an error that should not have occurred.
var dumped = regexp.MustCompile(`(?s)Unexpected error:\n\s+<[^>\n]*>:\s*\n(.*?)\n {4}\{\n.*?\n {4}\}\noccurred`)

func (p Play) wanted() string {
	if p.MustBreak != "" {
		return fmt.Sprintf("a violation of %s", p.MustBreak)
	}
	return string(p.Expect.Wanted())
}

// mainFinding is the finding that a text leads with: the worst, of several
// violations the one that the scenario is about, and of those the one by which
// the mutant of the run must die.
func mainFinding(p Play) invariant.Finding {
	findings := p.Result.Findings
	best, rank := invariant.Finding{}, 0
	for _, f := range findings {
		n := 1
		if f.Verdict == p.Verdict {
			n += 2
		}
		if f.Verdict == invariant.Violation {
			n += 4
			if slices.Contains(p.Expect.Invariants, f.Invariant) {
				n += 8
			}
			if f.Invariant == p.Named {
				n += 16
			}
		}
		if n > rank {
			best, rank = f, n
		}
	}
	if best.Sentence == "" {
		best.Verdict = p.Verdict
		best.Sentence = oneLine(p.Trouble)
		if best.Sentence == "" {
			best.Sentence = fmt.Sprintf("The scenario came out %s.", p.Verdict)
		}
	}
	return best
}

// faultLine names the faults of a play and what is known of their firing.
func faultLine(p Play, events []history.Event) string {
	var parts []string
	for _, f := range history.Faults(events) {
		var facts history.FaultFacts
		_ = f.Armed.Decode(&facts)
		what := f.Armed.Op
		if facts.Detail != "" && facts.Detail != what {
			what += ": " + facts.Detail
		}
		if len(f.Fired) > 0 {
			what += fmt.Sprintf(" (fired at %d ms)", (f.Fired[0].AtUS-start(events))/1000)
		} else {
			what += " (did not fire)"
		}
		parts = append(parts, what)
	}
	if len(parts) == 0 {
		return firstOf(p.Fault, "none")
	}
	return strings.Join(parts, "; ")
}

func start(events []history.Event) int64 {
	if len(events) == 0 {
		return 0
	}
	return events[0].AtUS
}

func millis(events []history.Event, n int64) int64 {
	for _, e := range events {
		if e.N == n {
			return (e.AtUS - start(events)) / 1000
		}
	}
	return 0
}

// text is a terminal text that keeps its width.
type text struct {
	b     strings.Builder
	lines int
	style Style
}

func (t *text) whole(line string) {
	t.b.WriteString(strings.TrimRight(line, " "))
	t.b.WriteByte('\n')
	t.lines++
}

func (t *text) line(line string) { t.whole(line) }

// field writes a name and its value in one line of 80 columns.
func (t *text) field(name, value string) {
	t.whole(clip(fmt.Sprintf("  %-10s %s", name, Untrusted(value).Line()), maxWidth))
}

// glue is a space at which no line ends.
const glue = "\u00a0"

func breaks(r rune) bool { return unicode.IsSpace(r) && string(r) != glue }

// paragraph wraps words to at most n lines.
func (t *text) paragraph(indent, words string, n int) {
	line, written := indent, 0
	for _, word := range strings.FieldsFunc(words, breaks) {
		word = strings.ReplaceAll(word, glue, " ")
		if columns(line)+1+columns(word) > maxWidth-2 && line != indent {
			if written == n-1 {
				t.whole(clip(line, maxWidth-4) + " ...")
				return
			}
			t.whole(line)
			written++
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	t.whole(clip(line, maxWidth))
}

func (t *text) excerpt(lines []Line, from int64) {
	lane, what := 0, 0
	for _, l := range lines {
		lane = max(lane, min(14, columns(Untrusted(l.Lane).Terminal())))
		what = max(what, min(30, columns(Untrusted(l.What).Terminal())))
	}
	const here = "   <- here"
	for _, l := range lines {
		text := fmt.Sprintf("%6d ms  %s  %s", (l.AtUS-from)/1000, pad(Untrusted(l.Lane).Terminal(), lane), pad(Untrusted(l.What).Terminal(), what))
		if l.Outcome != "" {
			text += "  " + Untrusted(l.Outcome).Terminal()
		}
		if l.Here {
			t.whole(t.style.strong(clip(text, maxWidth-len(here)) + here))
			continue
		}
		t.whole(clip(text, maxWidth))
	}
}

// Line is Terminal without the cut: for sentences of our own with foreign names
// inside, which the width of the line bounds.
func (u Untrusted) Line() string { return inert(visible(string(u), false, 0)) }

// columns is how many columns of a terminal text takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// clip cuts text to w columns and marks the cut.
func clip(text string, w int) string {
	if columns(text) <= w {
		return text
	}
	n := 0
	for i, r := range text {
		c := columns(string(r))
		if n+c > w-1 {
			return text[:i] + "…"
		}
		n += c
	}
	return text
}

// pad fills text to w columns, or cuts it.
func pad(text string, w int) string {
	text = clip(text, w)
	return text + strings.Repeat(" ", max(0, w-columns(text)))
}
