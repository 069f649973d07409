package service_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// login makes a role that may log in, and returns the database's URL for it.
func (s *setting) login(t *testing.T, role string, statements ...string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, statement := range append([]string{"CREATE ROLE " + role + " LOGIN PASSWORD 'p-of-" + role + "'"}, statements...) {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), s.url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "p-of-"+role)
	return u.String()
}

// TestServeRefusesWrongRights starts the service as roles with too few and too
// many rights. (D20, D21)
func TestServeRefusesWrongRights(t *testing.T) {
	s := newSetting(t)
	if code, _, stderr := run(t, s.env, "migrate"); code != 0 {
		t.Fatal(stderr)
	}
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var database string
	if err := conn.QueryRow(t.Context(), "SELECT current_database()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name       string
		statements []string
		says       []string
	}{
		{"poor", nil, []string{"role poor may not read or write jobs", "GRANT interlock_service TO poor"}},
		{"rich", []string{"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO rich"}, []string{"user rich may delete or rewrite", "grant interlock_service"}},
		{"above", []string{"ALTER ROLE above BYPASSRLS", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO above"}, []string{"ALTER ROLE above NOBYPASSRLS"}},
		{"hasty", []string{"GRANT interlock_service TO hasty", "ALTER ROLE hasty IN DATABASE " + database + " SET synchronous_commit = off"}, []string{"synchronous_commit is off"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			address := s.login(t, tc.name, tc.statements...)
			code, _, stderr := run(t, []string{"DATABASE_URL=" + address}, "serve", "--listen", "127.0.0.1:0")
			if code != 3 {
				t.Errorf("exit %d: %s", code, stderr)
			}
			for _, says := range tc.says {
				if !strings.Contains(stderr, says) {
					t.Errorf("it says %s, not %q", stderr, says)
				}
			}
		})
	}
	t.Run("right", func(t *testing.T) {
		address := s.login(t, "rightly", "GRANT interlock_service TO rightly")
		c := start(t, []string{"DATABASE_URL=" + address}, "--listen", "127.0.0.1:0", "--keys", s.path("keys"), "--allow-unsafe-database")
		status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("x"), "Idempotency-Key", "k")
		if status != 201 {
			t.Errorf("%d %s; %s", status, body, c.stderr)
		}
		if code := c.stop(); code != 0 {
			t.Errorf("it ends with %d", code)
		}
	})
}
