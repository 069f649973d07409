package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/providers/certify"
)

// reportPage is what report shows beside a run.
type reportPage struct {
	compare string   // the folder of an earlier run
	with    []string // folders of mutants and certify, files of bench
	certs   string   // folder of certificates: the gate
	html    string   // where the page goes
	full    bool
	maxMB   int
	open    bool // show the page in the browser
}

func (o *reportPage) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.compare, "compare", "", "folder of an earlier run: say what changed since")
	f.StringSliceVar(&o.with, "with", nil, "with --html: folders of mutants or certify, or a file of bench service --json, as sections of the page")
	f.StringVar(&o.certs, "certs", "", "with --html: folder of certificates, for a section of the gate")
	f.StringVar(&o.html, "html", "", "write the page anew into this file")
	f.BoolVar(&o.full, "full", false, "with --html: keep the histories of passing scenarios, however large the page grows")
	f.IntVar(&o.maxMB, "max-mb", 0, "with --html: leave them out of a page of more than so many MiB, 1 to 1000, and write none that is larger even so (default: out at 20)")
	f.BoolVar(&o.open, "open", false, "open the page in the browser")
}

// asked reports whether any of it was.
func (o *reportPage) asked() bool {
	return o.compare != "" || o.html != "" || len(o.with) > 0 || o.certs != "" || o.full || o.maxMB != 0
}

// run compares, writes, or both. A run that is worse than the one before is an
// answer of no.
func (o *reportPage) run(s *streams, dir string) error {
	switch {
	case o.html == "" && (len(o.with) > 0 || o.certs != "" || o.full || o.maxMB != 0):
		return usagef("--with, --certs, --full and --max-mb go with --html FILE")
	case o.maxMB < 0 || o.maxMB > 1000:
		return usagef("--max-mb is %d, but must be 1 to 1000", o.maxMB)
	case o.maxMB != 0 && o.full:
		return usagef("--full keeps everything, and --max-mb bounds the page: leave one of them out")
	}
	stored, err := report.Load(dir)
	if err != nil {
		return infrastructuref("%v", err)
	}
	var page report.Page
	code := ExitOK
	if o.compare != "" {
		before, err := report.Load(o.compare)
		if err != nil {
			return usagef("--compare: %v", err)
		}
		c := report.Compare(before, stored)
		page.Extras = append(page.Extras, c.Extra())
		worse, _, _ := c.Counts()
		if worse > 0 {
			code = ExitViolation
		}
		if err := o.tell(s, c, worse); err != nil {
			return infrastructuref("write: %v", err)
		}
	}
	if o.html == "" {
		return exitWith(code)
	}
	if err := o.gather(&page); err != nil {
		return err
	}
	all, err := history.ReadFile(filepath.Join(dir, report.HistoryFile))
	if err != nil {
		return infrastructuref("%v", err)
	}
	page.Limit = o.maxMB
	text, warning, err := report.HTML(&stored.Run, all, dir, page)
	if err != nil {
		return infrastructuref("%v", err)
	}
	if o.maxMB != 0 && len(text) > o.maxMB<<20 {
		return infrastructuref("the page has %.1f MiB even without the histories of passing scenarios, and --max-mb is %d: nothing was written", float64(len(text))/(1<<20), o.maxMB)
	}
	if warning != "" {
		_, _ = fmt.Fprintln(s.err, warning)
	}
	if err := report.WriteFile(o.html, text); err != nil {
		return infrastructuref("%v", err)
	}
	if o.compare == "" && !s.json {
		_, _ = fmt.Fprintln(s.out, printable(o.html))
	}
	return exitWith(code)
}

