package target_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/harness/target"
)

// soon bounds a wait for what will not come.
const soon = 50 * time.Millisecond

func TestBackendsAreSeenWritingWaitingAndGone(t *testing.T) {
	ctx := bounded(t)
	server, err := pgserver.Start(ctx, pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	url := server.URL("postgres")
	run(t, url, "CREATE TABLE jobs (id int PRIMARY KEY CONSTRAINT small CHECK (id < 10)); INSERT INTO jobs VALUES (1)")
	d := target.OpenDatabase(url, nil)
	inVain := func(what string, wait func(context.Context) error) {
		t.Helper()
		short, cancel := context.WithTimeout(ctx, soon)
		defer cancel()
		if wait(short) == nil {
			t.Errorf("%s is seen though there is none", what)
		}
	}
	inVain("a writer", func(ctx context.Context) error { _, err := d.Writers(ctx); return err })
	inVain("a waiter", func(ctx context.Context) error { return d.Blocked(ctx, 1) })

	first, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close(context.WithoutCancel(ctx)) }()
	if _, err := first.Exec(ctx, "BEGIN; UPDATE jobs SET id = 2 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if pids, err := d.Writers(ctx); err != nil || len(pids) != 1 || pids[0] != int(first.PgConn().PID()) {
		t.Errorf("writers %v %v, want %d", pids, err, first.PgConn().PID())
	}
	second := make(chan error, 1)
	go func() {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			_, err = conn.Exec(ctx, "UPDATE jobs SET id = 3 WHERE id = 1")
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		second <- err
	}()
	if err := d.Blocked(ctx, 1); err != nil {
		t.Error(err)
	}
	inVain("the end of a transaction", d.Settled)
	if _, err := first.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := d.Settled(ctx); err != nil {
		t.Error(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}

	if err := d.Try(ctx, "UPDATE jobs SET id = 5"); err != nil {
		t.Errorf("what may be written: %v", err)
	}
	denied, ok := errors.AsType[*target.Denied](d.Try(ctx, "UPDATE jobs SET id = 11"))
	if !ok || denied.Constraint != "small" {
		t.Errorf("what may not be written: %v", denied)
	}
	if err := d.Try(ctx, "UPDATE nothing SET id = 1"); err == nil || errors.As(err, &denied) {
		t.Errorf("a statement that is wrong: %v", err)
	}
	if n, err := d.Count(ctx, "SELECT max(id) FROM jobs"); err != nil || n != 2 {
		t.Errorf("a try left %d behind, %v", n, err)
	}
}

func TestAnnounceStopsAtTheQuestionWhetherToGoOn(t *testing.T) {
	asked := make(chan string, 1)
	_, rec, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Expect") + " " + r.Header.Get("Idempotency-Key")
		_, _ = r.Body.Read(make([]byte, 1)) // which sends 100 Continue
	})
	a, err := client.Announce(bounded(t), "k", target.Intent{Contract: "c", Provider: "p"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Send(3); err != nil {
		t.Error(err)
	}
	a.Leave()
	if got := <-asked; got != "100-continue k" {
		t.Errorf("the target was asked %q", got)
	}
	if o := only(t, rec); o.Invoke.Op != history.OpSubmit || o.Kind() != history.Info || o.Invoke.Key != "k" {
		t.Errorf("recorded as %+v", o)
	}
}
