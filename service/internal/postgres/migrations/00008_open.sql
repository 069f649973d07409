-- +goose Up

-- Statistics that were taken while nobody waited say that an index of open
-- attempts is empty, and so cheaper than the primary key: when a crowd came, each
-- claim, heartbeat and settlement read the whole crowd through it. The number of
-- an attempt is always above 0, which no planner knows: a statement that does not
-- say so cannot use these indexes.
DROP INDEX one_open_attempt_per_job;
CREATE UNIQUE INDEX one_open_attempt_per_job ON attempts (job_id)
	WHERE state IN ('starting', 'running', 'unknown') AND n > 0;

DROP INDEX one_winner_per_job;
CREATE UNIQUE INDEX one_winner_per_job ON attempts (job_id)
	WHERE state = 'succeeded' AND n > 0;

DROP INDEX attempts_unknown;
CREATE INDEX attempts_unknown ON attempts (since) WHERE state = 'unknown' AND n > 0;

DROP INDEX attempts_running;
CREATE INDEX attempts_running ON attempts (fence) WHERE state = 'running' AND n > 0;

ALTER TABLE attempts ADD CONSTRAINT attempts_count_from_one CHECK (n > 0) NOT VALID;
ALTER TABLE attempts VALIDATE CONSTRAINT attempts_count_from_one;
