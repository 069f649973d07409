package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/bench"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
)

// sections are what a page shows of other evidence.
type sections struct {
	matrix  *mutant.Matrix
	reports []*certify.Report
	bench   []bench.Row
}

// read takes one folder or file: the folder of mutants or of certify, or what
// bench service --json printed.
func (x *sections) read(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return usagef("--with %s: there is no such folder or file", shellWord(path))
	}
	if !info.IsDir() {
		return x.readBench(path)
	}
	if raw, err := os.ReadFile(filepath.Join(path, report.MatrixFile)); err == nil {
		x.matrix = &mutant.Matrix{}
		if err := json.Unmarshal(raw, x.matrix); err != nil || x.matrix.Format != mutant.MatrixFormat {
			return usagef("--with %s: %s is no matrix of interlock mutants", shellWord(path), report.MatrixFile)
		}
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(path, report.ReportFile))
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("--with %s: it holds neither the matrix of interlock mutants nor the report of interlock certify", shellWord(path))
	}
	if err != nil {
		return infrastructuref("--with: %v", err)
	}
	r := &certify.Report{}
	if err := json.Unmarshal(raw, r); err != nil || r.Profile == "" || len(r.Results) == 0 {
		return usagef("--with %s: %s is not of interlock certify; a run of verify is the folder itself, or goes to --compare", shellWord(path), report.ReportFile)
	}
	x.reports = append(x.reports, r)
	return nil
}

func (x *sections) readBench(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return infrastructuref("--with: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for n := 1; lines.Scan(); n++ {
		var r bench.Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Measure == "" {
			return usagef("--with %s: line %d is no measure of interlock bench service --json", shellWord(path), n)
		}
		x.bench = append(x.bench, r)
	}
	if len(x.bench) == 0 {
		return usagef("--with %s: the file holds no measure; interlock bench service --json writes them", shellWord(path))
	}
	return nil
}

// page is what they add to a page.
func (x *sections) page() report.Page {
	p := report.Page{Matrix: x.matrix}
	if len(x.reports) > 0 {
		p.Extras = append(p.Extras, checksSection(x.reports))
	}
	if len(x.bench) > 0 {
		p.Extras = append(p.Extras, benchSection(x.bench))
	}
	return p
}

var checkVerdicts = map[check.Verdict]invariant.Verdict{check.Pass: invariant.Pass, check.Fail: invariant.Violation, check.Inconclusive: invariant.Inconclusive}

// checksSection is provider x check: one row for each check, one column for each
// provider.
func checksSection(reports []*certify.Report) report.Extra {
	e := report.Extra{ID: "checks", Title: "Provider by check", Columns: []string{"check", "what it asks", "severity"}}
	var said []string
	rows := map[string][]report.Cell{}
	var ids []string
	for i, r := range reports {
		e.Columns = append(e.Columns, fmt.Sprintf("%s, %s", r.Profile, r.Contract))
		said = append(said, fmt.Sprintf("%s (%s, %s) is %s for %s: %d requests, %s.", r.Profile, r.Protocol, r.Model, strings.ReplaceAll(string(r.Verdict), "_", " "), r.Contract, len(r.Plan.Calls), r.Mode))
		for _, res := range r.Results {
			row, known := rows[res.ID]
			if !known {
				ids = append(ids, res.ID)
				row = []report.Cell{{Text: res.ID}, {Text: res.Title}, {Text: string(res.Severity)}}
			}
			for len(row) < 3+i {
				row = append(row, report.Cell{Text: "–"})
			}
			rows[res.ID] = append(row, checkCell(res))
		}
	}
	e.Intro = strings.Join(said, " ") + " A cell says how many of its samples passed, and the lower bound of the pass rate at 95 %."
	for _, id := range ids {
		row := rows[id]
		for len(row) < len(e.Columns) {
			row = append(row, report.Cell{Text: "–"})
		}
		e.Rows = append(e.Rows, row)
	}
	return e
}

func checkCell(r check.Result) report.Cell {
	if r.Verdict == check.NotApplicable {
		return report.Cell{Text: "not applicable", Title: r.Reason}
	}
	c := report.Cell{Text: fmt.Sprintf("%d of %d, ≥ %.2f", r.Passes, r.N, r.Lower95), Verdict: checkVerdicts[r.Verdict], Title: r.Reason}
	if r.Verdict != check.Pass && len(r.Findings) > 0 {
		f := r.Findings[0]
		c.Text += fmt.Sprintf(": case %s, %s", f.Case, strings.TrimSpace(f.Reason+" "+f.Place))
		c.Title = strings.TrimSpace(r.Reason + " " + f.Detail)
	}
	return c
}

// benchSection shows what was measured beside what must hold.
func benchSection(rows []bench.Row) report.Extra {
	e := report.Extra{
		ID: "bench", Title: "Bench", Intro: "Each line was measured by turns with what stands beside it, on one machine.",
		Columns: []string{"measure", "verdict", "ours", "beside", "ratio", "must be", "how"},
	}
	for _, r := range rows {
		verdict, beside, bound := report.Cell{Text: "holds", Verdict: invariant.Pass}, "", ""
		if !r.Holds {
			verdict = report.Cell{Text: "missed", Verdict: invariant.Violation}
		}
		switch {
		case r.Most:
			bound = "≤ " + figure(r.Bound)
		case r.Bound > 0:
			bound = "≥ " + figure(r.Bound)
		}
		if r.Theirs > 0 {
			beside = fmt.Sprintf("%s (%s)", figure(r.Theirs), r.Against)
		}
		e.Rows = append(e.Rows, []report.Cell{{Text: r.Measure}, verdict, {Text: figure(r.Ours) + " " + r.Unit}, {Text: beside}, {Text: figure(r.Ratio)}, {Text: bound}, {Text: r.Detail}})
	}
	return e
}

// gateSections ask the gate about every pair of providers: a section for each
// contract. It counts the failovers that are open, and all.
func (o *gateOptions) gateSections(gate *certificate.Gate, at time.Time) (list []report.Extra, open, all int) {
	names := slices.Sorted(maps.Keys(o.providers))
	for _, id := range slices.Sorted(maps.Keys(o.contracts)) {
		e := report.Extra{ID: "gate-" + anchor(id), Title: "Gate for " + o.contracts[id].Name(), Follows: len(list) > 0, Columns: append([]string{"from \\ to"}, names...)}
		yes, pairs := 0, 0
		for _, from := range names {
			row := []report.Cell{{Text: from}}
			for _, to := range names {
				if from == to {
					row = append(row, report.Cell{Text: "·", Title: "the same provider"})
					continue
				}
				a := gate.Ask(certificate.Question{From: from, To: to, Contract: id, At: at, AsOf: o.at != ""})
				pairs++
				c := report.Cell{Text: cell(a), Title: a.Because()}
				switch {
				case a.Allow:
					yes++
					c.Verdict = invariant.Pass
				case c.Text == "-":
					c.Text = "no certificate"
				default:
					c.Verdict, c.Text = invariant.Violation, c.Text+": "+a.Because()
				}
				if o.providers[from].Upstream != "" && o.providers[from].Upstream == o.providers[to].Upstream {
					c.Text += " (same upstream)"
				}
				row = append(row, c)
			}
			e.Rows = append(e.Rows, row)
		}
		e.Intro = fmt.Sprintf("%d of %d failovers are open. Rows fail, columns take over.", yes, pairs)
		list, open, all = append(list, e), open+yes, all+pairs
	}
	return list, open, all
}

// anchor is a name as a part of an address.
func anchor(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
