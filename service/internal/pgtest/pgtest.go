// Package pgtest gives the tests of the service a real PostgreSQL: one private
// server per test binary, one fresh database per test. Only tests import it.
package pgtest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// toManage bounds starting the server, and making or dropping one database.
const toManage = 30 * time.Second

var shared struct {
	once   sync.Once
	server *pgserver.Server
	err    error
}

// Main runs the tests of a package, ends what they shared, removes the server, if
// one was started, and fails when a goroutine is left. Use it in TestMain:
// os.Exit(pgtest.Main(m)).
func Main(m *testing.M, ends ...func() error) int {
	code := m.Run()
	for _, end := range ends {
		if err := end(); err != nil {
			println("pgtest: what the tests shared does not end:", err.Error())
			code = max(code, 1)
		}
	}
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			println("pgtest:", err.Error())
			return max(code, 1)
		}
	}
	if code == 0 { // a test that failed may have left anything
		if err := goleak.Find(); err != nil {
			println("pgtest: goroutines are left:", err.Error())
			return 1
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
		shared.server, shared.err = pgserver.Start(ctx, pgserver.Options{Settings: map[string]string{
			"max_connections": "300",
			"autovacuum":      "off", // its transactions would be taken for those of the service
		}})
	})
	if shared.err != nil {
		t.Fatalf("no PostgreSQL for the tests: %v", shared.err)
	}
	return shared.server
}

// Database creates an empty database and returns its URL. It goes with the
// server at the end: dropping it would cost a checkpoint each time.
func Database(t testing.TB) string {
	t.Helper()
	return create(t, "")
}

// Copy is Database with the content that prepare gave to a template, which is
// made once for each name and copied from then on.
func Copy(t testing.TB, name string, prepare func(url string)) string {
	t.Helper()
	templates.mu.Lock()
	defer templates.mu.Unlock()
	template, ok := templates.names[name]
	if !ok {
		url := create(t, "")
		prepare(url)
		template = url[strings.LastIndex(url, "/")+1:]
		template, _, _ = strings.Cut(template, "?")
		templates.names[name] = template
	}
	return create(t, template)
}

var templates = struct {
	mu    sync.Mutex
	names map[string]string
}{names: map[string]string{}}

func create(t testing.TB, template string) string {
	t.Helper()
	server := Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), toManage)
	defer cancel()
	name, err := server.Create(ctx, template)
	if err != nil {
		t.Fatal(err)
	}
	return server.URL(name)
}
