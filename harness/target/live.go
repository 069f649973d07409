package target

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/history"
)

// LiveJob is a job with all that belongs to it, as one moment of the database
// shows it.
type LiveJob struct {
	history.Job
	Intent   json.RawMessage // as submitted, contract version resolved; nil once purged
	Created  time.Time
	Attempts []LiveAttempt // oldest first
	Moves    []LiveMove    // oldest first
	Races    []LiveRace    // oldest first
}

// LiveAttempt is a row of the table attempts with its times. Zero times are
// absent.
type LiveAttempt struct {
	history.Attempt
	Worker   string
	Deadline time.Duration // soft, counted from the claim
	DueAt    time.Time     // when it passes; zero before the claim
	Started  time.Time
	Since    time.Time // when it came into its state
	Ended    time.Time
}

// Open says whether the attempt blocks a new one.
func (a LiveAttempt) Open() bool {
	return a.State == "starting" || a.State == "running" || a.State == "unknown"
}

// LiveMove is a row of the table attempt_events with its time.
type LiveMove struct {
	history.Move
	When   time.Time
	Detail json.RawMessage
}

// LiveRace is a row of the table races with its time.
type LiveRace struct {
	history.Race
	When time.Time
}

// Watcher is told what a database shows as it changes.
type Watcher struct {
	Changed func([]LiveJob) // jobs that are new or moved since the last call
	Looked  func(time.Time) // a look that began then is over, and Changed was told what it found
	Lost    func(error)     // the database does not answer; nil once it does again
}

// overlap is how many events are read again at each look: of two transactions
// that commit at once the one with the smaller numbers may show up later.
const overlap = 64

// Watch looks at the jobs every so often, on a connection of its own that it
// makes anew when it breaks, until the context ends. The first look tells of
// all jobs.
func (d *Database) Watch(ctx context.Context, every time.Duration, w Watcher) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last, lost := position{}, false
	for ctx.Err() == nil {
		err := d.Stay(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			for {
				began := time.Now()
				next, jobs, err := look(ctx, conn, last)
				if err != nil {
					return err
				}
				if lost {
					lost = false
					w.Lost(nil)
				}
				if last = next; len(jobs) > 0 {
					w.Changed(jobs)
				}
				w.Looked(began)
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-tick.C:
				}
			}
		})
		if err != nil && ctx.Err() == nil && !lost {
			lost = true
			w.Lost(err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// position is how far the events were read.
type position struct{ count, newest int64 }

func look(ctx context.Context, conn *pgx.Conn, last position) (next position, jobs []LiveJob, err error) {
	err = conn.QueryRow(ctx, `SELECT count(*), coalesce(max(id), 0) FROM attempt_events`).Scan(&next.count, &next.newest)
	if err != nil || next == last {
		return next, nil, err
	}
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) error {
		// The position is read again: the jobs must not be older than it.
		err := tx.QueryRow(ctx, `SELECT count(*), coalesce(max(id), 0) FROM attempt_events`).Scan(&next.count, &next.newest)
		if err != nil {
			return err
		}
		jobs, err = readLive(ctx, tx, `SELECT DISTINCT job_id FROM attempt_events WHERE id > $1`, last.newest-overlap)
		return err
	})
	if err != nil {
		return last, nil, fmt.Errorf("read the jobs: %w", err)
	}
	return next, jobs, nil
}

// readLive reads the jobs that the sub-select names, newest first.
func readLive(ctx context.Context, tx pgx.Tx, which string, args ...any) ([]LiveJob, error) {
	rows, err := tx.Query(ctx, `
		SELECT j.id::text, j.owner, j.key, j.version, j.result::text, coalesce(j.completed_by::text, ''),
		       j.completed_at, j.cancelled_at, j.created_at, j.intent::text, s.status
		FROM   jobs j JOIN job_status s ON s.id = j.id
		WHERE  j.id IN (`+which+`)
		ORDER  BY j.id DESC`, args...)
	if err != nil {
		return nil, err
	}
	jobs, err := pgx.CollectRows(rows, scanLiveJob)
	if err != nil {
		return nil, err
	}
	byID := map[string]*LiveJob{}
	for i := range jobs {
		byID[jobs[i].ID] = &jobs[i]
	}
	err = each(ctx, tx, `
		SELECT id::text, job_id::text, n, provider, state, reason, coalesce(worker, ''), deadline_ms, deadline_at, started_at, since, ended_at
		FROM   attempts WHERE job_id IN (`+which+`) ORDER BY n`, args, scanLiveAttempt,
		func(a LiveAttempt) { byID[a.JobID].Attempts = append(byID[a.JobID].Attempts, a) })
	if err != nil {
		return nil, err
	}
	err = each(ctx, tx, `
		SELECT id, job_id::text, coalesce(attempt_id::text, ''), type, coalesce(from_state, ''), coalesce(to_state, ''), actor, reason, at, detail::text
		FROM   attempt_events WHERE job_id IN (`+which+`) ORDER BY id`, args, scanLiveMove,
		func(m LiveMove) { byID[m.JobID].Moves = append(byID[m.JobID].Moves, m) })
	if err != nil {
		return nil, err
	}
	err = each(ctx, tx, `
		SELECT id, job_id::text, attempt_id::text, coalesce(winner_id::text, ''), reason, encode(payload_sha256, 'hex'), payload_bytes, at
		FROM   races WHERE job_id IN (`+which+`) ORDER BY id`, args, scanLiveRace,
		func(r LiveRace) { byID[r.JobID].Races = append(byID[r.JobID].Races, r) })
	return jobs, err
}

// each runs a query and hands over row by row.
func each[T any](ctx context.Context, tx pgx.Tx, query string, args []any, scan pgx.RowToFunc[T], take func(T)) error {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, scan)
	for _, one := range list {
		take(one)
	}
	return err
}

func scanLiveJob(row pgx.CollectableRow) (LiveJob, error) {
	var j LiveJob
	var result, intent *string
	var completed, cancelled *time.Time
	err := row.Scan(&j.ID, &j.Owner, &j.Key, &j.Version, &result, &j.CompletedBy, &completed, &cancelled, &j.Created, &intent, &j.Status)
	if result != nil {
		j.Result = json.RawMessage(*result)
	}
	if intent != nil {
		j.Intent = json.RawMessage(*intent)
	}
	j.CompletedAt, j.CancelledAt = stamp(completed), stamp(cancelled)
	return j, err
}

func scanLiveAttempt(row pgx.CollectableRow) (LiveAttempt, error) {
	var a LiveAttempt
	var deadline int64
	var due, ended *time.Time
	err := row.Scan(&a.ID, &a.JobID, &a.N, &a.Provider, &a.State, &a.Reason, &a.Worker, &deadline, &due, &a.Started, &a.Since, &ended)
	a.Deadline = time.Duration(deadline) * time.Millisecond
	a.DueAt, a.Ended = moment(due), moment(ended)
	return a, err
}

func scanLiveMove(row pgx.CollectableRow) (LiveMove, error) {
	var m LiveMove
	var detail *string
	err := row.Scan(&m.ID, &m.JobID, &m.AttemptID, &m.Type, &m.From, &m.To, &m.Actor, &m.Reason, &m.When, &detail)
	if detail != nil {
		m.Detail = json.RawMessage(*detail)
	}
	return m, err
}

func scanLiveRace(row pgx.CollectableRow) (LiveRace, error) {
	var r LiveRace
	return r, row.Scan(&r.ID, &r.JobID, &r.AttemptID, &r.WinnerID, &r.Reason, &r.PayloadSHA256, &r.PayloadBytes, &r.When)
}

func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
