-- +goose Up

-- The moves of an attempt that there are, as the database's own rule: whatever a
-- statement forgets to ask, no row goes another way. What has ended is kept by
-- terminal_attempt_is_frozen.
-- +goose StatementBegin
CREATE FUNCTION refuse_illegal_move_of_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'attempt % does not move from % to %', OLD.id, OLD.state, NEW.state
		USING ERRCODE = 'check_violation', CONSTRAINT = 'attempt_moves_legally', TABLE = 'attempts';
END $$;
-- +goose StatementEnd

CREATE TRIGGER attempt_moves_legally BEFORE UPDATE OF state ON attempts
	FOR EACH ROW
	WHEN (OLD.state <> NEW.state
	  AND OLD.state NOT IN ('succeeded', 'lost', 'failed', 'cancelled')
	  AND NEW.state IN ('starting', 'running', 'unknown', 'released', 'succeeded', 'lost', 'failed', 'cancelled') -- else state_is_known says so
	  AND NOT (
	   OLD.state = 'starting' AND NEW.state IN ('running', 'failed', 'cancelled')
	OR OLD.state = 'running'  AND NEW.state IN ('unknown', 'released', 'succeeded', 'lost', 'failed', 'cancelled')
	OR OLD.state = 'unknown'  AND NEW.state IN ('released', 'succeeded', 'lost', 'failed', 'cancelled')
	OR OLD.state = 'released' AND NEW.state IN ('succeeded', 'lost', 'failed', 'cancelled')))
	EXECUTE FUNCTION refuse_illegal_move_of_attempt();
