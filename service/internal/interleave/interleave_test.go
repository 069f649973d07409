package interleave_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/interleave"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// options for one lane, or as many as are given.
func options(t testing.TB, fault string, lanes ...int) interleave.Options {
	t.Helper()
	active, err := interleave.Choose(fault)
	if err != nil {
		t.Fatal(err)
	}
	o := interleave.Options{Mutant: active, Merge: true}
	for range append(lanes, 1)[0] {
		o.Databases = append(o.Databases, pgtest.Database(t))
	}
	return o
}

func sets(t testing.TB, names ...string) []interleave.Set {
	t.Helper()
	var all []interleave.Set
	for _, name := range names {
		s, err := interleave.ParseSet(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func search(t testing.TB, o interleave.Options, sets []interleave.Set) interleave.Result {
	t.Helper()
	r, err := interleave.Search(t.Context(), o, sets)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPairsOfTheCleanStoreKeepEveryPromise(t *testing.T) {
	r := search(t, options(t, "", 4), interleave.Pairs())
	for _, v := range r.Violations {
		t.Errorf("%s %s\n%s\n%s", v.Invariant, v.Sentence, v.Schedule, strings.Join(v.Steps, "\n"))
	}
	if r.Diverged != 0 {
		t.Errorf("%d schedules went another way than their picks say", r.Diverged)
	}
	if r.Blocked == 0 {
		t.Error("no statement ever waited for a lock: nothing was interleaved")
	}
}

// The counts are a property of the statements, not of the machine. In the second
// set reads are put off and woken; in the third one may overtake another in the
// queue for a row, which is played again.
func TestCountsAreTheSameEveryTime(t *testing.T) {
	for _, c := range []struct {
		set       string
		schedules int
	}{
		{"idle/start+start+start", 9},
		{"queued/submit+claim+cancel-attempt", 36},
		{"raced/start+complete+complete", 188},
	} {
		for _, lanes := range []int{1, 6} {
			r := search(t, options(t, "", lanes), sets(t, c.set))
			if r.Schedules != c.schedules || r.Equal != 0 || r.Undecided != 0 {
				t.Errorf("%s in %d lanes: %d schedules, %d equal, %d undecided; %d, 0 and 0 are right", c.set, lanes, r.Schedules, r.Equal, r.Undecided, c.schedules)
			}
		}
	}
}

// Merging plain reads loses no outcome: whatever the answers of the transactions
// may be in any order, they are in one of the merged ones too.
func TestMergedOrdersHaveTheSameOutcomes(t *testing.T) {
	for _, name := range []string{"unknown/start+complete", "running/complete+reap", "unknown/submit+resolve", "queued/claim+release", "unknown/start+cancel-attempt"} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			var outcomes [2][]string
			for i, merge := range []bool{false, true} {
				o := options(t, "")
				o.Merge = merge
				o.Outcome = func(text string) { outcomes[i] = append(outcomes[i], text) }
				search(t, o, sets(t, name))
				slices.Sort(outcomes[i])
				outcomes[i] = slices.Compact(outcomes[i])
			}
			if !slices.Equal(outcomes[0], outcomes[1]) {
				t.Errorf("every order: %q\nmerged: %q", outcomes[0], outcomes[1])
			}
		})
	}
}

func TestAFoundViolationReplays(t *testing.T) {
	for _, c := range []struct{ mutant, invariant, set string }{
		{"last-write-wins", "I5", "raced/complete+complete"},
		{"reaper-by-id", "I4", "running/complete+reap"},
		{"check-then-insert", "I1", "new/submit+submit"},
		{"guard:reap-attempt:3", "I7", "running/reap+heartbeat"},
		{"guard:win-attempt:1", "I4", "running/release+stale-complete"},
		{"guard:fail-attempt:1", "I4", "running/release+stale-fail"},
		{"guard:unknown-attempt:1", "I4", "running/release+stale-mark-unknown"},
		{"guard:fail-attempt:2+schema", "I4", "running/complete+fail"},
		{"guard:lock-job:1", "I11", "idle/release+stranger-start"},
		{"guard:job-by-key:1", "I1", "running/submit-next+submit-next"},
		{"guard:complete-job:1+complete-job:2+schema", "I5", "raced/complete+complete"},
	} {
		t.Run(c.mutant, func(t *testing.T) {
			r := search(t, options(t, c.mutant), sets(t, c.set))
			i := slices.IndexFunc(r.Violations, func(v interleave.Violation) bool { return v.Invariant == c.invariant })
			if i < 0 {
				t.Fatalf("%d schedules of %s, and no violation of %s: %v", r.Schedules, c.set, c.invariant, r.Violations)
			}
			set, picks, err := interleave.ParseSchedule(r.Violations[i].Schedule)
			if err != nil {
				t.Fatal(err)
			}
			const times = 20
			again, err := interleave.Replay(t.Context(), options(t, c.mutant), set, picks, times)
			if err != nil {
				t.Fatal(err)
			}
			for n, p := range again {
				same := p.Schedule == r.Violations[i].Schedule && p.Diverged == "" &&
					slices.ContainsFunc(p.Violations, func(v interleave.Violation) bool { return v.Invariant == c.invariant })
				if !same {
					t.Errorf("replay %d of %d: %+v", n+1, times, p)
				}
			}
			clean, err := interleave.Replay(t.Context(), options(t, ""), set, picks, 1)
			if err != nil || len(clean[0].Violations) > 0 {
				t.Errorf("the clean store in that order: %v %+v", err, clean)
			}
		})
	}
}

func TestADatabaseInUseIsRefusedAndLeftAlone(t *testing.T) {
	o := options(t, "")
	conn, err := pgx.Connect(t.Context(), o.Databases[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), "CREATE TABLE somebodys AS SELECT 1 AS row"); err != nil {
		t.Fatal(err)
	}
	if _, err := interleave.Search(t.Context(), o, sets(t, "new/submit+submit")); err == nil || !strings.Contains(err.Error(), "empty one") {
		t.Errorf("a database with tables: %v", err)
	}
	var rows int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM somebodys").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("somebody's table holds %d rows: %v", rows, err)
	}
	if _, err := interleave.Search(t.Context(), interleave.Options{}, nil); err == nil {
		t.Error("no database at all is no error")
	}
}

func TestASearchLeavesItsDatabaseEmpty(t *testing.T) {
	o := options(t, "")
	for range 2 {
		if r := search(t, o, sets(t, "new/submit+submit")); r.Schedules == 0 {
			t.Error("nothing was played")
		}
	}
}

func TestWhatIsNoScheduleIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "raced", "raced/complete", "raced/complete+complete", "raced/complete+complete:2", "raced/complete+complete:0x",
		"nowhere/complete+complete:0", "raced/complete+explode:0", "new/complete+complete:0", "waiting/complete+reap:0",
		"idle/start+start+start+start+start:0",
	} {
		if _, _, err := interleave.ParseSchedule(text); err == nil {
			t.Errorf("%q is taken for a schedule", text)
		}
	}
	for _, s := range slices.Concat(interleave.Pairs(), interleave.Triples()) {
		back, picks, err := interleave.ParseSchedule(s.String() + ":01")
		if err != nil || back.String() != s.String() || len(picks) != 2 {
			t.Errorf("%s reads back as %s %v: %v", s, back, picks, err)
		}
	}
	if p, q := len(interleave.Pairs()), len(interleave.Triples()); p != 772 || q != 165 {
		t.Errorf("%d pairs in their situations and %d triples; 772 and 165 are right", p, q)
	}
}
