package recount

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// comparison holds a history beside the files of its report.
type comparison struct {
	history  *counted
	file     string
	compared int
	differ   []string
	// what report.json says of plays and scenarios, taken as the list of them
	verdicts  map[string]string // by play, as the run counts it
	scenarios []*scenario
	bySlug    map[string]*scenario
	tookMS    int64
	skipped   int
}

// scenario is what the plays of one scenario add up to, from the history.
type scenario struct {
	slug, verdict            string
	canary                   bool
	operations, armed, fired int
	tookMS                   int64
	plays                    []string
}

// same compares one figure.
func (k *comparison) same(what string, said, counted any) {
	k.compared++
	if fmt.Sprint(said) != fmt.Sprint(counted) {
		k.differ = append(k.differ, fmt.Sprintf("%s: %s is %v, and the history gives %v", k.file, what, said, counted))
	}
}

// storedRun is what this reader takes from report.json.
type storedRun struct {
	Verdict  string         `json:"verdict"`
	ExitCode int            `json:"exit_code"`
	Counts   map[string]int `json:"counts"`
	History  struct {
		SHA256 string `json:"sha256"`
		Bytes  int64  `json:"bytes"`
	} `json:"history"`
	Scenarios []struct {
		Slug       string `json:"slug"`
		Verdict    string `json:"verdict"`
		Canary     string `json:"canary"`
		Armed      int    `json:"faults_armed"`
		Fired      int    `json:"faults_fired"`
		Operations int    `json:"operations"`
		TookMS     int64  `json:"took_ms"`
	} `json:"scenarios"`
	Run struct {
		ID     string `json:"id"`
		Seed   int64  `json:"seed"`
		TookMS int64  `json:"took_ms"`
		Full   bool   `json:"full"`
		Plays  []struct {
			Slug      string `json:"slug"`
			History   string `json:"history"`
			MustBreak string `json:"must_break"`
			Verdict   string `json:"verdict"`
			TookMS    int64  `json:"took_ms"`
			Expect    struct {
				Verdict string `json:"verdict"`
			} `json:"expect"`
			Result struct {
				Findings []struct {
					Verdict   string  `json:"verdict"`
					Invariant string  `json:"invariant"`
					Events    []int64 `json:"events"`
				} `json:"findings"`
				Operations int `json:"operations"`
				Armed      int `json:"faults_armed"`
				Fired      int `json:"faults_fired"`
			} `json:"result"`
		} `json:"plays"`
		Skipped  []json.RawMessage `json:"not_applicable"`
		Coverage []struct {
			Machine, From, To string
			Legal             bool
			Seen, Refused     int
		} `json:"coverage"`
	} `json:"run"`
}

// weight orders verdicts: the worse one of two stands for both.
var weight = map[string]int{"pass": 0, "inconclusive": 1, "infrastructure": 2, "violation": 3}

func worse(a, b string) string {
	if weight[b] > weight[a] {
		return b
	}
	return a
}

// exitCodes by verdict, as README.md lists them.
var exitCodes = map[string]int{"pass": 0, "violation": 1, "inconclusive": 2, "infrastructure": 3}

func (k *comparison) reportJSON(path string) error {
	k.file = "report.json"
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("recount: %w", err)
	}
	var s storedRun
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("recount: report.json: %w", err)
	}
	c := k.history
	k.same("the digest of the history", s.History.SHA256, c.sha256)
	k.same("the size of the history", s.History.Bytes, c.bytes)
	k.same("the run", s.Run.ID, c.run)
	k.same("the seed", s.Run.Seed, c.seed)
	if c.endedUS > 0 {
		k.same("the time of the run", s.Run.TookMS, c.endedUS/1000)
	}
	k.tookMS, k.skipped = s.Run.TookMS, len(s.Run.Skipped)
	k.plays(&s)
	k.same("the number of scenarios", len(s.Scenarios), len(k.scenarios))
	for _, said := range s.Scenarios {
		mine := k.bySlug[said.Slug]
		if mine == nil {
			k.same("scenario "+said.Slug, "in the list", "no play of it")
			continue
		}
		k.same(said.Slug+": verdict", said.Verdict, mine.verdict)
		k.same(said.Slug+": operations", said.Operations, mine.operations)
		k.same(said.Slug+": faults armed", said.Armed, mine.armed)
		k.same(said.Slug+": faults fired", said.Fired, mine.fired)
		k.same(said.Slug+": ms", said.TookMS, mine.tookMS)
	}
	for word, n := range k.counts() {
		k.same("count of "+word, s.Counts[word], n)
	}
	k.same("the exit code", s.ExitCode, exitCodes[s.Verdict])
	k.coverage(&s)
	return nil
}

