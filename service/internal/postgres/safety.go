package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// UnsafeError lists why a database may lose acknowledged work, or lets the
// service do more than it needs. Each finding says what to change.
type UnsafeError struct {
	Findings []string
}

func (e *UnsafeError) Error() string {
	return "the database is not safe: " + strings.Join(e.Findings, "; ")
}

const safetyOfDatabase = `
	SELECT current_setting('fsync'),
	       current_setting('full_page_writes'),
	       current_setting('synchronous_commit'),
	       current_setting('server_encoding'),
	       current_setting('server_version_num')::int,
	       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
	       (SELECT rolbypassrls FROM pg_roles WHERE rolname = current_user),
	       has_table_privilege('jobs', 'DELETE')
	           OR has_table_privilege('attempt_events', 'DELETE, UPDATE')
	           OR has_table_privilege('races', 'DELETE, UPDATE'),
	       has_column_privilege('jobs', 'owner', 'UPDATE')
	           OR has_column_privilege('jobs', 'key', 'UPDATE')
	           OR has_column_privilege('jobs', 'fingerprint', 'UPDATE'),
	       current_user`

// CheckSafety reads the settings and rights of a connection of the pool. It
// returns an *UnsafeError when an acknowledged answer could be lost in a crash,
// or when the service could delete or rewrite what it must only add to. Call it
// after Migrate.
func (s *Store) CheckSafety(ctx context.Context) error {
	var fsync, pages, commit, encoding, user string
	var version int
	var super, bypass, deletes, renames bool
	err := s.read(ctx, &query{sql: safetyOfDatabase, args: pgx.NamedArgs{},
		read: one(&fsync, &pages, &commit, &encoding, &version, &super, &bypass, &deletes, &renames, &user)})
	if err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	var findings []string
	add := func(wrong bool, finding string) {
		if wrong {
			findings = append(findings, finding)
		}
	}
	add(fsync != "on", "fsync is "+fsync+": a power cut loses acknowledged jobs; set it on")
	add(pages != "on", "full_page_writes is "+pages+": a torn page after a power cut corrupts data; set it on")
	add(commit == "off", "synchronous_commit is off: a crash loses acknowledged jobs; set it on for this user or database")
	add(encoding != "UTF8", "server_encoding is "+encoding+": create the database with UTF8")
	add(version < 130000, fmt.Sprintf("the server is version %d.%d: use PostgreSQL 13 or newer", version/10000, version%10000))
	add(super, "the service runs as superuser "+user+": grant interlock_service to its login")
	add(!super && bypass, "user "+user+" stands above row-level security: run ALTER ROLE "+user+" NOBYPASSRLS")
	add(!super && deletes, "user "+user+" may delete or rewrite jobs, events or races: grant interlock_service to the login and own the tables by another")
	add(!super && renames, "user "+user+" may change owner, key or fingerprint of a job: grant interlock_service to the login and own the tables by another")
	if findings != nil {
		return &UnsafeError{Findings: findings}
	}
	return nil
}
