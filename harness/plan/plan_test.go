package plan_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/plan"
)

// Determinism audit of what is drawn: nothing but seed and number decides.
func TestTheSameSeedGivesTheSamePlanByteForByte(t *testing.T) {
	for n := 1; n <= 500; n++ {
		a, b := plan.Draw(7, n), plan.Draw(7, n)
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatalf("plan %d of seed 7 came out in two ways", n)
		}
	}
	if bytes.Equal(plan.Draw(7, 1).Bytes(), plan.Draw(8, 1).Bytes()) {
		t.Error("two seeds give one plan")
	}
}

func TestDrawnPlansStayWithinTheirLimitsAndReachEveryEdge(t *testing.T) {
	edges, verbs, jobsAtMost := map[string]bool{}, map[plan.Verb]bool{}, 0
	for n := 1; n <= 3000; n++ {
		p := plan.Draw(1, n)
		if err := p.Check(); err != nil {
			t.Fatalf("plan %d: %v", n, err)
		}
		operations, faults := p.Size()
		jobs := map[string]bool{}
		for _, s := range p.Steps {
			verbs[s.Do] = true
			if s.Fault() {
				edges[s.Edge()] = true
			}
			if s.Job != "" {
				jobs[s.Job] = true
			}
		}
		jobsAtMost = max(jobsAtMost, len(jobs))
		if faults < 1 || faults > 5 || operations < len(jobs) || len(jobs) < 1 || len(jobs) > 50 {
			t.Errorf("plan %d has %d faults and %d operations over %d jobs", n, faults, operations, len(jobs))
		}
	}
	for _, edge := range []string{"client-api", "api-postgres", "worker-provider", "process"} {
		if !edges[edge] {
			t.Errorf("no fault was ever drawn on the edge %s", edge)
		}
	}
	if len(verbs) != 24 || jobsAtMost < 40 {
		t.Errorf("%d of 24 verbs were drawn, and %d jobs at most", len(verbs), jobsAtMost)
	}
}

