-- +goose Up

-- Where the provider keeps the work under an id (attempts.provider_ref) it is
-- asked how an unknown attempt stands. asks counts the questions; ask_at is when
-- the next one is due, NULL when there is nothing to ask, or no more.
ALTER TABLE attempts
	ADD COLUMN asks   integer     NOT NULL DEFAULT 0,
	ADD COLUMN ask_at timestamptz;

CREATE INDEX attempts_to_ask ON attempts (ask_at)
	WHERE ask_at IS NOT NULL AND state IN ('unknown', 'released', 'cancelled');

-- A cancelled attempt never moves again, but its work at the provider is still to
-- be stopped, so the two columns of the questions stay open.
DROP TRIGGER terminal_attempt_is_frozen ON attempts;
CREATE TRIGGER terminal_attempt_is_frozen BEFORE UPDATE OF
	id, job_id, n, provider, state, reason, worker, lease_until, deadline_ms, deadline_at, not_before,
	trigger_key, trigger_fingerprint, provider_ref, started_at, since, ended_at, retry_at ON attempts
	FOR EACH ROW
	WHEN (OLD.state IN ('succeeded', 'lost', 'failed', 'cancelled'))
	EXECUTE FUNCTION refuse_move_of_terminal_attempt();

-- +goose StatementBegin
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'interlock_service') AND has_table_privilege('interlock_service', 'attempts', 'SELECT') THEN
		GRANT UPDATE (asks, ask_at) ON attempts TO interlock_service;
	END IF;
END $$;
-- +goose StatementEnd
