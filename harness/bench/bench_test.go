package bench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	reference "github.com/interlock-harness/interlock/service"
)

// TestMain is the service too, when it is called as one.
func TestMain(m *testing.M) {
	stage.Child(reference.Main)
	os.Exit(m.Run())
}

// toMeasure bounds a whole run of these tests.
const toMeasure = 3 * time.Minute

func small(t *testing.T) Options {
	t.Helper()
	return Options{Command: []string{os.Args[0]}, Statements: reference.Statements(), Duration: time.Second, Clients: 4, Raced: 8, InFlight: 20,
		Note: func(text string) { t.Log(text) }}.filled()
}

// TestRunMeasuresEverything takes far too little time for figures that mean
// anything: only those that do not depend on speed are looked at.
func TestRunMeasuresEverything(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), toMeasure)
	defer cancel()
	o := small(t)
	o.Finished = fewFinished + 1
	rows, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 9 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		t.Logf("%+v", r)
		switch {
		case strings.HasPrefix(r.Measure, "raced"):
			if !r.Holds || r.Ours != 0 || !strings.Contains(r.Detail, "of 8 ") {
				t.Errorf("%+v", r)
			}
		case r.Ours <= 0 || r.Ratio <= 0:
			t.Errorf("nothing was measured: %+v", r)
		}
		if strings.HasPrefix(r.Measure, "duplicates") && r.Detail != "0 rows written" {
			t.Errorf("%+v", r)
		}
	}
}

func TestRunNamesAMeasureThatIsNone(t *testing.T) {
	if _, err := Run(t.Context(), Options{Only: []string{"speed"}}); err == nil || !strings.Contains(err.Error(), "speed") {
		t.Error(err)
	}
}

// TestARaceThatWentWrongIsFound changes the record of one of the raced jobs.
func TestARaceThatWentWrongIsFound(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), toMeasure)
	defer cancel()
	r, err := newRig(ctx, small(t))
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if _, err := racedJobs(ctx, r); err != nil {
		t.Fatal(err)
	}
	for i, wrong := range []string{
		`UPDATE jobs SET version = 3 WHERE key = 'raced-1'`,
		`UPDATE jobs j SET completed_by = a.id FROM attempts a WHERE a.job_id = j.id AND a.state = 'lost' AND j.key = 'raced-2'`,
		`DELETE FROM races USING jobs WHERE jobs.id = races.job_id AND jobs.key = 'raced-3'`,
		`UPDATE attempts a SET state = 'failed' FROM jobs j WHERE j.id = a.job_id AND a.state = 'succeeded' AND j.key = 'raced-4'`,
	} {
		for _, statement := range []string{"SET session_replication_role = replica", wrong} { // without triggers
			if _, err := r.conn.Exec(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := r.number(ctx, violated); err != nil || n != float64(i+1) {
			t.Errorf("after %s: %.0f violations, want %d, %v", wrong, n, i+1, err)
		}
	}
}

func TestARowHoldsWhenItsRatioDoes(t *testing.T) {
	for _, tc := range []struct {
		row  Row
		want bool
	}{
		{Row{Ratio: 0.6}.atLeast(0.6), true}, {Row{Ratio: 0.59}.atLeast(0.6), false},
		{Row{Ratio: 10}.atMost(10), true}, {Row{Ratio: 10.1}.atMost(10), false}, {Row{Ratio: 1}.atMost(0), false},
	} {
		if tc.row.Holds != tc.want {
			t.Errorf("%+v", tc.row)
		}
	}
}

func TestRiverStatesItsRatesOrWhyNot(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{"jobs": 12.5, "lives": 3}'`:            "",
		`echo fast`:                                    "does not state its rates",
		`echo "river: no such database" >&2; exit 3`:   "no such database",
		`test -n "$DATABASE_URL" || exit 1; echo '{}'`: "",
	} {
		file := filepath.Join(t.TempDir(), "river")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		r := &rig{o: Options{River: file}.filled(), provider: &provider{addr: "127.0.0.1:1"}}
		var rates struct{ Jobs, Lives float64 }
		err := r.river(t.Context(), "postgres://u@h/d", &rates)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", script, err)
		}
		if strings.Contains(script, "12.5") && (rates.Jobs != 12.5 || rates.Lives != 3) {
			t.Errorf("%s: %+v", script, rates)
		}
	}
	rows, err := besideRiver(t.Context(), &rig{})
	if rows != nil || err != nil {
		t.Errorf("without the program: %v, %v", rows, err)
	}
}
