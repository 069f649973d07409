package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// Limits of what report.html carries.
const (
	keptOfPassing = 200      // events of a play that passed
	warnHTML      = 5 << 20  // bytes
	stopHTML      = 20 << 20 // bytes, where no limit is named; beyond it passing histories are left out
)

// packed is the data block of report.html: columns compress well, and each text
// is kept once.
type packed struct {
	Texts []string     `json:"texts"`
	Plays []packedPlay `json:"plays"`
}

type packedPlay struct {
	Name    string            `json:"name"` // of the history
	Slug    string            `json:"slug"`
	Verdict invariant.Verdict `json:"verdict"` // as the run counts it
	Start   int64             `json:"start"`   // microseconds on the clock of the run
	Span    int64             `json:"span"`
	LeftOut int               `json:"leftOut,omitempty"` // events that are in history.jsonl only
	Lanes   []int             `json:"lanes"`             // texts
	Jobs    []int             `json:"jobs"`              // texts, 0 is ""
	Marks   []packedMark      `json:"marks,omitempty"`
	// Columns, one entry an item; From is the difference to the one before.
	Lane    []int   `json:"lane"`
	Row     []int   `json:"row"`
	From    []int64 `json:"from"`
	Took    []int64 `json:"took"`
	Look    []int   `json:"look"`
	Label   []int   `json:"label"`
	What    []int   `json:"what"`
	Outcome []int   `json:"outcome"`
	N       []int64 `json:"n"`
	Job     []int   `json:"job"` // into jobs
}

// packedMark is where a finding was proved.
type packedMark struct {
	At        int64  `json:"at"`
	N         int64  `json:"n"`
	Verdict   string `json:"verdict"`
	Invariant string `json:"invariant"`
	Sentence  int    `json:"sentence"`
	Expected  int    `json:"expected"`
	Found     int    `json:"found"`
}

// packer keeps each text once.
type packer struct {
	packed
	at map[string]int
}

func (p *packer) text(s string) int {
	if i, ok := p.at[s]; ok {
		return i
	}
	p.at[s] = len(p.Texts)
	p.Texts = append(p.Texts, s)
	return p.at[s]
}

// pack draws every play. Plays that passed keep their first events only; with
// lean they keep none.
func pack(r *Run, events map[string][]history.Event, c clock, lean bool) *packer {
	p := &packer{at: map[string]int{}}
	p.text("")
	for i := range r.Plays {
		play := &r.Plays[i]
		all := events[play.History]
		kept := all
		if play.reported() == invariant.Pass {
			limit := keptOfPassing
			if lean {
				limit = 0
			}
			kept = keep(all, limit)
		}
		p.play(play, all, kept, c)
	}
	return p
}

// PackPlay is the data by which LanesJS draws one play, as JSON: texts, and plays
// with one entry. events are those of the play that are to be shown, of leftOut
// more is only told how many they are; begin is the first event of the run's
// history, which dates what a database dated. A play that is not judged yet has no
// verdict.
func PackPlay(play Play, events []history.Event, leftOut int, begin history.Event) ([]byte, error) {
	p := &packer{at: map[string]int{}}
	p.text("")
	p.play(&play, events, events, clockOf([]history.Event{begin}))
	p.Plays[0].LeftOut += leftOut
	return json.Marshal(p.packed)
}

// play packs a play of which the events kept are shown.
func (p *packer) play(play *Play, events, kept []history.Event, c clock) {
	out := packedPlay{
		Name: play.History, Slug: play.Slug, Verdict: play.reported(), Start: start(events), LeftOut: len(events) - len(kept),
		Lanes: []int{}, Jobs: []int{0}, Lane: []int{}, Row: []int{}, From: []int64{}, Took: []int64{}, Look: []int{},
		Label: []int{}, What: []int{}, Outcome: []int{}, N: []int64{}, Job: []int{},
	}
	labels := NewLabels(events)
	picture := Draw(kept, labels, c)
	out.Span = picture.Span
	for _, lane := range picture.Lanes {
		out.Lanes = append(out.Lanes, p.text(shown(lane)))
	}
	jobs := map[int]int{0: 0}
	before := int64(0)
	for _, item := range picture.Items {
		job := p.text(shown(labels.Of(item.Job)))
		k, known := jobs[job]
		if !known {
			k = len(out.Jobs)
			jobs[job] = k
			out.Jobs = append(out.Jobs, job)
		}
		out.Lane = append(out.Lane, slices.Index(picture.Lanes, item.Lane))
		out.Row = append(out.Row, item.Row)
		out.From = append(out.From, item.From-before)
		out.Took = append(out.Took, item.To-item.From)
		out.Look = append(out.Look, int(item.Look))
		out.Label = append(out.Label, p.text(shown(item.Label)))
		out.What = append(out.What, p.text(shown(item.What)))
		out.Outcome = append(out.Outcome, p.text(shown(item.Outcome)))
		out.N = append(out.N, item.N)
		out.Job = append(out.Job, k)
		before = item.From
	}
	main := mainFinding(*play)
	findings := append([]invariant.Finding{main}, play.Result.Findings...)
	for i, f := range findings {
		if len(f.Events) == 0 || i > 0 && f.Sentence == main.Sentence {
			continue // the one that a text leads with comes first, once
		}
		n := f.Events[len(f.Events)-1]
		out.Marks = append(out.Marks, packedMark{
			At: millisToUS(events, n), N: n, Verdict: string(f.Verdict), Invariant: string(f.Invariant),
			Sentence: p.text(bounded(labels.In(f.Sentence))), Expected: p.text(bounded(labels.In(f.Expected))), Found: p.text(bounded(labels.In(f.Found))),
		})
	}
	p.Plays = append(p.Plays, out)
}

// shown is a text as the page shows it: harmless even where it only stands in a
// table, and cut.
func shown(text string) string { return Untrusted(text).Terminal() }

func millisToUS(events []history.Event, n int64) int64 {
	for _, e := range events {
		if e.N == n {
			return e.AtUS - start(events)
		}
	}
	return 0
}

// encode is the data block: JSON, raw deflate, base64.
func (p *packer) encode() (string, error) {
	raw, err := json.Marshal(p.packed)
	if err != nil {
		return "", fmt.Errorf("pack the lanes: %w", err)
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(raw); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