func TestAPlanFileReadsBackAsItWasWritten(t *testing.T) {
	p := plan.Draw(3, 9)
	p.Invariant, p.Mutant = "I5", "last-write-wins"
	path := filepath.Join(t.TempDir(), "plan.json")
	for range 2 { // over an old one too
		if err := p.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	back, err := plan.Load(path)
	if err != nil || !bytes.Equal(back.Bytes(), p.Bytes()) {
		t.Errorf("%v\n%s", err, back.Bytes())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.unfinished")); len(left) > 0 {
		t.Errorf("half a file was left behind: %v", left)
	}
	if err := p.Write(filepath.Join(t.TempDir(), "no", "folder", "plan.json")); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

func TestABadPlanFileIsRefusedWithItsPlace(t *testing.T) {
	const head = `{"format":"interlock-plan/1","seed":1,"number":1,"steps":`
	for text, why := range map[string]string{
		``:   "is no plan",
		`[]`: "is no plan",
		`{"format":"interlock-plan/2","steps":[]}`: "interlock-plan/1 is wanted",
		head + `[]}`:                                                             "1 to 1000 steps",
		head + `[{"do":"submit","job":"a"}]} {}`:                                 "more than one",
		head + `[{"do":"submit","job":"a","wait":1}]}`:                           "unknown field",
		head + `[{"do":"submit"}]}`:                                              "step 1",
		head + `[{"do":"submit","job":"a"},{"do":"explode","job":"a"}]}`:         "step 2",
		head + `[{"do":"release","job":"a"}]}`:                                   "number of an attempt",
		head + `[{"do":"stall","job":"a","n":99}]}`:                              "number of an attempt",
		head + `[{"do":"kill-worker","job":"a"}]}`:                               "concerns a process",
		head + `[{"do":"submit","job":"../a"}]}`:                                 "name of a job",
		head + `[{"do":"submit","job":"a","clients":1000}]}`:                     "clients at once",
		`{"invariant":"I99",` + head[1:] + `[{"do":"submit","job":"a"}]}`:        "no invariant",
		head + `[` + strings.Repeat(`{"do":"read","job":"a"},`, 60_000) + `{}]}`: "longer than",
	} {
		path := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Load(path); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.80s\n%v, and %q is wanted", text, err, why)
		}
	}
	if _, err := plan.Load(filepath.Join(t.TempDir(), "missing.json")); err == nil {
		t.Error("a file that is not there is a plan")
	}
}

func TestShardsHaveEveryPlanOnceAndMerge(t *testing.T) {
	var shards []plan.Summary
	for _, text := range []string{"3/3", "1/3", "2/3"} {
		if _, err := plan.ParseShard(text); err != nil {
			t.Fatal(err)
		}
		shards = append(shards, plan.Summary{
			Format: plan.SummaryFormat, Seed: 1, Plans: 10, Shard: text, Played: 3, Passed: 3, Fired: 2, Armed: 2, Edges: map[string]int{"process": 1},
		})
	}
	all, err := plan.Merge(shards)
	if err != nil || all.Played != 9 || all.Edges["process"] != 3 || len(all.Missing()) != 0 || all.Verdict() != "pass" {
		t.Errorf("%+v %v %v", all, err, all.Missing())
	}
	if shards[0].Edges["process"] != 1 {
		t.Error("merging changed a shard")
	}
	two, err := plan.Merge(shards[:2])
	if err != nil || !slices.Equal(two.Missing(), []string{"2/3"}) {
		t.Errorf("%v %v", two.Missing(), err)
	}
	shards[1].Violations, shards[1].Found = 1, &plan.Plan{Number: 4}
	if all, err = plan.Merge(shards); err != nil || all.Verdict() != "violation" || all.Found.Number != 4 {
		t.Errorf("%+v %v", all, err)
	}
	shards[1].Violations, shards[1].Found, shards[2].Interrupted = 0, nil, true
	if all, err = plan.Merge(shards); err != nil || all.Verdict() != "inconclusive" || !all.Interrupted {
		t.Errorf("with a shard that was interrupted: %+v %v", all, err)
	}
	other := shards[0]
	other.Seed = 2
	for name, bad := range map[string][]plan.Summary{
		"none": nil, "another seed": {shards[0], other}, "twice": {shards[0], shards[0]},
		"another division": {shards[0], {Seed: 1, Plans: 10, Shard: "1/2"}},
	} {
		if _, err := plan.Merge(bad); err == nil {
			t.Errorf("%s: merged", name)
		}
	}
	for _, text := range []string{"0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5"} {
		if _, err := plan.ParseShard(text); err == nil {
			t.Errorf("%q is taken for a shard", text)
		}
	}
}

func TestSharesAreTheWholeAgain(t *testing.T) {
	for n := range 25 {
		for of := 1; of <= 30; of++ {
			all := 0
			for i := 1; i <= of; i++ {
				share := plan.Shard{Index: i, Of: of}.Share(n)
				if share < n/of || share > n/of+1 {
					t.Errorf("shard %d/%d of %d plans has %d", i, of, n, share)
				}
				all += share
			}
			if all != n {
				t.Errorf("%d shards of %d plans have %d", of, n, all)
			}
		}
	}
	if n := (plan.Shard{}).Share(7); n != 7 {
		t.Errorf("the whole of 7 is %d", n)
	}
}

// A search without plans, without faults that fired, or with plans that proved
// nothing has proved nothing.
func TestASearchThatProvedNothingIsInconclusive(t *testing.T) {
	for name, s := range map[string]plan.Summary{
		"nothing ran": {}, "no fault fired": {Played: 3, Passed: 3}, "a plan proved nothing": {Played: 3, Fired: 1, Undecided: []int{2}},
		"came out in two ways": {Played: 3, Fired: 1, Unsteady: []int{2}}, "interrupted": {Played: 3, Passed: 3, Fired: 3, Interrupted: true},
	} {
		if s.Verdict() != "inconclusive" {
			t.Errorf("%s: %s", name, s.Verdict())
		}
	}
	if v := (plan.Summary{Played: 1, Fired: 1, Broken: []int{1}}).Verdict(); v != "infrastructure" {
		t.Error(v)
	}
}
