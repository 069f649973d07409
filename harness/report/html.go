package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
)

//go:embed page/report.html.tmpl
var pageText string

//go:embed page/report.css
var cssText string

//go:embed page/report.js
var jsText string

// LanesCSS and LanesJS draw the packed lanes of a play, here and on any page with
// the colours that they name.
var (
	//go:embed page/lanes.css
	LanesCSS string
	//go:embed page/lanes.js
	LanesJS string
)

// What goes into each page: without what only its authors need.
var pageCSS, pageJS = lean(cssText + LanesCSS), lean(LanesJS + jsText)

// lean takes indents, empty lines and lines that are comments from a text in which
// no string goes over several lines.
func lean(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "// ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// Page is what report.html shows beside the run itself.
type Page struct {
	Matrix *mutant.Matrix
	Extras []Extra // provider x check, gate, bench
	// Full keeps the histories of passing plays even where the page grows beyond
	// its limit.
	Full bool
	// Limit is that limit, in MiB; 0 is 20.
	Limit int
}

// limit in bytes.
func (p Page) limit() int {
	if p.Limit > 0 {
		return p.Limit << 20
	}
	return stopHTML
}

// Extra is one more table of the page.
type Extra struct {
	ID, Title, Intro string // ID is the anchor: lower case letters
	Follows          bool   // it belongs to the one before, and is not listed by itself
	Columns          []string
	Rows             [][]Cell
}

// Cell of an Extra.
type Cell struct {
	Text    string
	Verdict invariant.Verdict // empty: no colour
	Title   string            // shown on hover: the reason
}

// Sign of the cell.
func (c Cell) Sign() string { return signs[c.Verdict] }

// HTML makes the one file that opens from a disk without network. The warning is
// not empty when the file is large, or when histories had to be left out.
func HTML(r *Run, all []history.Event, dir string, p Page) (page []byte, warning string, err error) {
	page, err = p.render(r, all, dir, false)
	if err != nil {
		return nil, "", err
	}
	switch {
	case len(page) > p.limit() && !p.Full:
		if page, err = p.render(r, all, dir, true); err != nil {
			return nil, "", err
		}
		warning = fmt.Sprintf("report.html would be larger than %d MiB: the histories of passing scenarios were left out", p.limit()>>20)
	case len(page) > warnHTML:
		warning = fmt.Sprintf("report.html has %d MiB", len(page)>>20)
	}
	return page, warning, nil
}

func (p Page) render(r *Run, all []history.Event, dir string, lean bool) ([]byte, error) {
	events := ByPlay(all)
	data, err := pack(r, events, clockOf(all), lean).encode()
	if err != nil {
		return nil, err
	}
	return p.view(r, events, dir).render(data)
}

// digestOf allows one inline text and no other.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

type pageView struct {
	Sheet                            bool // no run: neither scenarios nor lanes
	Policy, Title, Word              string
	Sign, Verdict, Sentence, Command string
	Counts                           []countView
	Strip                            *stripView
	Facts                            []named
	Violations                       []violationView
	MoreViolations                   int
	Scenarios                        []scenarioView
	Skipped                          []NotApplicable
	CoverageText                     string
	Coverage                         []machineView
	Matrix                           *matrixView
	Extras                           []Extra
	Evidence                         []named
	Files                            []fileView
	Note                             string
	CSS                              template.CSS
	JS                               template.JS
	Data                             template.HTML
}

type named struct{ Name, Value string }

type countView struct {
	Sign, Verdict, Word string
	N                   int
}

type violationView struct {
	Name, Sign, Verdict, Sentence string
	Parts                         []named
	Lines                         []lineView
	Commands                      []named
	At                            int64
}

type lineView struct {
	Ms, Lane, What, Outcome string
	Here                    bool
}

type scenarioView struct {
	Scenario
	Sign, First, Invariants, Broken string
	Ms                              int64
}

type fileView struct {
	Name, Size string
	Data       template.URL // a data link where the file is small
}

// maxViolations is how many texts stand in the page itself.
const maxViolations = 40

func (p Page) view(r *Run, events map[string][]history.Event, dir string) pageView {
	counts, verdict := r.Counts(), r.Verdict()
	v := pageView{
		Title: fmt.Sprintf("Interlock run, seed %d", r.Seed), Sign: Sign(verdict), Verdict: string(verdict), Word: string(verdict), Sentence: r.sentence(events), Skipped: r.Skipped,
		Counts: []countView{
			{Sign(invariant.Pass), "pass", "pass", counts.Pass}, {Sign(invariant.Violation), "violation", "violation", counts.Violation},
			{Sign(invariant.Inconclusive), "inconclusive", "inconclusive", counts.Inconclusive}, {Sign(invariant.Infrastructure), "infrastructure", "infrastructure", counts.Infrastructure},
		},
		Command: r.command(), Facts: r.facts(counts, events), Extras: harmless(append(r.roundsExtra(), p.Extras...)), Evidence: r.evidence(dir), Files: files(dir),
		Note: "interlock report DIR --check judges the stored history anew and compares every verdict.",
	}
	for _, s := range r.Scenarios() {
		view := scenarioView{Scenario: s, Sign: Sign(s.Verdict), First: s.Plays[0].History, Invariants: join(s.Invariants), Broken: join(s.Violated), Ms: time.Duration(s.Took).Milliseconds()}
		for _, play := range s.Plays {
			if play.Met() {
				continue
			}
			view.First = play.History
			if len(v.Violations) == maxViolations {
				v.MoreViolations++
				continue
			}
			v.Violations = append(v.Violations, r.violationView(*play, events[play.History]))
		}
		v.Scenarios = append(v.Scenarios, view)
	}
	v.Strip = r.strip(events)
	v.Coverage, v.CoverageText = coverageView(r.Coverage)
	if p.Matrix != nil {
		v.Matrix = newMatrixView(*p.Matrix)
	}
	return v
}

// violationView is the terminal text of a play, in parts.
func (r *Run) violationView(p Play, events []history.Event) violationView {
	labels, main := NewLabels(events), mainFinding(p)
	v := violationView{Name: p.History, Sign: Sign(p.reported()), Verdict: string(p.reported()), Sentence: bounded(labels.In(main.Sentence))}
	if p.canary() && !p.Met() {
		v.Sentence = fmt.Sprintf("The canary came out %s, and it must come out %s: no verdict of this run can be trusted.", p.Verdict, p.wanted())
	}
	part := func(name, value string) {
		if value != "" {
			v.Parts = append(v.Parts, named{name, bounded(value)})
		}
	}
	part("fault", faultLine(p, events))
	if i, ok := invariant.ByID(main.Invariant); ok {
		part("invariant", fmt.Sprintf("%s: %s (%s)", i.Name, i.Rule, i.ID))
		v.Commands = append(v.Commands, named{"explain", "interlock explain " + string(i.ID)})
	}
	part("expected", labels.In(main.Expected))
	part("found", labels.In(main.Found))
	if trouble := oneLine(p.Trouble); trouble != main.Sentence {
		part("stopped", labels.In(trouble))
	}
	var also []string
	for _, f := range p.Result.Findings {
		if i, ok := invariant.ByID(f.Invariant); ok && f.Verdict == invariant.Violation && f.Invariant != main.Invariant && !strings.Contains(strings.Join(also, " "), "("+string(i.ID)+")") {
			also = append(also, fmt.Sprintf("%s (%s)", i.Name, i.ID))
		}
	}
	part("also broken", strings.Join(also, ", "))
	for _, l := range Excerpt(events, main, labels, 16) {
		v.Lines = append(v.Lines, lineView{itoa((l.AtUS - start(events)) / 1000), shown(l.Lane), shown(l.What), shown(l.Outcome), l.Here})
	}
	if len(main.Events) > 0 {
		v.At = millis(events, main.Events[len(main.Events)-1])
	}
	v.Commands = append([]named{{"again", r.again(p)}}, v.Commands...)
	return v
}

// bounded is a sentence of ours with foreign text inside, for the page.
func bounded(text string) string {
	const limit = 600
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return Untrusted(text).Line()
}

// sentence says the verdict of the run in words.
func (r *Run) sentence(events map[string][]history.Event) string {
	counts, scenarios := r.Counts(), r.Scenarios()
	of := fmt.Sprintf("%d of %d scenarios", counts.Pass, len(scenarios))
	if len(scenarios) == 1 {
		of = fmt.Sprintf("%d of 1 scenario", counts.Pass)
	}
	switch r.Verdict() {
	case invariant.Pass:
		return of + " came out as they must. Every fault that was to fire did."
	case invariant.Violation:
		for _, s := range scenarios {
			if s.Verdict == invariant.Violation {
				more := ""
				if counts.Violation > 1 {
					more = fmt.Sprintf(", and %d more", counts.Violation-1)
				}
				return fmt.Sprintf("%s %s%s. %s came out as they must.", Untrusted(s.Slug).Terminal(), bounded(s.whyOf(events)), more, of)
			}
		}
	case invariant.Inconclusive:
		if len(scenarios) == 0 {
			return "No scenario was judged, so nothing was proved."
		}
		return of + " came out as they must; for the rest the run proves nothing either way."
	}
	return "The stage broke or the harness cannot be trusted: what failed says nothing about the target."
}

func (r *Run) command() string {
	if len(r.Command) == 0 {
		return Shell("interlock", "verify", "--seed", itoa(r.Seed))
	}
	return Shell(append([]string{"interlock"}, r.Command...)...)
}

func (r *Run) facts(c Counts, events map[string][]history.Event) []named {
	list := []named{{"target", shown(r.Target)}, {"level", r.Level.String()}, {"seed", itoa(r.Seed)}, {"time", round(time.Duration(r.Took))}}
	if len(r.Plays) > 0 {
		list = append(list, named{"recorded", r.recorded(events)})
	}
	if c.Armed > 0 {
		list = append(list, named{"all faults fired", fmt.Sprintf("in %d of %d", c.Fired, c.Armed)})
	}
	if r.Mutant != "" {
		list = append(list, named{"mutant", shown(r.Mutant)})
	}
	if r.Stage != "" {
		list = append(list, named{"stage", shown(r.Stage)})
	}
	if !r.Started.IsZero() {
		list = append(list, named{"started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC")})
	}
	if len(r.Rounds) > 0 {
		list = append(list, named{"tries", r.rounds()})
	}
	if r.Ended != "" {
		list = append(list, named{"ended", bounded(r.Ended)})
	}
	if r.Interrupted {
		list = append(list, named{"interrupted", "only what was judged until then"})
	}
	return append(list, named{"exit code", fmt.Sprint(ExitCode(r.Verdict()))})
}

