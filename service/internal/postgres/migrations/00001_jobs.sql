-- +goose Up

-- A job is what an owner asked for. The row is written at submit and once more
-- when the job is completed or cancelled; attempts never touch it.
CREATE TABLE jobs (
	id                    uuid        PRIMARY KEY,
	owner                 text        NOT NULL,
	key                   text        NOT NULL,
	fingerprint           bytea       NOT NULL,
	fingerprint_algorithm smallint    NOT NULL,
	request               bytea,                -- the body as it arrived
	intent                json,                 -- its reading, contract version resolved
	version               bigint      NOT NULL DEFAULT 1,
	result                json,                 -- the judged bytes of the one winner
	completed_by          uuid,
	completed_at          timestamptz,
	cancelled_at          timestamptz,
	purged_at             timestamptz,          -- payloads are gone, the key stays taken
	created_at            timestamptz NOT NULL DEFAULT clock_timestamp(),

	CONSTRAINT jobs_owner_key UNIQUE (owner, key),
	CONSTRAINT owner_is_named CHECK (owner <> '' AND owner <> '*'),
	CONSTRAINT fingerprint_is_sha256 CHECK (octet_length(fingerprint) = 32),
	CONSTRAINT result_is_whole CHECK (
		(result IS NULL) = (completed_by IS NULL)
		AND (completed_by IS NULL) = (completed_at IS NULL)),
	CONSTRAINT finished_once CHECK (completed_by IS NULL OR cancelled_at IS NULL),
	CONSTRAINT purged_is_empty CHECK (
		(purged_at IS NULL) = (intent IS NOT NULL)
		AND (purged_at IS NULL) = (request IS NOT NULL)
		AND (purged_at IS NULL OR completed_by IS NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

-- Newest first, page by page. Partial, so that no plan for a look-up by key can
-- pick it and walk along all jobs of an owner.
CREATE INDEX jobs_owner_id ON jobs (owner, id) WHERE purged_at IS NULL;

-- An attempt is one try at one provider: appended, never reused. The table is
-- the work queue as well, so that no second queue can disagree with it.
CREATE TABLE attempts (
	id                  uuid        NOT NULL,
	job_id              uuid        NOT NULL REFERENCES jobs (id),
	n                   integer     NOT NULL,
	provider            text        NOT NULL,
	state               text        NOT NULL,
	reason              text        NOT NULL DEFAULT '',
	fence               bigint      GENERATED ALWAYS AS IDENTITY,
	worker              text,
	lease_until         timestamptz,
	deadline_ms         bigint      NOT NULL,       -- soft deadline, counted from the claim
	deadline_at         timestamptz,
	not_before          timestamptz NOT NULL DEFAULT clock_timestamp(),
	trigger_key         text,
	trigger_fingerprint bytea,
	provider_ref        text,                       -- the provider's id of the call, where it can be asked
	started_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
	since               timestamptz NOT NULL DEFAULT clock_timestamp(),
	ended_at            timestamptz,
	retry_at            timestamptz,                -- the provider asked not to be called before

	PRIMARY KEY (id),
	CONSTRAINT attempts_id_job UNIQUE (id, job_id), -- so that a winner is an attempt of its own job
	CONSTRAINT attempts_job_n UNIQUE (job_id, n),
	CONSTRAINT state_is_known CHECK (state IN
		('starting', 'running', 'unknown', 'released', 'succeeded', 'lost', 'failed', 'cancelled')),
	CONSTRAINT running_is_leased CHECK (state <> 'running' OR (worker IS NOT NULL AND lease_until IS NOT NULL)),
	CONSTRAINT terminal_has_ended CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'lost', 'failed', 'cancelled')))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- No new attempt while one is starting, running or unknown.
CREATE UNIQUE INDEX one_open_attempt_per_job ON attempts (job_id)
	WHERE state IN ('starting', 'running', 'unknown');

CREATE UNIQUE INDEX one_winner_per_job ON attempts (job_id)
	WHERE state = 'succeeded';

-- One click on "try again" is one attempt.
CREATE UNIQUE INDEX attempts_trigger_key ON attempts (job_id, trigger_key)
	WHERE trigger_key IS NOT NULL;

-- What workers claim, oldest first, and what the reaper looks through. No index
-- is keyed on a lease, so that a heartbeat is a heap-only update. The second half
-- of each condition is always true; it keeps the plans of statements about one
-- attempt or one job off these indexes.
CREATE INDEX attempts_to_claim ON attempts (fence) WHERE state = 'starting' AND worker IS NULL;
CREATE INDEX attempts_running ON attempts (fence) WHERE state = 'running' AND lease_until IS NOT NULL;
CREATE INDEX attempts_unknown ON attempts (since) WHERE state = 'unknown';

ALTER TABLE jobs ADD CONSTRAINT completed_by_is_an_attempt
	FOREIGN KEY (completed_by, id) REFERENCES attempts (id, job_id);

-- The audit trail, in the same transaction as the move it tells. operation_id
-- names that transaction: it is what is looked up after a COMMIT whose answer
-- was lost.
CREATE TABLE attempt_events (
	id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	job_id       uuid        NOT NULL,
	attempt_id   uuid,
	at           timestamptz NOT NULL DEFAULT clock_timestamp(),
	type         text        NOT NULL,
	from_state   text,
	to_state     text,
	actor        text        NOT NULL,
	reason       text        NOT NULL DEFAULT '',
	detail       json,
	operation_id uuid        NOT NULL
);
CREATE INDEX attempt_events_job ON attempt_events (job_id, id);

-- Results that came too late: who, behind whom, and what was dropped by size
-- and hash. The payload is nowhere kept.
CREATE TABLE races (
	id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at             timestamptz NOT NULL DEFAULT clock_timestamp(),
	job_id         uuid        NOT NULL,
	attempt_id     uuid        NOT NULL,
	winner_id      uuid,
	reason         text        NOT NULL,
	payload_sha256 bytea       NOT NULL,
	payload_bytes  bigint      NOT NULL,
	started_at     timestamptz NOT NULL,        -- of the attempt that was late
	operation_id   uuid        NOT NULL,
	CONSTRAINT one_race_per_attempt UNIQUE (attempt_id)
);
CREATE INDEX races_job ON races (job_id, id);

-- The status of a job is derived, never stored.
CREATE VIEW job_status AS
SELECT j.id,
       CASE
       WHEN j.completed_by IS NOT NULL THEN 'succeeded'
       WHEN j.cancelled_at IS NOT NULL THEN 'cancelled'
       ELSE coalesce(
           (SELECT a.state FROM attempts a
            WHERE a.job_id = j.id AND a.state IN ('starting', 'running', 'unknown')
            ORDER BY a.n DESC LIMIT 1),
           CASE
           -- one still contends, or there never was one
           WHEN EXISTS (SELECT FROM attempts a WHERE a.job_id = j.id AND a.state = 'released')
             OR NOT EXISTS (SELECT FROM attempts a WHERE a.job_id = j.id)
           THEN 'open'
           -- all are terminal; what may follow by policy was started in the
           -- transaction that ended the last
           ELSE 'failed'
           END)
       END AS status
FROM jobs j;

-- +goose StatementBegin
CREATE FUNCTION refuse_change_of_finished_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	-- Only a purge may touch a finished job: it empties it and leaves its identity.
	IF TG_OP = 'UPDATE' AND OLD.purged_at IS NULL AND NEW.purged_at IS NOT NULL
	   AND (NEW.id, NEW.owner, NEW.key, NEW.fingerprint, NEW.fingerprint_algorithm, NEW.version, NEW.created_at)
	     = (OLD.id, OLD.owner, OLD.key, OLD.fingerprint, OLD.fingerprint_algorithm, OLD.version, OLD.created_at)
	THEN
		RETURN NEW;
	END IF;
	RAISE EXCEPTION 'job % is finished and does not change', OLD.id
		USING ERRCODE = 'check_violation', CONSTRAINT = 'finished_job_is_frozen', TABLE = 'jobs';
END $$;
-- +goose StatementEnd

CREATE TRIGGER finished_job_is_frozen BEFORE UPDATE OR DELETE ON jobs
	FOR EACH ROW
	WHEN (OLD.completed_by IS NOT NULL OR OLD.cancelled_at IS NOT NULL OR OLD.purged_at IS NOT NULL)
	EXECUTE FUNCTION refuse_change_of_finished_job();

-- +goose StatementBegin
CREATE FUNCTION refuse_move_of_terminal_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'attempt % is % and does not move', OLD.id, OLD.state
		USING ERRCODE = 'check_violation', CONSTRAINT = 'terminal_attempt_is_frozen', TABLE = 'attempts';
END $$;
-- +goose StatementEnd

CREATE TRIGGER terminal_attempt_is_frozen BEFORE UPDATE ON attempts
	FOR EACH ROW
	WHEN (OLD.state IN ('succeeded', 'lost', 'failed', 'cancelled'))
	EXECUTE FUNCTION refuse_move_of_terminal_attempt();