// plays compares each play and adds it to its scenario.
func (k *comparison) plays(s *storedRun) {
	k.verdicts, k.bySlug = map[string]string{}, map[string]*scenario{}
	for _, p := range s.Run.Plays {
		t := k.history.plays[p.History]
		if t == nil {
			k.same("the history of "+p.History, "told of", "empty")
			continue
		}
		wanted := or(p.Expect.Verdict, "pass")
		broke := p.MustBreak == ""
		for _, f := range p.Result.Findings {
			broke = broke || f.Verdict == "violation" && f.Invariant == p.MustBreak
			for _, n := range f.Events {
				_, there := t.at[n]
				k.same(fmt.Sprintf("%s: event %d of a finding", p.History, n), true, there)
			}
		}
		verdict := p.Verdict
		switch {
		case p.Verdict == wanted && broke:
			verdict = "pass"
		case wanted != "pass" || p.Verdict == "pass":
			verdict = "infrastructure"
		}
		if why := t.mustBeViolated(); why != "" {
			k.same(p.History+", where "+why+": verdict", p.Verdict, "violation")
		}
		k.same(p.History+": operations", p.Result.Operations, t.operations)
		k.same(p.History+": faults armed", p.Result.Armed, t.armed)
		k.same(p.History+": faults fired", p.Result.Fired, t.fired)
		k.same(p.History+": ms", p.TookMS, (t.last-t.first)/1000)
		k.verdicts[p.History] = verdict
		sc := k.bySlug[p.Slug]
		if sc == nil {
			sc = &scenario{slug: p.Slug, verdict: "pass", canary: wanted != "pass"}
			k.bySlug[p.Slug], k.scenarios = sc, append(k.scenarios, sc)
		}
		sc.verdict = worse(sc.verdict, verdict)
		sc.operations, sc.armed, sc.fired = sc.operations+t.operations, sc.armed+t.armed, sc.fired+t.fired
		sc.tookMS, sc.plays = sc.tookMS+(t.last-t.first)/1000, append(sc.plays, p.History)
	}
}

// counts are the scenarios by verdict, and those whose faults fired.
func (k *comparison) counts() map[string]int {
	n := map[string]int{"pass": 0, "violation": 0, "inconclusive": 0, "infrastructure": 0, "with_faults": 0, "with_all_faults_fired": 0}
	for _, s := range k.scenarios {
		n[s.verdict]++
		if !s.canary && s.armed > 0 {
			n["with_faults"]++
			if s.fired == s.armed {
				n["with_all_faults_fired"]++
			}
		}
	}
	return n
}

// coverage compares the moves of both machines.
func (k *comparison) coverage(s *storedRun) {
	if len(s.Run.Coverage) == 0 {
		return
	}
	seen, refused := k.moves()
	for _, e := range s.Run.Coverage {
		id := edge{e.Machine, e.From, e.To}
		name := fmt.Sprintf("%s %s -> %s", e.Machine, or(e.From, "(new)"), e.To)
		k.same(name+", made", e.Seen, seen[id])
		k.same(name+", refused", e.Refused, refused[id])
	}
}

func (k *comparison) moves() (seen, refused map[edge]int) {
	seen, refused = map[edge]int{}, map[edge]int{}
	for name := range k.verdicts {
		k.history.plays[name].moves.count(seen, refused)
	}
	return seen, refused
}

func (k *comparison) junit(raw []byte) error {
	var suite struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
		Cases    []struct {
			Name string `xml:"name,attr"`
			Time string `xml:"time,attr"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(raw, &suite); err != nil {
		return err
	}
	n := k.counts()
	k.same("tests", suite.Tests, len(k.scenarios)+k.skipped)
	k.same("failures", suite.Failures, n["violation"])
	k.same("errors", suite.Errors, n["inconclusive"]+n["infrastructure"])
	k.same("skipped", suite.Skipped, k.skipped)
	k.same("the time of the run", suite.Time, fmt.Sprintf("%.3f", float64(k.tookMS)/1000))
	for _, c := range suite.Cases {
		if s := k.bySlug[c.Name]; s != nil {
			k.same(c.Name+": time", c.Time, fmt.Sprintf("%.3f", float64(s.tookMS)/1000))
		}
	}
	return nil
}

func (k *comparison) ctrf(raw []byte) error {
	var file struct {
		Results struct {
			Summary map[string]int64 `json:"summary"`
			Tests   []struct {
				Name     string `json:"name"`
				Duration int64  `json:"duration"`
				Raw      string `json:"rawStatus"`
			} `json:"tests"`
		} `json:"results"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return err
	}
	n, said := k.counts(), file.Results.Summary
	k.same("tests", said["tests"], len(k.scenarios)+k.skipped)
	k.same("passed", said["passed"], n["pass"])
	k.same("failed", said["failed"], n["violation"])
	k.same("other", said["other"], n["inconclusive"]+n["infrastructure"])
	k.same("skipped", said["skipped"], k.skipped)
	k.same("the time of the run", said["stop"]-said["start"], k.tookMS)
	for _, t := range file.Results.Tests {
		if s := k.bySlug[t.Name]; s != nil {
			k.same(t.Name+": duration", t.Duration, s.tookMS)
			k.same(t.Name+": status", strings.ToLower(t.Raw), s.verdict)
		}
	}
	return nil
}
