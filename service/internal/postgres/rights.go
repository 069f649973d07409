package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// RightsError: the connection lacks rights that the service cannot do without.
// Repair is the statement that mends it.
type RightsError struct {
	Role    string
	Missing string
	Repair  string
}

func (e *RightsError) Error() string {
	return fmt.Sprintf("role %s may not read or write %s; as an administrator run: %s", e.Role, e.Missing, e.Repair)
}

// A right on a column counts only when the role has it on each that it changes.
const rightsOfConnection = `
	SELECT current_user,
	       quote_ident(session_user),
	       array_to_string(array_remove(ARRAY[
	           CASE WHEN NOT has_table_privilege('jobs', 'SELECT') OR NOT has_table_privilege('jobs', 'INSERT')
	                  OR NOT has_table_privilege('job_status', 'SELECT') THEN 'jobs' END,
	           CASE WHEN NOT has_column_privilege('jobs', 'result', 'UPDATE') OR NOT has_column_privilege('jobs', 'completed_by', 'UPDATE')
	                  OR NOT has_column_privilege('jobs', 'cancelled_at', 'UPDATE') OR NOT has_column_privilege('jobs', 'version', 'UPDATE') THEN 'results' END,
	           CASE WHEN NOT has_table_privilege('attempts', 'SELECT') OR NOT has_table_privilege('attempts', 'INSERT')
	                  OR NOT has_column_privilege('attempts', 'state', 'UPDATE') OR NOT has_column_privilege('attempts', 'lease_until', 'UPDATE') THEN 'attempts' END,
	           CASE WHEN NOT has_table_privilege('attempt_events', 'SELECT') OR NOT has_table_privilege('attempt_events', 'INSERT') THEN 'events' END,
	           CASE WHEN NOT has_table_privilege('races', 'SELECT') OR NOT has_table_privilege('races', 'INSERT') THEN 'races' END,
	           CASE WHEN NOT has_table_privilege('credentials', 'SELECT') OR NOT has_table_privilege('credentials', 'INSERT') THEN 'credentials' END,
	           CASE WHEN NOT has_table_privilege('goose_db_version', 'SELECT') THEN 'the schema version' END
	       ], NULL), ', ')`

// CheckRights returns a *RightsError when the connection may not do what the
// service must. Call it after Migrate.
func (s *Store) CheckRights(ctx context.Context) error {
	var role, login, missing string
	err := s.read(ctx, &query{sql: rightsOfConnection, args: pgx.NamedArgs{}, read: one(&role, &login, &missing)})
	if err != nil {
		return fmt.Errorf("check the rights: %w", err)
	}
	if missing == "" {
		return nil
	}
	return &RightsError{Role: role, Missing: missing, Repair: "GRANT interlock_service TO " + login}
}
