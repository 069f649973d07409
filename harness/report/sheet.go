package report

import (
	"bytes"
	"fmt"
	"html/template"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
)

// Sheet is a page like report.html about something that is no run of scenarios:
// mutants, a certification, a gate, a bench.
type Sheet struct {
	Title    string // of the window
	Verdict  invariant.Verdict
	Word     string // for the verdict, where it has one of its own: certified
	Sentence string
	Command  []string
	Facts    []Fact
	Matrix   *mutant.Matrix
	Extras   []Extra
	Note     string // below the evidence
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// HTML is the page of s, with links to those files of dir that are there.
func (s Sheet) HTML(dir string) ([]byte, error) {
	data, err := (&packer{packed: packed{Texts: []string{""}, Plays: []packedPlay{}}}).encode()
	if err != nil {
		return nil, err
	}
	v := pageView{
		Sheet: true, Title: shown(s.Title), Sign: Sign(s.Verdict), Verdict: string(s.Verdict), Word: firstOf(s.Word, string(s.Verdict)), Sentence: bounded(s.Sentence),
		Command: Shell(append([]string{"interlock"}, s.Command...)...), Extras: harmless(s.Extras), Files: files(dir), Note: s.Note,
	}
	for _, f := range s.Facts {
		v.Facts = append(v.Facts, named{shown(f.Name), shown(f.Value)})
	}
	if s.Matrix != nil {
		v.Matrix = newMatrixView(*s.Matrix)
	}
	return v.render(data)
}

// harmless makes foreign text in the cells fit to be shown.
func harmless(extras []Extra) []Extra {
	var list []Extra
	for _, e := range extras {
		e.Title, e.Intro = shown(e.Title), bounded(e.Intro)
		e.Columns = append([]string(nil), e.Columns...)
		for i := range e.Columns {
			e.Columns[i] = shown(e.Columns[i])
		}
		rows := make([][]Cell, len(e.Rows))
		for i, row := range e.Rows {
			for _, c := range row {
				rows[i] = append(rows[i], Cell{Text: bounded(c.Text), Verdict: c.Verdict, Title: bounded(c.Title)})
			}
		}
		e.Rows = rows
		list = append(list, e)
	}
	return list
}

// render is the page of v over its packed lanes.
func (v pageView) render(data string) ([]byte, error) {
	v.CSS, v.JS, v.Data = template.CSS(pageCSS), template.JS(pageJS), template.HTML(data)
	v.Policy = "default-src 'none'; style-src " + digestOf(pageCSS) + "; script-src " + digestOf(pageJS) + "; img-src data:; base-uri 'none'; form-action 'none'"
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("render report.html: %w", err)
	}
	return b.Bytes(), nil
}
