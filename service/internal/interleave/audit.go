package interleave

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// left is what a schedule left in the database.
type left struct {
	Jobs     []leftJob     `json:"jobs"`
	Attempts []leftAttempt `json:"attempts"`
	Events   []leftEvent   `json:"events"` // by number
	Races    []leftRace    `json:"races"`
}

type leftJob struct {
	ID          string          `json:"id"`
	Owner       string          `json:"owner"`
	Key         string          `json:"key"`
	Version     int64           `json:"version"`
	Result      json.RawMessage `json:"result"`
	CompletedBy string          `json:"completed_by"`
	Cancelled   bool            `json:"cancelled"`
	Xmin        string          `json:"xmin"`
}

type leftAttempt struct {
	ID     string `json:"id"`
	Job    string `json:"job"`
	N      int    `json:"n"`
	State  string `json:"state"`
	Worker string `json:"worker"`
}

type leftEvent struct {
	ID        int64  `json:"id"`
	Job       string `json:"job"`
	Attempt   string `json:"attempt"`
	Type      string `json:"type"`
	From      string `json:"from"`
	To        string `json:"to"`
	Actor     string `json:"actor"`
	Operation string `json:"op"`
}

type leftRace struct {
	Attempt string `json:"attempt"`
	Winner  string `json:"winner"`
	Reason  string `json:"reason"`
	Bytes   int64  `json:"bytes"`
}

// One statement takes everything out and hands it over: what it deletes is what
// the schedule left, and the next one finds empty tables.
const takeAll = `
	WITH j AS (DELETE FROM jobs RETURNING id, owner, key, version, result, coalesce(completed_by::text, '') AS completed_by,
	                                      cancelled_at IS NOT NULL AS cancelled, xmin::text AS xmin),
	     a AS (DELETE FROM attempts RETURNING id, job_id AS job, n, state, coalesce(worker, '') AS worker),
	     e AS (DELETE FROM attempt_events RETURNING id, job_id AS job, coalesce(attempt_id::text, '') AS attempt, type,
	                                      coalesce(from_state, '') AS from, coalesce(to_state, '') AS to, actor, operation_id AS op),
	     r AS (DELETE FROM races RETURNING attempt_id AS attempt, coalesce(winner_id::text, '') AS winner, reason, payload_bytes AS bytes)
	SELECT json_build_object(
		'jobs', (SELECT json_agg(j) FROM j),
		'attempts', (SELECT json_agg(a ORDER BY a.job, a.n) FROM a),
		'events', (SELECT json_agg(e ORDER BY e.id) FROM e),
		'races', (SELECT json_agg(r) FROM r))`

// audit reads what the schedule of w left, clears the lane and, in the same round
// trip, makes the rows of the next schedule, which is probably one of the same
// situation.
func (l *lane) audit(ctx context.Context, w *world) (left, error) {
	ctx, cancel := context.WithTimeout(ctx, toPlay)
	defer cancel()
	var found left
	batch := &pgx.Batch{}
	batch.Queue(takeAll).QueryRow(func(row pgx.Row) error {
		var text []byte
		if err := row.Scan(&text); err != nil {
			return err
		}
		return json.Unmarshal(text, &found)
	})
	l.played++
	sweep := l.played%sweepEvery == 0
	next := cast(w.set)
	if !sweep {
		next.queue(batch)
	}
	if err := l.look.SendBatch(ctx, batch).Close(); err != nil {
		return found, fmt.Errorf("read what the schedule left: %w", err)
	}
	if sweep {
		return found, l.sweep(ctx)
	}
	l.staged = next
	return found, nil
}
