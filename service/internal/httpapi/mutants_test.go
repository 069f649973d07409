package httpapi_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
)

// TestHTTPMutantsAreWrongAndTheCleanServiceIsNot plays, for every mutant of the
// HTTP contract, the few requests that tell it from the clean service.
func TestHTTPMutantsAreWrongAndTheCleanServiceIsNot(t *testing.T) {
	submit := func(f *fixture, o owner, key, body string, lines ...string) answer {
		return f.call(t, post(o, body, append(lines, "Idempotency-Key: "+key)...))
	}
	// Each tells whether the promise is broken. b is a second replica of a.
	broken := map[mutant.Policy]func(a, b *fixture, o owner) bool{
		mutant.KeyCachePerProcess: func(a, b *fixture, o owner) bool {
			return submit(a, o, "k", goodBody("x")).field(t, "id") != submit(b, o, "k", goodBody("x")).field(t, "id")
		},
		mutant.KeyPerReplica: func(a, b *fixture, o owner) bool {
			return submit(a, o, "k", goodBody("x")).field(t, "id") != submit(b, o, "k", goodBody("x")).field(t, "id")
		},
		mutant.KeyPerRequest: func(a, _ *fixture, o owner) bool {
			return submit(a, o, "k", goodBody("x")).field(t, "id") != submit(a, o, "k", goodBody("x")).field(t, "id")
		},
		mutant.KeyPerConnection: func(a, _ *fixture, o owner) bool {
			return submit(a, o, "k", goodBody("x")).field(t, "id") != submit(a, o, "k", goodBody("x")).field(t, "id")
		},
		mutant.KeyCutShort: func(a, _ *fixture, o owner) bool {
			long := strings.Repeat("k", 100)
			return submit(a, o, long+"a", goodBody("x")).field(t, "id") == submit(a, o, long+"b", goodBody("x")).field(t, "id")
		},
		mutant.PayloadIgnored: func(a, _ *fixture, o owner) bool {
			submit(a, o, "k", goodBody("x"))
			return submit(a, o, "k", goodBody("y")).status != 409
		},
		mutant.RawByteHash: func(a, _ *fixture, o owner) bool {
			submit(a, o, "k", goodBody("x"))
			return submit(a, o, "k", goodBody("x")+" ").status != 200
		},
		mutant.HashAfterDefaults: func(a, _ *fixture, o owner) bool {
			submit(a, o, "k", intentWith(`"race":false`))
			return submit(a, o, "k", goodBody("body")).status != 409
		},
		mutant.HashSansProvider: func(a, _ *fixture, o owner) bool {
			submit(a, o, "k", goodBody("x"))
			return submit(a, o, "k", strings.Replace(goodBody("x"), "openai-demo", "q", 1)).status != 409
		},
		mutant.KeyBeforeBody: func(a, _ *fixture, o owner) bool {
			a.cut(t, post(o, goodBody("x"), "Idempotency-Key: k"), 20)
			return submit(a, o, "k", goodBody("x")).status != 201
		},
		mutant.KeyBeforeContinue: func(a, _ *fixture, o owner) bool {
			a.cut(t, post(o, goodBody("x"), "Idempotency-Key: k", "Expect: 100-continue"), 20)
			return submit(a, o, "k", goodBody("x")).status != 201
		},
		mutant.PartialBody: func(a, _ *fixture, o owner) bool {
			a.cut(t, post(o, goodBody("a long text that breaks off"), "Idempotency-Key: k"), 10)
			return a.jobs(t, o) != 0
		},
		mutant.NoBodyDeadline: func(a, _ *fixture, o owner) bool {
			conn, err := net.Dial("tcp", a.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			raw := post(o, goodBody("x"), "Idempotency-Key: k")
			_, _ = io.WriteString(conn, raw[:len(raw)-5])
			_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
			_, err = conn.Read(make([]byte, 1))
			return err != nil // no 408 within twice its time
		},
		mutant.RequestContext: func(a, _ *fixture, o owner) bool {
			blocked := a.lockJobs(t)
			waiting := "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
			conn := a.leave(t, post(o, goodBody("x"), "Idempotency-Key: k"), func() bool { return sql[int](t, a, waiting) == 1 })
			_ = conn.Close() // while the insert waits for the lock
			gone := false
			for deadline := time.Now().Add(time.Second); !gone && time.Now().Before(deadline); {
				gone = sql[int](t, a, waiting) == 0 // given up
			}
			blocked()
			if !gone {
				eventually(t, "the job is stored", func() bool { return a.jobs(t, o) == 1 })
			}
			return gone
		},
		mutant.FailureRemembered: func(a, _ *fixture, o owner) bool {
			submit(a, o, "warm", goodBody("x"))
			blocked := a.lockJobs(t)
			first := submit(a, o, "k", goodBody("x")) // the store gives up
			blocked()
			if first.status < 500 {
				t.Fatalf("the store did not fail: %d", first.status)
			}
			again := submit(a, o, "k", goodBody("x"))
			return again.status != http.StatusCreated && again.status != http.StatusOK
		},
	}
	quick := withLimits(func(l *httpapi.Limits) { l.BodyTime, l.StoreTime = time.Second, 1500*time.Millisecond })
	url := pgtest.Database(t)
	clean, second := serveOver(t, url, quick), serveOver(t, url, quick)
	for _, m := range mutant.All() {
		if len(m.Policy) != 1 || m.Schema != nil || m.Replace != nil {
			continue
		}
		play, ours := broken[m.Policy[0]]
		if !ours {
			continue
		}
		delete(broken, m.Policy[0])
		t.Run(m.Name, func(t *testing.T) {
			if play(clean, second, clean.owner(t)) {
				t.Error("the clean service breaks the promise")
			}
			wrong, replica := serveOver(t, url, quick, withMutant(t, m.Name)), serveOver(t, url, quick, withMutant(t, m.Name))
			wrong.owners.Store(1000 + clean.owners.Load()) // names that nobody has
			if !play(wrong, replica, wrong.owner(t)) {
				t.Error("the mutant keeps the promise")
			}
		})
	}
	for policy := range broken {
		t.Errorf("no mutant is registered for %s", policy)
	}
}

// cut sends a request without its last bytes and closes.
func (f *fixture) cut(t testing.TB, raw string, missing int) {
	t.Helper()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, raw[:len(raw)-missing]); err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(toAnswer))
	_, _ = io.ReadAll(conn) // until the server has dealt with it
}

// leave sends a request and returns its connection once until holds.
func (f *fixture) leave(t testing.TB, raw string, until func() bool) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the request is where it should be", until)
	return conn
}

// lockJobs keeps every insert of a job waiting until the returned function is
// called.
func (f *fixture) lockJobs(t testing.TB) (unlock func()) {
	t.Helper()
	conn := f.connect(t)
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE jobs IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
}
