package target

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/history"
)

// toRead bounds one read of the database.
const toRead = 20 * time.Second

// Database reads a target's tables (level L2).
type Database struct {
	url  string
	rows map[string]string // queries of an adapter, by table
	old  map[string]bool   // jobs that are none of ours, by id
}

// Without is a reader that leaves out the rows of these jobs.
func (d *Database) Without(jobs map[string]bool) *Database {
	return &Database{url: d.url, rows: d.rows, old: jobs}
}

// JobsOf lists the ids of the jobs that an owner has.
func (d *Database) JobsOf(ctx context.Context, owner string) (ids []string, err error) {
	err = d.With(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		query, scan := d.query(history.TableJobs, jobsOfOwners), scanJob
		if d.rows[history.TableJobs] != "" {
			scan = scanJSON[history.Job]
		}
		rows, err := conn.Query(ctx, query, []string{owner})
		if err != nil {
			return fmt.Errorf("read jobs: %w", err)
		}
		jobs, err := pgx.CollectRows(rows, scan)
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
		return err
	})
	return ids, err
}

// query is what reads a table: the adapter's, whose columns are named like the
// fields of the contract's JSON, or otherwise.
func (d *Database) query(table, otherwise string) string {
	if own := d.rows[table]; own != "" {
		return "SELECT to_jsonb(q)::text FROM (" + own + ") q"
	}
	return otherwise
}

// OpenDatabase makes a reader of the database at url. It connects for each
// read anew: a kept connection would not survive a crash of the server. a may
// be nil: then the tables are those of the contract.
func OpenDatabase(url string, a *Adapter) *Database {
	d := &Database{url: url}
	if a != nil {
		d.rows = a.Rows
	}
	return d
}

// With runs do on a connection of its own.
func (d *Database) With(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, toRead)
	defer cancel()
	return d.Stay(ctx, do)
}

// Stay is With for work that goes on until ctx ends.
func (d *Database) Stay(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return do(ctx, conn)
}

func (d *Database) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(d.url)
	if err != nil {
		return nil, fmt.Errorf("read the database: its URL cannot be read")
	}
	config.RuntimeParams["application_name"] = "interlock-harness"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	return conn, nil
}

// JobRow is a row of the table jobs, of an owner.
func (d *Database) JobRow(ctx context.Context, id string) (history.Job, error) {
	var j history.Job
	err := d.With(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, jobRows+" WHERE id = $1", id)
		if err != nil {
			return err
		}
		j, err = pgx.CollectExactlyOneRow(rows, scanJob)
		return err
	})
	return j, err
}

// AttemptRows are the rows of the table attempts of a job, oldest first.
func (d *Database) AttemptRows(ctx context.Context, job string) ([]history.Attempt, error) {
	var list []history.Attempt
	err := d.With(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, attemptRows+" WHERE job_id = $1 ORDER BY n", job)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanAttempt)
		return err
	})
	return list, err
}

// Count runs a query that returns one number.
func (d *Database) Count(ctx context.Context, query string, args ...any) (int, error) {
	var n int
	err := d.With(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query, args...).Scan(&n)
	})
	return n, err
}

const (
	jobRows = `
		SELECT id::text, owner, key, encode(fingerprint, 'hex'), version, result::text, coalesce(completed_by::text, ''),
		       completed_at, cancelled_at, xmin::text
		FROM   jobs`
	attemptRows = `
		SELECT id::text, job_id::text, n, provider, state, coalesce(reason, ''), xmin::text
		FROM   attempts`
	eventRows = `
		SELECT id, job_id::text, coalesce(attempt_id::text, ''), type, coalesce(from_state, ''), coalesce(to_state, ''),
		       coalesce(actor, ''), coalesce(reason, ''), at
		FROM   attempt_events`
	raceRows = `
		SELECT id, job_id::text, attempt_id::text, coalesce(winner_id::text, ''), reason, encode(payload_sha256, 'hex'), payload_bytes
		FROM   races`
	jobsOfOwners = jobRows + ` WHERE owner = ANY ($1) ORDER BY id`
	ofOwners     = ` WHERE job_id IN (SELECT id FROM jobs WHERE owner = ANY ($1)) ORDER BY id`
)