func (o *reportPage) tell(s *streams, c report.Comparison, worse int) error {
	if !s.json {
		_, err := fmt.Fprint(s.out, c.Text(report.Style{Color: s.colored(s.out)}))
		return err
	}
	type side struct {
		Verdict    invariant.Verdict `json:"verdict"`
		Violated   []invariant.ID    `json:"violated,omitempty"`
		Operations int               `json:"operations"`
		TookMS     int64             `json:"took_ms"`
	}
	of := func(sc *report.Scenario) *side {
		if sc == nil {
			return nil
		}
		return &side{sc.Verdict, sc.Violated, sc.Operations, time.Duration(sc.Took).Milliseconds()}
	}
	encoder := json.NewEncoder(s.out)
	for _, p := range c.Pairs {
		line := struct {
			Type     string `json:"type"`
			Scenario string `json:"scenario"`
			Changed  bool   `json:"changed"`
			Worse    bool   `json:"worse"`
			Before   *side  `json:"before"`
			Now      *side  `json:"now"`
		}{"scenario", p.Slug, p.Changed(), p.Worse(), of(p.Before), of(p.Now)}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return encoder.Encode(struct {
		Type  string `json:"type"`
		Worse int    `json:"worse"`
		Text  string `json:"text"`
	}{"comparison", worse, c.Sentence()})
}

// gather reads the other evidence.
func (o *reportPage) gather(page *report.Page) error {
	var x sections
	for _, path := range o.with {
		if err := x.read(path); err != nil {
			return err
		}
	}
	more := x.page()
	page.Matrix, page.Full = more.Matrix, o.full
	page.Extras = append(page.Extras, more.Extras...)
	if o.certs == "" {
		return nil
	}
	list, err := gateOf(o.certs)
	page.Extras = append(page.Extras, list...)
	return err
}

// gateOf is the gate over the built-in providers and contracts.
func gateOf(certs string) ([]report.Extra, error) {
	o := &gateOptions{certs: certs}
	var err error
	if o.providers, err = o.deployed.profiles(); err != nil {
		return nil, err
	}
	if o.contracts, err = o.deployed.gateFacts(""); err != nil {
		return nil, err
	}
	gate, err := o.gate()
	if err != nil {
		return nil, err
	}
	list, _, _ := o.gateSections(gate, time.Now())
	return list, nil
}

// mutantsSheet is report.html of interlock mutants.
func mutantsSheet(m mutant.Matrix, args []string) report.Sheet {
	n := m.Counts()
	verdict := map[int]invariant.Verdict{0: invariant.Pass, 1: invariant.Violation, 2: invariant.Inconclusive}[m.ExitCode()]
	if verdict == "" {
		verdict = invariant.Infrastructure
	}
	return report.Sheet{
		Title: fmt.Sprintf("Interlock mutants, seed %d", m.Seed), Verdict: verdict, Command: args, Matrix: &m,
		Sentence: fmt.Sprintf("%d of %d mutants were caught by the scenario and the invariant that must catch them.", n.Caught, len(m.Rows)),
		Facts:    []report.Fact{{Name: "seed", Value: fmt.Sprint(m.Seed)}, {Name: "survived", Value: fmt.Sprint(n.Survived)}, {Name: "undecided", Value: fmt.Sprint(n.Undecided)}, {Name: "exit code", Value: fmt.Sprint(m.ExitCode())}},
		Note:     "A suite that cannot fail proves nothing: each mutant is one deliberate fault in the service.",
	}
}

// certifySheet is report.html of interlock certify.
func certifySheet(r *certify.Report, code int, args []string) report.Sheet {
	verdict := map[certify.Verdict]invariant.Verdict{certify.Certified: invariant.Pass, certify.NotCertified: invariant.Violation, certify.NotKnown: invariant.Inconclusive}[r.Verdict]
	return report.Sheet{
		Title: fmt.Sprintf("%s for %s", r.Profile, r.Contract), Verdict: verdict, Word: string(r.Verdict), Command: args,
		Sentence: fmt.Sprintf("%s (%s, model %s) was taken through %d checks of contract %s in %d requests.", r.Profile, r.Protocol, r.Model, len(r.Results), r.Contract, len(r.Plan.Calls)),
		Facts: []report.Fact{
			{Name: "mode", Value: string(r.Mode)}, {Name: "plan sha256", Value: r.Plan.SHA256}, {Name: "transcripts sha256", Value: r.Transcripts},
			{Name: "began", Value: r.Started.UTC().Format(time.RFC3339)}, {Name: "ended", Value: r.Ended.UTC().Format(time.RFC3339)}, {Name: "exit code", Value: fmt.Sprint(code)},
		},
		Extras: []report.Extra{checksSection([]*certify.Report{r})},
		Note:   "transcripts.jsonl holds every byte that was answered; interlock report BUNDLE --check judges them anew.",
	}
}

// writeSheet puts a sheet into the folder of its run.
func writeSheet(dir string, sheet report.Sheet) error {
	page, err := sheet.HTML(dir)
	if err != nil {
		return err
	}
	return report.WriteFile(filepath.Join(dir, report.HTMLFile), page)
}

// writeGate is the page of gate --matrix --html.
func (o *gateOptions) writeGate(list []report.Extra, open, all int, at time.Time) error {
	sheet := report.Sheet{
		Title: "Interlock gate", Verdict: invariant.Pass, Word: fmt.Sprintf("%d of %d open", open, all), Command: []string{"gate", "--matrix", "--certs", o.certs}, Extras: list,
		Sentence: "Who may stand in for whom. A certificate that is missing, expired, revoked or of something else keeps its failover shut.",
		Facts:    []report.Fact{{Name: "certificates", Value: o.certs}, {Name: "as of", Value: at.UTC().Format(time.RFC3339)}},
		Note:     "interlock gate --from P --to Q --contract C --explain says what one answer rests on.",
	}
	if open == 0 {
		sheet.Verdict = invariant.Inconclusive
	}
	page, err := sheet.HTML(filepath.Dir(o.html))
	if err != nil {
		return infrastructuref("%v", err)
	}
	if err := report.WriteFile(o.html, page); err != nil {
		return infrastructuref("%v", err)
	}
	return nil
}
