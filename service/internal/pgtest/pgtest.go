// Package pgtest gives the tests of the service a real PostgreSQL: one private
// server per test binary, one fresh database per test. Only tests import it.
package pgtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// toManage bounds starting the server, and making or dropping one database.
const toManage = 30 * time.Second

var shared struct {
	once   sync.Once
	server *pgserver.Server
	err    error
}

// Main runs the tests of a package and then removes the server, if one was
// started. Use it in TestMain: os.Exit(pgtest.Main(m)).
func Main(m *testing.M) int {
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			println("pgtest:", err.Error())
			return max(code, 1)
		}
	}
	return code
}

// Server returns the private server. Without PostgreSQL binaries the test
// fails: the service has no meaning without its database.
func Server(t testing.TB) *pgserver.Server {
	t.Helper()
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), toManage)
		defer cancel()
		shared.server, shared.err = pgserver.Start(ctx, pgserver.Options{Settings: map[string]string{"max_connections": "300"}})
	})
	if shared.err != nil {
		t.Fatalf("no PostgreSQL for the tests: %v", shared.err)
	}
	return shared.server
}

// Database creates an empty database and returns its URL. It is dropped when
// the test ends.
func Database(t testing.TB) string {
	t.Helper()
	server := Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), toManage)
	defer cancel()
	name, err := server.Create(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), toManage)
		defer cancel()
		if err := server.Drop(ctx, name); err != nil {
			t.Error(err)
		}
	})
	return server.URL(name)
}