func scanJob(row pgx.CollectableRow) (history.Job, error) {
	var j history.Job
	var result *string
	var completed, cancelled *time.Time
	err := row.Scan(&j.ID, &j.Owner, &j.Key, &j.Fingerprint, &j.Version, &result, &j.CompletedBy, &completed, &cancelled, &j.Xmin)
	if result != nil {
		j.Result = json.RawMessage(*result)
	}
	j.CompletedAt, j.CancelledAt = stamp(completed), stamp(cancelled)
	return j, err
}

func scanJSON[T any](row pgx.CollectableRow) (T, error) {
	var v T
	var text string
	if err := row.Scan(&text); err != nil {
		return v, err
	}
	return v, json.Unmarshal([]byte(text), &v)
}

func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func scanAttempt(row pgx.CollectableRow) (history.Attempt, error) {
	var a history.Attempt
	return a, row.Scan(&a.ID, &a.JobID, &a.N, &a.Provider, &a.State, &a.Reason, &a.Xmin)
}

func scanMove(row pgx.CollectableRow) (history.Move, error) {
	var m history.Move
	var at *time.Time
	err := row.Scan(&m.ID, &m.JobID, &m.AttemptID, &m.Type, &m.FromState, &m.ToState, &m.Actor, &m.Reason, &at)
	m.At = stamp(at)
	return m, err
}

func scanRace(row pgx.CollectableRow) (history.Race, error) {
	var r history.Race
	return r, row.Scan(&r.ID, &r.JobID, &r.AttemptID, &r.WinnerID, &r.Reason, &r.PayloadSHA256, &r.PayloadBytes)
}

// Snapshot writes all rows of the owners into the history, as they stood at
// one moment.
func (d *Database) Snapshot(ctx context.Context, rec *history.Recorder, owners ...string) error {
	return d.With(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) error {
			// All reads begin before the first query: it fixes the moment that all
			// four tables show.
			jobs, attempts := rec.Reading(history.TableJobs, owners...), rec.Reading(history.TableAttempts, owners...)
			events, races := rec.Reading(history.TableEvents, owners...), rec.Reading(history.TableRaces, owners...)
			err := table(ctx, d, tx, jobs, jobsOfOwners, owners, scanJob,
				func(t *history.TableRead, j history.Job) { t.JobRow(j.Owner, j.Key, j.ID, j) })
			if err != nil {
				return err
			}
			err = table(ctx, d, tx, attempts, attemptRows+ofOwners, owners, scanAttempt,
				func(t *history.TableRead, a history.Attempt) { t.Row(a.JobID, a.ID, a) })
			if err != nil {
				return err
			}
			err = table(ctx, d, tx, events, eventRows+ofOwners, owners, scanMove,
				func(t *history.TableRead, m history.Move) { t.Row(m.JobID, m.AttemptID, m) })
			if err != nil {
				return err
			}
			return table(ctx, d, tx, races, raceRows+ofOwners, owners, scanRace,
				func(t *history.TableRead, r history.Race) { t.Row(r.JobID, r.AttemptID, r) })
		})
	})
}

// table reads one table and records its rows.
func table[T any](ctx context.Context, d *Database, tx pgx.Tx, read *history.TableRead, query string, owners []string,
	scan pgx.RowToFunc[T], record func(*history.TableRead, T)) error {
	if d.rows[read.Table()] != "" {
		scan = scanJSON[T]
	}
	rows, err := tx.Query(ctx, d.query(read.Table(), query), owners)
	if err != nil {
		return fmt.Errorf("read %s: %w", read.Table(), err)
	}
	list, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return fmt.Errorf("read %s: %w", read.Table(), err)
	}
	for _, row := range list {
		if !d.old[jobOf(row)] {
			record(read, row)
		}
	}
	read.Done()
	return nil
}

// jobOf is the id of the job that a row is about.
func jobOf(row any) string {
	switch r := row.(type) {
	case history.Job:
		return r.ID
	case history.Attempt:
		return r.JobID
	case history.Move:
		return r.JobID
	case history.Race:
		return r.JobID
	}
	return ""
}
