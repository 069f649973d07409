// Package recount counts what a report says once more, from history.jsonl alone.
//
// It keeps one rule: it shares no code with what made the report. It has its own
// reader of histories, written from their description in ARCHITECTURE.md, and
// reads the report as a stranger would: report.json, junit.xml and ctrf.json by
// their formats, report.html as a document. The verdicts themselves it does not
// judge (interlock report --check does); it counts them, and knows two rules that
// no play may break without being called a violation.
package recount

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// line is what this reader takes from a line of history.jsonl.
type line struct {
	N        int64           `json:"n"`
	AtUS     int64           `json:"at_us"`
	Scenario string          `json:"scenario"`
	Actor    string          `json:"actor"`
	Kind     string          `json:"kind"`
	Op       string          `json:"op"`
	Call     int64           `json:"call"`
	Owner    string          `json:"owner"`
	Key      string          `json:"key"`
	Job      string          `json:"job"`
	Attempt  string          `json:"attempt"`
	Data     json.RawMessage `json:"data"`
}

// tally is what the history of one play holds.
type tally struct {
	first, last  int64 // at_us
	operations   int
	armed, fired int
	calls        int                        // of providers
	jobs         map[string]bool            // ids
	attempts     map[string]bool            // ids
	winners      map[string]map[string]bool // by job
	created      map[string]map[string]bool // jobs by owner and key that a submit was told
	at           map[int64]int64            // at_us by number of the event
	invoked      map[int64]bool             // numbers of the invoke events
	moves        moves
}

// counted is a whole history.
type counted struct {
	sha256  string
	bytes   int64
	seed    int64
	run     string
	endedUS int64 // of the note that ends the run, 0 without one
	order   []string
	plays   map[string]*tally
}

// read counts the lines of a history.
func read(path string) (*counted, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("recount: %w", err)
	}
	sum := sha256.Sum256(raw)
	c := &counted{sha256: hex.EncodeToString(sum[:]), bytes: int64(len(raw)), plays: map[string]*tally{}}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("recount: line %d: %w", len(c.order)+1, err)
		}
		c.add(l)
	}
	return c, lines.Err()
}

func (c *counted) add(l line) {
	if l.Scenario == "" {
		switch l.Op {
		case "run":
			var facts struct {
				Run  string `json:"run"`
				Seed int64  `json:"seed"`
			}
			_ = json.Unmarshal(l.Data, &facts)
			c.run, c.seed = facts.Run, facts.Seed
		case "run-ended":
			c.endedUS = l.AtUS
		}
		return
	}
	t := c.plays[l.Scenario]
	if t == nil {
		t = &tally{
			first: l.AtUS, jobs: map[string]bool{}, attempts: map[string]bool{}, winners: map[string]map[string]bool{}, created: map[string]map[string]bool{},
			at: map[int64]int64{}, invoked: map[int64]bool{}, moves: newMoves(),
		}
		c.plays[l.Scenario] = t
		c.order = append(c.order, l.Scenario)
	}
	t.add(l)
}

func (t *tally) add(l line) {
	t.last, t.at[l.N] = l.AtUS, l.AtUS
	if l.Job != "" {
		t.jobs[l.Job] = true
	}
	if len(l.Attempt) > 2 { // a verb may name its attempt by number
		t.attempts[l.Attempt] = true
	}
	switch l.Kind {
	case "invoke":
		t.operations++
		t.invoked[l.N] = true
	case "arrive":
		t.calls++
	case "armed":
		t.armed++
		t.moves.armed[l.Call] = true
	case "fired":
		if t.moves.armed[l.Call] { // the first time counts
			t.fired++
			delete(t.moves.armed, l.Call)
		}
	}
	t.twoRules(l)
	t.moves.add(l)
}

// twoRules keeps what tells that a key has two jobs, or a job two winners.
func (t *tally) twoRules(l line) {
	var job struct {
		ID          string `json:"id"`
		CompletedBy string `json:"completed_by"`
	}
	switch {
	case l.Kind == "row" && l.Op == "jobs", l.Kind == "ok" && (l.Op == "submit" || l.Op == "get"):
		if json.Unmarshal(l.Data, &job) != nil {
			return
		}
	default:
		return
	}
	id := job.ID
	if id == "" {
		id = l.Job
	}
	if job.CompletedBy != "" {
		put(t.winners, id, job.CompletedBy)
	}
	if l.Op == "submit" && l.Key != "" {
		put(t.created, l.Owner+" "+l.Key, id)
	}
}

func put(sets map[string]map[string]bool, key, value string) {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	sets[key][value] = true
}

// mustBeViolated says why a play cannot be anything but a violation.
func (t *tally) mustBeViolated() string {
	for job, winners := range t.winners {
		if len(winners) > 1 {
			return fmt.Sprintf("job %s was completed by %d attempts", job, len(winners))
		}
	}
	for key, jobs := range t.created {
		if len(jobs) > 1 {
			return fmt.Sprintf("key %q has %d jobs", key, len(jobs))
		}
	}
	return ""
}

// Folder counts everything anew that the files of the report folder dir say, and
// returns how many figures were compared and, one sentence each, those that
// differ. The error is that of a file that cannot be read.
func Folder(dir string) (compared int, differ []string, err error) {
	c, err := read(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		return 0, nil, err
	}
	k := &comparison{history: c}
	if err := k.reportJSON(filepath.Join(dir, "report.json")); err != nil {
		return 0, nil, err
	}
	for name, compare := range map[string]func([]byte) error{"report.html": k.html, "junit.xml": k.junit, "ctrf.json": k.ctrf} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0, nil, fmt.Errorf("recount: %w", err)
		}
		k.file = name
		if err := compare(raw); err != nil {
			return 0, nil, fmt.Errorf("recount: %s: %w", name, err)
		}
	}
	return k.compared, k.differ, nil
}
