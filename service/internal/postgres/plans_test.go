package postgres_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// TestNoStatementAboutOneAttemptReadsAllOpenOnes looks at the plans after the worst
// that can happen to the statistics: they were taken while nobody waited, over many
// finished jobs, and then a crowd came. An index that holds open attempts only
// seems to be empty then, and cheaper than the primary key; whoever reads it
// without a condition on one of its columns reads the whole crowd.
func TestNoStatementAboutOneAttemptReadsAllOpenOnes(t *testing.T) {
	_, url := open(t, postgres.Options{})
	for _, fill := range []string{
		`INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent, version)
			SELECT gen_random_uuid(), 'past', i::text, decode(repeat('5a', 32), 'hex'), 1, '{}', '{}', 1 FROM generate_series(1, 20000) i`,
		`INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms, worker, lease_until)
			SELECT gen_random_uuid(), id, 1, 'p', (ARRAY['starting', 'running', 'unknown'])[1 + key::int % 3], 1, 'w', now() FROM jobs`,
		`UPDATE attempts SET state = 'cancelled', ended_at = now()`,
		`VACUUM ANALYZE`,
	} {
		sql(t, url+"&session_replication_role=replica", fill) // past the guards on moves
	}
	seen := &statements{}
	everyMove(t, openAt(t, url, postgres.Options{Tracer: seen}))

	conn, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx(t))
	if _, err := conn.Exec(ctx(t), "SET enable_seqscan = off"); err != nil { // as the store has it
		t.Fatal(err)
	}
	texts := seen.since(0)
	slices.Sort(texts)
	asked := 0
	for _, text := range slices.Compact(texts) {
		if !strings.Contains(text, "attempts") || strings.Contains(text, "LIMIT  100") { // the reaper's look is at all that runs
			continue
		}
		asked++
		for _, scan := range wholeScans(t, conn, text) {
			t.Errorf("%s\nreads a whole index: %s", text, scan)
		}
	}
	if asked < 12 {
		t.Errorf("%d statements were looked at", asked)
	}
	if got := wholeScans(t, conn, `SELECT 1 FROM attempts WHERE state = 'starting' AND worker IS NULL ORDER BY fence`); len(got) != 1 {
		t.Errorf("a statement that does read a whole index is not found: %q", got)
	}
}

// What is open is found by an index that holds nothing else, and no history is read.
func TestOpenAttemptsAreFoundByTheirIndexes(t *testing.T) {
	_, url := open(t, postgres.Options{})
	conn, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx(t))
	if _, err := conn.Exec(ctx(t), "SET enable_seqscan = off"); err != nil { // of an empty table all plans are cheap
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		read  func(s *postgres.Store) error
		index string
	}{
		"the reaper's look":  {func(s *postgres.Store) error { _, err := s.ReapLeases(ctx(t)); return err }, "attempts_running"},
		"how many there are": {func(s *postgres.Store) error { _, err := s.Stats(ctx(t)); return err }, "one_open_attempt_per_job"},
		"what stays unknown": {func(s *postgres.Store) error { _, err := s.Stuck(ctx(t), job.AnyOwner, time.Hour, 10); return err }, "attempts_unknown"},
		"jobs that are under way": {func(s *postgres.Store) error {
			_, err := s.Jobs(ctx(t), job.AnyOwner, job.Filter{Status: job.StatusRunning, Limit: 10})
			return err
		}, "one_open_attempt_per_job"},
	} {
		seen := &statements{}
		s := openAt(t, url, postgres.Options{Tracer: seen})
		if err := c.read(s); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, text := range seen.since(0) {
			if strings.Contains(text, "attempts") {
				found = found || slices.ContainsFunc(planOf(t, conn, text), func(line string) bool { return strings.Contains(line, "using "+c.index+" ") })
			}
		}
		if !found {
			t.Errorf("%s: %s is not used", name, c.index)
		}
	}
}

var (
	parameter = regexp.MustCompile(`@[a-z_]+`)
	scanned   = regexp.MustCompile(`(?:Index Scan|Index Only Scan|Bitmap Index Scan)(?: Backward)? (?:using|on) (attempts_\w+|one_\w+)`)
)

// wholeScans are the scans of an index of attempts, in the plan of a statement,
// without a condition on one of its columns.
func wholeScans(t *testing.T, conn *pgx.Conn, text string) (found []string) {
	t.Helper()
	plan := planOf(t, conn, text)
	for i, line := range plan {
		if scanned.MatchString(line) && (i+1 == len(plan) || !strings.Contains(plan[i+1], "Index Cond:")) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// planOf is the plan of a statement whose arguments are not known.
func planOf(t *testing.T, conn *pgx.Conn, text string) []string {
	t.Helper()
	var names []string
	numbered := parameter.ReplaceAllStringFunc(text, func(name string) string {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return fmt.Sprint("$", slices.Index(names, name)+1)
	})
	execute := "EXPLAIN EXECUTE looked"
	if len(names) > 0 {
		execute += "(NULL" + strings.Repeat(", NULL", len(names)-1) + ")"
	}
	for _, do := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE looked AS " + numbered} {
		if _, err := conn.Exec(ctx(t), do); err != nil {
			t.Fatalf("%s: %v", do, err)
		}
	}
	rows, _ := conn.Query(ctx(t), execute, pgx.QueryExecModeSimpleProtocol)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if _, err := conn.Exec(ctx(t), "DEALLOCATE looked"); err != nil {
		t.Fatal(err)
	}
	return plan
}

// everyMove sends each statement that is about one attempt or one job.
func everyMove(t *testing.T, s *postgres.Store) {
	t.Helper()
	move := func(c job.Claimed) job.Move {
		return job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: c.Attempt.N, Actor: "ops", Reason: "look"}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, end := range map[job.Key]func(c job.Claimed){
		"done":     func(c job.Claimed) { must(s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`))) },
		"failed":   func(c job.Claimed) { must(s.Fail(ctx(t), settlement(c, "refused.400"))) },
		"deadline": func(c job.Claimed) { _, err := s.MarkUnknown(ctx(t), deadline(c)); must(err) },
		"late": func(c job.Claimed) {
			_, err := s.MarkUnknown(ctx(t), deadline(c))
			must(err)
			_, err = s.ReleaseAttempt(ctx(t), move(c))
			must(err)
			_, _, err = s.StartAttempt(ctx(t), job.Start{Owner: job.AnyOwner, Job: c.Job.ID, Provider: "p", Actor: "ops"})
			must(err)
			must(s.Complete(ctx(t), settlement(claim(t, s, "w2"), "ok"), json.RawMessage(`2`)))
			_ = s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)) // loses
		},
		"cancelled": func(c job.Claimed) { _, err := s.CancelAttempt(ctx(t), move(c)); must(err) },
		"no job":    func(c job.Claimed) { _, err := s.CancelJob(ctx(t), move(c)); must(err) },
		"resolved": func(c job.Claimed) {
			_, err := s.MarkUnknown(ctx(t), deadline(c))
			must(err)
			_, err = s.ResolveAttempt(ctx(t), job.Resolution{Move: move(c), Outcome: job.OutcomeSucceeded, Result: json.RawMessage(`1`)})
			must(err)
		},
	} {
		c := running(t, s, submission(name))
		_, err := s.Heartbeat(ctx(t), "w", time.Minute, []job.AttemptID{c.Attempt.ID})
		must(err)
		end(c)
		attemptsOf(t, s, c.Job.ID)
	}
	expired(t, s, submission("left"))
	_, err := s.ReapLeases(ctx(t))
	must(err)
}