// recorded says how much the histories of the plays hold.
func (r *Run) recorded(events map[string][]history.Event) string {
	operations, jobs, attempts, calls := 0, 0, 0, 0
	for _, p := range r.Plays {
		seen := map[string]bool{}
		for _, e := range events[p.History] {
			switch e.Kind {
			case history.Invoke:
				operations++
			case history.Arrive:
				calls++
			}
			if e.Job != "" && !seen["job "+e.Job] {
				seen["job "+e.Job] = true
				jobs++
			}
			if isID(e.Attempt) && !seen[e.Attempt] {
				seen[e.Attempt] = true
				attempts++
			}
		}
	}
	return fmt.Sprintf("%d operations, %d jobs, %d attempts, %d provider calls", operations, jobs, attempts, calls)
}

func (r *Run) evidence(dir string) []named {
	list := []named{{"run", shown(r.ID)}}
	if d, err := digestFile(filepath.Join(dir, HistoryFile)); err == nil {
		list = append(list, named{"history.jsonl sha256", d.SHA256})
	}
	for _, name := range sortedNames(r.Versions) {
		list = append(list, named{shown(name), shown(r.Versions[name])})
	}
	return list
}

// maxInline is how large a file may be to stand in the page as a link.
const maxInline = 200 << 10

func files(dir string) []fileView {
	var list []fileView
	for _, f := range []struct{ name, kind string }{
		{HistoryFile, "application/jsonl"}, {ReportFile, "application/json"}, {JUnitFile, "application/xml"}, {CTRFFile, "application/json"}, {MatrixFile, "application/json"}, {SummaryFile, "text/markdown"},
	} {
		info, err := os.Stat(filepath.Join(dir, f.name))
		if err != nil {
			continue
		}
		view := fileView{Name: f.name, Size: fmt.Sprintf("%.1f kB", float64(info.Size())/1000)}
		if f.name == HistoryFile && info.Size() <= maxInline {
			if raw, err := os.ReadFile(filepath.Join(dir, f.name)); err == nil {
				view.Data = template.URL("data:" + f.kind + ";base64," + base64.StdEncoding.EncodeToString(raw))
			}
		}
		list = append(list, view)
	}
	return list
}
