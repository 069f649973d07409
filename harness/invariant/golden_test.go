package invariant_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

var update = flag.Bool("update", false, "write the stored histories and their verdicts anew")

const (
	corpus = "testdata/histories"
	index  = "testdata/histories.json"
)

// stored is what the index says of one stored history.
type stored struct {
	File     string            `json:"file"`
	Verdict  invariant.Verdict `json:"verdict"`
	Violated []invariant.ID    `json:"violated,omitempty"`
}

func judged(events []history.Event) stored {
	r := invariant.Judge(events, 4, invariant.Expect{})
	s := stored{Verdict: r.Verdict}
	for _, i := range invariant.All() {
		if r.Violated(i.ID) {
			s.Violated = append(s.Violated, i.ID)
		}
	}
	return s
}

// TestStoredHistoriesKeepTheirVerdict judges histories that lie in the tree, so
// that a change of the rules shows as a change of a verdict.
func TestStoredHistoriesKeepTheirVerdict(t *testing.T) {
	if *update {
		writeCorpus(t)
	}
	raw, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	var list []stored
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for _, want := range list {
		events, err := history.ReadFile(filepath.Join(corpus, want.File))
		if err != nil {
			t.Fatal(err)
		}
		got := judged(events)
		if got.Verdict != want.Verdict || !slices.Equal(got.Violated, want.Violated) {
			t.Errorf("%s is judged %s %v, and was %s %v", want.File, got.Verdict, got.Violated, want.Verdict, want.Violated)
		}
		if want.Verdict == invariant.Violation {
			wrong++
		}
	}
	if len(list) < 100 || wrong*5 < len(list)*2 || wrong*5 > len(list)*3 {
		t.Errorf("%d stored histories, %d of them violations: want 100 and about half", len(list), wrong)
	}
	files, err := filepath.Glob(filepath.Join(corpus, "*.jsonl"))
	if err != nil || len(files) != len(list) {
		t.Errorf("%d files, %d in the index (%v)", len(files), len(list), err)
	}
}

func writeCorpus(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(corpus); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(corpus, 0o755); err != nil {
		t.Fatal(err)
	}
	var list []stored
	add := func(name string, events []history.Event) {
		var file bytes.Buffer
		if err := history.Write(&file, events); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(corpus, name+".jsonl"), file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		s := judged(events)
		s.File = name + ".jsonl"
		list = append(list, s)
	}
	for name, story := range good {
		add("good-"+name, story())
	}
	for _, c := range bad {
		add("bad-"+c.name, c.events(t))
	}
	for seed := range uint64(45) {
		add(fmt.Sprintf("good-wander-%02d", seed), wander(seed, 30))
	}
	add("bad-contradiction", contradiction())
	add("open-thirteen-unknown-intents", unknownSubmits(13))
	w := newWorld("canary")
	w.fault("stall", false)
	w.submitAndRun("o-1", "k-1")
	add("open-fault-did-not-fire", w.audit())
	slices.SortFunc(list, func(a, b stored) int { return bytes.Compare([]byte(a.File), []byte(b.File)) })
	raw, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
