package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/history"
)

// applicationName is how the harness's own connections appear in
// pg_stat_activity.
const applicationName = "interlock-harness"

// Lock holds locks in an open transaction of its own, so that whoever needs
// them waits, and sees who does.
type Lock struct {
	*state
	held  *pgx.Conn
	probe *pgx.Conn
	pid   uint32
	ended bool
	gone  bool // a statement was given up, which ends its connection and with it the transaction
}

// Waiter is a backend that waits for a lock, directly or behind others.
type Waiter struct {
	PID         int
	Application string
	Query       string
}

// LockJob holds the row of a job: its completion, its cancellation and the
// start of an attempt wait.
func LockJob(ctx context.Context, rec *history.Recorder, url, job string) (*Lock, error) {
	return lock(ctx, rec, url, "job-row-lock", "the row of job "+job+" is locked",
		"SELECT FROM jobs WHERE id = $1 FOR UPDATE", job)
}

// LockAttempt holds the row of an attempt. The lock is NO KEY UPDATE: a
// stronger one would stop checks of foreign keys too, and turn the queue round.
func LockAttempt(ctx context.Context, rec *history.Recorder, url, attempt string) (*Lock, error) {
	return lock(ctx, rec, url, "attempt-row-lock", "the row of attempt "+attempt+" is locked",
		"SELECT FROM attempts WHERE id = $1 FOR NO KEY UPDATE", attempt)
}

// LockTable holds a whole table in a mode such as SHARE or ACCESS EXCLUSIVE.
func LockTable(ctx context.Context, rec *history.Recorder, url, table, mode string) (*Lock, error) {
	return lock(ctx, rec, url, "table-lock", "table "+table+" is locked in mode "+mode,
		"LOCK TABLE "+pgx.Identifier{table}.Sanitize()+" IN "+mode+" MODE")
}

// HoldKey inserts a job of owner under key and does not commit: a submit with
// the same key waits for this transaction. Release rolls back.
func HoldKey(ctx context.Context, rec *history.Recorder, url, owner, key string) (*Lock, error) {
	return lock(ctx, rec, url, "key-lock", "a job of "+owner+" under key "+key+" is inserted and not committed", `
		INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent)
		VALUES (gen_random_uuid(), $1, $2, decode(repeat('00', 32), 'hex'), 1, '{}', '{}')`, owner, key)
}

func lock(ctx context.Context, rec *history.Recorder, url, name, detail, statement string, args ...any) (*Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	l := &Lock{}
	var err error
	if l.held, err = connect(ctx, url); err == nil {
		l.probe, err = connect(ctx, url)
	}
	if err == nil {
		l.pid = l.held.PgConn().PID()
		_, err = l.held.Exec(ctx, "BEGIN")
	}
	if err == nil {
		var done int64
		done, err = l.take(ctx, statement, args)
		if err == nil && done == 0 && !strings.HasPrefix(statement, "LOCK") {
			err = errors.New("there is no such row")
		}
	}
	if err != nil {
		l.close(ctx)
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l.state = arm(rec, name, APIPostgres, detail)
	return l, nil
}

func (l *Lock) take(ctx context.Context, statement string, args []any) (int64, error) {
	tag, err := l.held.Exec(ctx, statement, args...)
	return tag.RowsAffected(), err
}

func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL cannot be read")
	}
	config.RuntimeParams["application_name"] = applicationName
	return pgx.ConnectConfig(ctx, config)
}

// Waiters lists who waits for this lock now, directly or behind others.
func (l *Lock) Waiters(ctx context.Context) ([]Waiter, error) {
	rows, err := l.probe.Query(ctx, `
		WITH RECURSIVE behind(pid) AS (
			SELECT pid FROM pg_stat_activity
			WHERE  wait_event_type = 'Lock' AND $1::int = ANY (pg_blocking_pids(pid))
			UNION
			SELECT a.pid FROM pg_stat_activity a, behind b
			WHERE  a.wait_event_type = 'Lock' AND b.pid = ANY (pg_blocking_pids(a.pid))
		)
		SELECT a.pid, a.application_name, a.query
		FROM   pg_stat_activity a JOIN behind USING (pid)
		WHERE  a.backend_type = 'client backend' -- autovacuum waits too, and matters to nobody
		  AND  a.state = 'active' -- state and query are older than the wait: not yet those of who waits now
		ORDER  BY a.query_start`, int32(l.pid))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Waiter])
}

// Await waits until n backends, at least one, wait for the lock: the fault has
// fired.
func (l *Lock) Await(ctx context.Context, n int) ([]Waiter, error) {
	n = max(n, 1)
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		waiters, err := l.Waiters(ctx)
		if err == nil && len(waiters) >= n {
			l.fire(fmt.Sprintf("%d backends wait, the first for %s", len(waiters), firstWords(waiters[0].Query)))
			return waiters, nil
		}
		select {
		case <-ctx.Done():
			return waiters, fmt.Errorf("%s: %d of %d backends wait: %w", l.name, len(waiters), n, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// Seen says that the lock acted although nobody waits for it: somebody met it and
// went past, and how that is known.
func (l *Lock) Seen(evidence string) { l.fire(evidence) }

// Release gives the lock back and undoes what was written for it.
func (l *Lock) Release(ctx context.Context) error { return l.end(ctx, "ROLLBACK") }

// Commit gives the lock back and keeps what was written for it.
func (l *Lock) Commit(ctx context.Context) error { return l.end(ctx, "COMMIT") }

func (l *Lock) end(ctx context.Context, how string) error {
	if l.ended {
		return nil
	}
	l.ended = true
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	_, err := l.held.Exec(ctx, how)
	if l.gone && how == "ROLLBACK" {
		err = nil
	}
	l.close(ctx) // had it failed: the end of the connection ends the transaction
	l.heal()
	if err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}

// Heal implements Fault.
func (l *Lock) Heal(ctx context.Context) error { return l.Release(ctx) }

func (l *Lock) close(ctx context.Context) {
	for _, c := range []*pgx.Conn{l.held, l.probe} {
		if c != nil {
			_ = c.Close(context.WithoutCancel(ctx))
		}
	}
}

// firstWords is the beginning of a statement on one line.
func firstWords(sql string) string {
	words := strings.Fields(sql)
	if len(words) > 6 {
		words = words[:6]
	}
	return strings.Join(words, " ")
}
