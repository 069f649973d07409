package target_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/harness/target"
)

// TestSnapshotReadsTheTablesOfAnyService reads one job from the contract's
// tables, and from another service's through its adapter.
func TestSnapshotReadsTheTablesOfAnyService(t *testing.T) {
	ctx := bounded(t)
	server, err := pgserver.Start(ctx, pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	const job, attempt = "01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"
	run(t, server.URL("postgres"), `
		CREATE TABLE jobs (id uuid, owner text, key text, fingerprint bytea, version bigint, result json, completed_by uuid,
			completed_at timestamptz, cancelled_at timestamptz);
		CREATE TABLE attempts (id uuid, job_id uuid, n int, provider text, state text, reason text);
		CREATE TABLE attempt_events (id bigint, job_id uuid, attempt_id uuid, type text, from_state text, to_state text, actor text, reason text, at timestamptz);
		CREATE TABLE races (id bigint, job_id uuid, attempt_id uuid, winner_id uuid, reason text, payload_sha256 bytea, payload_bytes bigint);
		INSERT INTO jobs VALUES ('`+job+`', 'o-1', 'k-1', '\xab', 2, '{"a":  1}', '`+attempt+`', now(), NULL), (gen_random_uuid(), 'o-2', 'k', '\xab', 1, NULL, NULL, NULL, NULL);
		INSERT INTO attempts VALUES ('`+attempt+`', '`+job+`', 1, 'p', 'succeeded', NULL);
		INSERT INTO attempt_events VALUES (1, '`+job+`', NULL, 'job.submitted', NULL, NULL, 'api', NULL, now());
		INSERT INTO races VALUES (1, '`+job+`', '`+attempt+`', NULL, 'late', '\xcd', 7);
		CREATE TABLE tasks (uuid uuid, tenant text, token text, rev int, output jsonb, winner uuid);
		INSERT INTO tasks VALUES ('`+job+`', 'o-1', 'k-1', 2, '{"a": 1}', '`+attempt+`')`)
	adapter, err := target.ParseAdapter([]byte(`
rows:
  jobs: >-
    SELECT uuid AS id, tenant AS owner, token AS key, rev AS version, output AS result, winner AS completed_by,
    xmin::text AS xmin FROM tasks WHERE tenant = ANY ($1)
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*target.Adapter{"contract": nil, "adapter": adapter} {
		rec := history.New()
		if err := target.OpenDatabase(server.URL("postgres"), a).Snapshot(ctx, rec, "o-1"); err != nil {
			t.Fatal(err)
		}
		rows := map[string]int{}
		for _, e := range rec.Events() {
			if e.Kind != history.Row {
				continue
			}
			rows[e.Op]++
			if e.Op != history.TableJobs {
				continue
			}
			var j history.Job
			if err := e.Decode(&j); err != nil {
				t.Fatal(err)
			}
			if e.Owner != "o-1" || e.Key != "k-1" || e.Job != job || j.Version != 2 || j.CompletedBy != attempt || j.Xmin == "" || string(j.Result) == "" {
				t.Errorf("%s: read %+v %+v", name, e, j)
			}
			if name == "contract" && (j.Fingerprint != "ab" || j.CompletedAt == "") {
				t.Errorf("read %+v", j)
			}
		}
		for _, table := range []string{history.TableJobs, history.TableAttempts, history.TableEvents, history.TableRaces} {
			if rows[table] != 1 {
				t.Errorf("%s: %d rows of %s, want 1", name, rows[table], table)
			}
		}
		if err := rec.Flush(); err != nil {
			t.Error(err)
		}
		old, err := target.OpenDatabase(server.URL("postgres"), a).JobsOf(ctx, "o-1")
		if err != nil || len(old) != 1 || old[0] != job {
			t.Errorf("%s: the owner's jobs are %v, %v", name, old, err)
		}
		without := history.New()
		if err := target.OpenDatabase(server.URL("postgres"), a).Without(map[string]bool{job: true}).Snapshot(ctx, without, "o-1"); err != nil {
			t.Fatal(err)
		}
		for _, e := range without.Events() {
			if e.Kind == history.Row {
				t.Errorf("%s: a row of an old job was read: %+v", name, e)
			}
		}
	}
	reader := target.OpenDatabase(server.URL("postgres"), nil)
	if j, err := reader.JobRow(ctx, job); err != nil || j.Key != "k-1" {
		t.Errorf("row is %+v, %v", j, err)
	}
	if list, err := reader.AttemptRows(ctx, job); err != nil || len(list) != 1 || list[0].State != "succeeded" {
		t.Errorf("rows are %+v, %v", list, err)
	}
	if n, err := reader.Count(ctx, "SELECT count(*) FROM jobs WHERE owner = $1", "o-2"); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func run(t *testing.T, url, statements string) {
	t.Helper()
	ctx := bounded(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(ctx, statements); err != nil {
		t.Fatal(err)
	}
}
