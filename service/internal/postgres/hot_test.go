package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// TestHotRowsStaySmall has an attempt renewed again and again: each heartbeat is a
// heap-only update, which no index hears of, and the pages have room for it.
func TestHotRowsStaySmall(t *testing.T) {
	s, url := open(t, postgres.Options{})
	c := running(t, s, submission("k"))
	const beats = 20
	for range beats {
		if alive, err := s.Heartbeat(ctx(t), "w", time.Minute, []job.AttemptID{c.Attempt.ID}); err != nil || len(alive) != 1 {
			t.Fatal(alive, err)
		}
	}
	s.Close() // its backends report what they did when they end
	conn, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx(t))
	var updates, heapOnly int
	for begun := time.Now(); updates < beats+1; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > toStore {
			t.Fatalf("%d updates are counted, want %d", updates, beats+1)
		}
		if err := conn.QueryRow(ctx(t), "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'attempts'").Scan(&updates, &heapOnly); err != nil {
			t.Fatal(err)
		}
	}
	if updates != beats+1 || heapOnly != beats { // the claim moves the row out of one index and into another
		t.Errorf("%d updates, %d of them heap-only; want %d and %d", updates, heapOnly, beats+1, beats)
	}
	for _, table := range []string{"jobs", "attempts"} {
		if n := value[int](t, url, "SELECT count(*) FROM pg_class WHERE relname = $1 AND reloptions @> '{fillfactor=80}' AND reloptions::text LIKE '%autovacuum_vacuum_scale_factor=0.0%'", table); n != 1 {
			t.Errorf("%s is not kept small", table)
		}
	}
	if n := value[int](t, url, "SELECT count(*) FROM (SELECT id FROM jobs UNION ALL SELECT id FROM attempts) ids WHERE substr(id::text, 15, 1) <> '7'"); n != 0 {
		t.Errorf("%d ids are not UUIDv7", n)
	}
}
