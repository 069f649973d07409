package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// expired submits a job and has a worker claim it whose lease has passed.
func expired(t *testing.T, s *postgres.Store, in job.Submission) job.Claimed {
	t.Helper()
	submit(t, s, in)
	got, err := s.Claim(ctx(t), "dead", -time.Second, 10)
	if err != nil || len(got) != 1 {
		t.Fatalf("claimed %d, %v", len(got), err)
	}
	return got[0]
}

// One attempt that the database will not let go of does not keep the reaper from
// the others, before it and behind it.
func TestOneBadRowDoesNotStopTheReaper(t *testing.T) {
	s, url := open(t, postgres.Options{})
	first, bad, last := expired(t, s, submission("first")), expired(t, s, submission("bad")), expired(t, s, submission("last"))
	sql(t, url, `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$`)
	sql(t, url, `CREATE TRIGGER poison BEFORE UPDATE ON attempts FOR EACH ROW WHEN (OLD.id = '`+string(bad.Attempt.ID)+`') EXECUTE FUNCTION poison()`)
	n, err := s.ReapLeases(ctx(t))
	var pg *pgconn.PgError
	if n != 2 || !errors.As(err, &pg) || !strings.Contains(err.Error(), string(bad.Attempt.ID)) {
		t.Errorf("reaped %d, %v; want 2 and the bad one named", n, err)
	}
	for c, want := range map[job.ID]string{first.Job.ID: "unknown ", bad.Job.ID: "running ", last.Job.ID: "unknown "} {
		if got := states(t, s, c); got != want {
			t.Errorf("attempts are %q, want %q", got, want)
		}
	}
	sql(t, url, "DROP TRIGGER poison ON attempts")
	if n, err := s.ReapLeases(ctx(t)); n != 1 || err != nil {
		t.Errorf("without the poison: reaped %d, %v", n, err)
	}
}

// A job that asked for a race allows two contenders while both are alive; a worker
// that died says nothing about its call.
func TestADeadWorkersAttemptIsUnknownAlsoInARace(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	in := submission("k")
	in.Intent.Race, in.Intent.Failover = true, job.Failover{Mode: "automatic", Providers: []string{"q"}}
	c := expired(t, s, in)
	if n, err := s.ReapLeases(ctx(t)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := states(t, s, c.Job.ID); got != "unknown " {
		t.Errorf("attempts are %q", got)
	}
	// at its soft deadline the same attempt would have been released
	in.Key = "alive"
	alive := running(t, s, in)
	if state, err := s.MarkUnknown(ctx(t), deadline(alive)); state != job.StateReleased || err != nil {
		t.Errorf("at the deadline it is %s, %v", state, err)
	}
}

// deadline is what a worker says at the soft deadline of c.
func deadline(c job.Claimed) job.Settlement {
	by := settlement(c, "deadline")
	by.Failure.Class = job.ClassDeadline
	return by
}
