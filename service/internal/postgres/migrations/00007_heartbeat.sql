-- +goose Up

-- A column in the condition of an index counts as one of its columns: with the
-- lease in it, no heartbeat was a heap-only update. started_at never changes, and
-- no statement about one attempt asks for it.
DROP INDEX attempts_running;
CREATE INDEX attempts_running ON attempts (fence) WHERE state = 'running' AND started_at IS NOT NULL;
