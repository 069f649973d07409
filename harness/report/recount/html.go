package recount

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// html compares every figure that stands in the page.
func (k *comparison) html(raw []byte) error {
	doc, err := html.Parse(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	counts := k.counts()
	for _, card := range all(doc, "li", "", inside("ul", "counts")) {
		words := strings.Fields(text(card)) // 4 ✓ pass
		if len(words) != 3 {
			return fmt.Errorf("a card says %q", text(card))
		}
		k.same("card "+words[2], words[0], counts[words[2]])
	}
	k.facts(doc, counts)
	if err := k.table(doc); err != nil {
		return err
	}
	k.excerpts(doc)
	if err := k.grids(doc); err != nil {
		return err
	}
	for _, pre := range all(doc, "pre", "", nil) {
		if attr(pre, "id") == "data" {
			return k.drawn(text(pre))
		}
	}
	return fmt.Errorf("the page has no data block")
}

// numbers are all whole numbers of a text.
func numbers(s string) []string { return regexp.MustCompile(`\d+`).FindAllString(s, -1) }

// facts compares what stands below the verdict and in the evidence.
func (k *comparison) facts(doc *html.Node, counts map[string]int) {
	jobs, attempts, operations, calls := 0, 0, 0, 0
	for name := range k.verdicts {
		t := k.history.plays[name]
		jobs, attempts, operations, calls = jobs+len(t.jobs), attempts+len(t.attempts), operations+t.operations, calls+t.calls
	}
	for _, pair := range all(doc, "div", "", inside("dl", "facts")) {
		name, value := text(first(pair, "dt")), text(first(pair, "dd"))
		switch name {
		case "seed":
			k.same("the seed", value, k.history.seed)
		case "time":
			k.same("the time", value, spoken(k.tookMS))
		case "all faults fired":
			k.same("all faults fired", value, fmt.Sprintf("in %d of %d", counts["with_all_faults_fired"], counts["with_faults"]))
		case "recorded":
			k.same("what was recorded", numbers(value), []int{operations, jobs, attempts, calls})
		case "exit code":
			k.same("the exit code", value, exitCodes[strings.Fields(text(first(doc, "h1")))[1]])
		case "run":
			k.same("the run", value, k.history.run)
		case "history.jsonl sha256":
			k.same("the digest of the history", value, k.history.sha256)
		}
	}
	if said := numbers(text(pick(doc, "p", "lead"))); len(said) > 0 && counts["violation"] == 0 && len(k.scenarios) > 0 {
		k.same("the sentence", said[:2], []int{counts["pass"], len(k.scenarios)})
	}
	for _, file := range all(doc, "li", "", inside("ul", "files")) {
		if words := strings.Fields(text(file)); len(words) == 3 && words[0] == "history.jsonl" {
			k.same("the size of the history", words[1], fmt.Sprintf("%.1f", float64(k.history.bytes)/1000))
		}
	}
}

// spoken is a time as a person reads it.
func spoken(ms int64) string {
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.1f s", float64(ms)/1000)
	}
	return fmt.Sprintf("%.0f s", float64(ms)/1000)
}

// table compares the rows of the scenarios.
func (k *comparison) table(doc *html.Node) error {
	rows := 0
	for _, tr := range all(doc, "tr", "", nil) {
		name := attr(tr, "data-play")
		if name == "" {
			continue
		}
		rows++
		slug, _, _ := strings.Cut(name, "#")
		s := k.bySlug[slug]
		cells := all(tr, "td", "", nil)
		if s == nil || len(cells) != 7 {
			return fmt.Errorf("a row of %s has %d cells", name, len(cells))
		}
		k.same(slug+": verdict", strings.Fields(text(cells[0]))[1], s.verdict)
		fired := fmt.Sprintf("%d of %d", s.fired, s.armed)
		if s.armed == 0 {
			fired = "none"
		}
		k.same(slug+": faults fired", text(cells[4]), fired)
		k.same(slug+": operations", text(cells[5]), s.operations)
		k.same(slug+": ms", text(cells[6]), s.tookMS)
	}
	k.same("the rows of the table", rows, len(k.scenarios))
	return nil
}

