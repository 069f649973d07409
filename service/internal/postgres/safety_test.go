package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

func TestCheckSafetyNamesWhatIsUnsafe(t *testing.T) {
	s, url := open(t, postgres.Options{})
	findings := func() string {
		t.Helper()
		var unsafe *postgres.UnsafeError
		switch err := s.CheckSafety(ctx(t)); {
		case err == nil:
			return ""
		case errors.As(err, &unsafe):
			return strings.Join(unsafe.Findings, "\n")
		default:
			t.Fatal(err)
			return ""
		}
	}
	// the servers of tests run without fsync and full_page_writes
	if got := findings(); !strings.HasPrefix(got, "fsync is off") || !strings.Contains(got, "full_page_writes is off") || strings.Count(got, "\n") != 1 {
		t.Errorf("of a migrated database: %q", got)
	}
	sql(t, url, "ALTER ROLE interlock_service IN DATABASE "+value[string](t, url, "SELECT current_database()")+" SET search_path = public")
	sql(t, url, "ALTER DATABASE "+value[string](t, url, "SELECT current_database()")+" SET synchronous_commit = off")
	s = openAt(t, url, postgres.Options{})
	if got := findings(); !strings.Contains(got, "synchronous_commit is off") {
		t.Errorf("with synchronous_commit off: %q", got)
	}
	sql(t, url, "GRANT DELETE ON races TO interlock_service; GRANT UPDATE (owner) ON jobs TO interlock_service")
	if got := findings(); !strings.Contains(got, "may delete or rewrite") || !strings.Contains(got, "may change owner") {
		t.Errorf("with too many rights: %q", got)
	}
}

// The service's own connection can do no more than it needs.
func TestTheServiceRoleIsSmall(t *testing.T) {
	s, url := open(t, postgres.Options{})
	c := running(t, s, submission("k"))
	if user := value[string](t, url, "SELECT usename FROM pg_stat_activity WHERE application_name = 'interlock' AND datname = current_database() LIMIT 1"); user == "" {
		t.Error("the service is not connected")
	}
	for _, statement := range []string{
		"DELETE FROM jobs", "DELETE FROM attempts", "DELETE FROM attempt_events", "DELETE FROM races", "DELETE FROM credentials",
		"UPDATE jobs SET owner = 'x'", "UPDATE jobs SET key = 'x'", "UPDATE jobs SET fingerprint = ''", "UPDATE jobs SET intent = NULL", "UPDATE jobs SET request = NULL", "UPDATE jobs SET purged_at = now()",
		"UPDATE attempts SET fence = DEFAULT", "UPDATE attempts SET n = 9", "UPDATE attempts SET provider = 'x'", "UPDATE attempts SET trigger_key = 'x'",
		"UPDATE attempt_events SET actor = 'x'", "UPDATE races SET winner_id = NULL", "UPDATE credentials SET owner = 'x'",
		"DROP INDEX one_open_attempt_per_job", "ALTER TABLE jobs DISABLE TRIGGER finished_job_is_frozen", "TRUNCATE races", "CREATE TABLE x ()",
	} {
		var pg *pgconn.PgError
		if err := trySQL(t, url, "SET ROLE interlock_service; "+statement); !errors.As(err, &pg) || pg.Code != "42501" {
			t.Errorf("%s: %v, want insufficient_privilege", statement, err)
		}
	}
	if got := jobOf(t, s, c.Job.ID); got.Status != job.StatusRunning {
		t.Errorf("job is %s", got.Status)
	}
}

func TestReady(t *testing.T) {
	s, url := open(t, postgres.Options{})
	if err := s.Ready(ctx(t)); err != nil {
		t.Errorf("a migrated database: %v", err)
	}
	sql(t, url, "DELETE FROM goose_db_version WHERE version_id > 1")
	if err := s.Ready(ctx(t)); err == nil || !strings.Contains(err.Error(), "interlock migrate") {
		t.Errorf("an old schema: %v", err)
	}
}