// excerpts compares the times of what stands in the violations with the history.
func (k *comparison) excerpts(doc *html.Node) {
	shown, bad := 0, 0
	for _, verdict := range k.verdicts {
		if verdict != "pass" {
			bad++
		}
	}
	for _, details := range all(doc, "details", "violation", nil) {
		shown++
		name := attr(details, "data-play")
		t := k.history.plays[name]
		if t == nil {
			continue // it recorded nothing
		}
		times := map[string]bool{}
		for _, at := range t.at {
			times[strconv.FormatInt((at-t.first)/1000, 10)] = true
		}
		for _, tr := range all(first(details, "tbody"), "tr", "", nil) {
			ms := text(first(tr, "td"))
			k.same(name+": an event at "+ms+" ms", true, times[ms])
		}
	}
	if more := numbers(text(pick(doc, "p", "more"))); len(more) > 0 {
		n, _ := strconv.Atoi(more[0])
		shown += n
	}
	k.same("the plays that did not come out as they must", shown, bad)
}

// grids compares the tables of the state machines, and the sentence above them.
func (k *comparison) grids(doc *html.Node) error {
	seen, refused := k.moves()
	legal, made, illegal, tried := 0, 0, 0, 0
	for _, table := range all(doc, "table", "grid", nil) {
		machine := text(previous(table, "h3"))
		var to []string
		for i, th := range all(first(table, "thead"), "th", "", nil) {
			if i > 0 {
				to = append(to, text(th))
			}
		}
		for _, tr := range all(first(table, "tbody"), "tr", "", nil) {
			from := text(first(tr, "th"))
			if from == "(new)" {
				from = ""
			}
			cells := all(tr, "td", "", nil)
			if len(cells) != len(to) {
				return fmt.Errorf("%d states, %d cells from %s", len(to), len(cells), from)
			}
			for i, cell := range cells {
				e := edge{machine, from, to[i]}
				name := fmt.Sprintf("%s %s -> %s", machine, or(from, "(new)"), to[i])
				sign, n, _ := strings.Cut(text(cell), " ")
				switch sign {
				case "✓", "✗":
					k.same(name+", made", n, seen[e])
				case "⊘":
					k.same(name+", refused", n, refused[e])
				default:
					k.same(name+", made or refused", 0, seen[e])
				}
				if e.from == e.to {
					continue
				}
				if sign == "✓" || sign == "–" {
					legal++
					made += min(1, seen[e])
				} else {
					illegal++
					tried += min(1, refused[e])
				}
			}
		}
	}
	if legal > 0 {
		section := pick(doc, "section", "coverage")
		k.same("the sentence of the states", numbers(text(first(section, "p"))), []int{made, legal, tried, illegal})
	}
	return nil
}

// drawn compares what the lanes draw, event by event.
func (k *comparison) drawn(block string) error {
	packed, err := base64.StdEncoding.DecodeString(block)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return err
	}
	var data struct {
		Plays []struct {
			Name, Verdict string
			Start         int64
			LeftOut       int
			Jobs          []int
			N, From       []int64
			Marks         []struct{ At, N int64 }
		}
	}
	if err := json.Unmarshal(raw, &data); err != nil {
		return err
	}
	k.same("the plays of the lanes", len(data.Plays), len(k.verdicts))
	for _, p := range data.Plays {
		t := k.history.plays[p.Name]
		if t == nil {
			k.same("lanes of "+p.Name, "drawn", "not in the history")
			continue
		}
		k.same(p.Name+": verdict", p.Verdict, k.verdicts[p.Name])
		k.same(p.Name+": start", p.Start, t.first)
		at, missing := int64(0), len(t.invoked)
		told := map[int64]bool{}
		for i, n := range p.N {
			at += p.From[i]
			if t.invoked[n] && !told[n] {
				told[n] = true
				missing--
			}
			if when, there := t.at[n]; !there || t.invoked[n] && when-t.first != at {
				k.same(fmt.Sprintf("%s: item %d", p.Name, i), at, when-t.first)
			}
			k.compared++
		}
		if p.LeftOut == 0 {
			k.same(p.Name+": operations that are not drawn", missing, 0)
			k.same(p.Name+": more jobs than there are", max(0, len(p.Jobs)-1-len(t.jobs)), 0)
		} else {
			k.same(p.Name+": left out, of a play that did not pass", p.Verdict, "pass")
		}
		for _, m := range p.Marks {
			k.same(fmt.Sprintf("%s: mark at event %d", p.Name, m.N), m.At, t.at[m.N]-t.first)
		}
	}
	return nil
}
