package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	fewFinished = 10_000
	mostLonger  = 1.3
	fillAtOnce  = 100_000
)

// A claim looks from a little below the last one on, and now and then from the
// start, as the service does (its queueFloor).
const (
	belowLast = 2000
	fullScan  = 200 * time.Millisecond
)

// fillFinished adds finished jobs, whole: jobs $1 to $2 with the text $3, their
// attempts and their events. Ids rise, as those of the service do.
var fillFinished = []string{
	`INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent, version, result, completed_by, completed_at)
	SELECT ` + pastJob + `, 'past', 'past-' || i, decode(repeat('5a', 32), 'hex'), 1, convert_to($3::text, 'UTF8'), $3::json -> 'intent',
	       2, '{"queue":"technical","urgency":"low","summary":"No paper."}', ` + pastAttempt + `, now()
	FROM   generate_series($1::bigint, $2::bigint) i`,

	`INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms, worker, lease_until, ended_at, reason)
	SELECT ` + pastAttempt + `, ` + pastJob + `, 1, 'at-once', 'succeeded', 30000, 'w', now(), now(), 'ok'
	FROM   generate_series($1::bigint, $2::bigint) i
	WHERE  $3::text <> ''`,

	`INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, operation_id)
	SELECT ` + pastJob + `, ` + pastAttempt + `, type, from_state, to_state, 'worker', ` + pastJob + `
	FROM   generate_series($1::bigint, $2::bigint) i,
	       (VALUES ('job.submitted', NULL, NULL), ('attempt.moved', NULL, 'starting'), ('attempt.moved', 'starting', 'running'),
	               ('attempt.moved', 'running', 'succeeded'), ('job.succeeded', NULL, NULL)) moves (type, from_state, to_state)
	WHERE  $3::text <> ''`,
}

// Ids of the job and attempt of number i.
const (
	pastJob     = `('01000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`
	pastAttempt = `('01000000-0000-7000-9000-' || lpad(to_hex(i), 12, '0'))::uuid`
)

// fill adds finished jobs from number "from" to number "to", on a connection
// without triggers and foreign keys: job and attempt name each other, and what is
// added is right.
func (r *rig) fill(ctx context.Context, from, to int) error {
	conn, err := pgx.Connect(ctx, r.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "SET session_replication_role = replica"); err != nil {
		return err
	}
	for begun, have := time.Now(), from-1; have < to; {
		next := min(have+fillAtOnce, to)
		for _, statement := range fillFinished {
			if _, err := conn.Exec(ctx, statement, have+1, next, intent(atOnce, "")); err != nil {
				return err
			}
		}
		have = next
		r.o.Note(fmt.Sprintf("filling the tables: %d of %d finished jobs after %s", have, to, time.Since(begun).Round(time.Second)))
	}
	return nil
}

// growth compares submits and claims over tables with few finished jobs and with
// many, in two databases of one server, by turns: what the machine does meanwhile
// meets both.
func growth(ctx context.Context, r *rig) ([]Row, error) {
	var sides [2]*rig
	var services [2]*service
	for i, want := range []int{fewFinished, max(r.o.Finished, fewFinished)} {
		side, err := r.beside(ctx)
		if err != nil {
			return nil, err
		}
		defer side.leave()
		if err := side.fill(ctx, 1, want); err != nil {
			return nil, err
		}
		r.o.Note(fmt.Sprintf("VACUUM with %d finished jobs", want))
		if _, err := side.conn.Exec(ctx, "VACUUM ANALYZE"); err != nil {
			return nil, err
		}
		if services[i], err = side.answering(ctx); err != nil {
			return nil, err
		}
		defer services[i].stop()
		sides[i] = side
	}
	var submits, claims [2]time.Duration
	var took [2][2][]float64 // submits and claims of each side
	for turn := range turns {
		for i := range sides {
			i = (i + turn) % 2 // neither is always the first
			r.o.Note(fmt.Sprintf("submits and claims beside few finished jobs and many: turn %d of %d", turn+1, turns))
			// what one side left to be written is not the other's to wait for
			if _, err := sides[i].conn.Exec(ctx, "CHECKPOINT"); err != nil {
				return nil, err
			}
			submit, claim, err := sides[i].latencies(ctx, services[i], fmt.Sprint("growth-", turn, "-"))
			if err != nil {
				return nil, err
			}
			took[i][0], took[i][1] = append(took[i][0], float64(submit)), append(took[i][1], float64(claim))
		}
	}
	for i := range sides {
		submits[i], claims[i] = time.Duration(median(took[i][0])), time.Duration(median(took[i][1]))
	}
	rows := make([]Row, 0, 2)
	for _, m := range []struct {
		name string
		took [2]time.Duration
	}{{"submit p99", submits}, {"claim p99", claims}} {
		rows = append(rows, Row{Measure: m.name + fmt.Sprintf(" with %d finished", max(r.o.Finished, fewFinished)), Unit: "ms",
			Ours: milliseconds(m.took[1]), Theirs: milliseconds(m.took[0]), Against: fmt.Sprintf("with %d", fewFinished), Detail: fmt.Sprintf("the median of %d turns", turns),
			Ratio: float64(m.took[1]) / float64(max(1, m.took[0]))}.atMost(mostLonger))
	}
	return rows, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// latencies measures submits of a few clients, and then one claim for each of the
// jobs that they left, as far as the time goes.
func (r *rig) latencies(ctx context.Context, s *service, prefix string) (submit, claim time.Duration, err error) {
	body := intent(atOnce, "")
	slice, cancel := context.WithTimeout(ctx, r.o.slice())
	defer cancel()
	all, err := r.load(slice, s, 4, 201, func(n int64) (string, string) { return fmt.Sprint(prefix, n), body })
	if err != nil {
		return 0, 0, err
	}
	text, err := r.statement("claim-attempts", map[string]string{"op": "gen_random_uuid()", "above": "$1"})
	if err != nil {
		return 0, 0, err
	}
	// as the service has it: each of its statements has an index
	if _, err := r.conn.Exec(ctx, "SET enable_seqscan = off"); err != nil {
		return 0, 0, err
	}
	var took []time.Duration
	var last int64 // fence that was claimed
	var full time.Time
	for end := time.Now().Add(r.o.slice()); len(took) < len(all) && time.Now().Before(end); {
		begun, above := time.Now(), max(0, last-belowLast)
		if begun.Sub(full) >= fullScan {
			full, above = begun, 0
		}
		rows, err := r.conn.Query(ctx, text, above)
		if err != nil {
			return 0, 0, err
		}
		claimed, err := pgx.CollectRows(rows, pgx.RowToMap)
		if err != nil {
			return 0, 0, err
		}
		if took = append(took, time.Since(begun)); len(claimed) != 1 {
			return 0, 0, fmt.Errorf("a claim took %d attempts", len(claimed))
		}
		fence, ok := claimed[0]["fence"].(int64)
		if !ok {
			return 0, 0, fmt.Errorf("a claim has the fence %v", claimed[0]["fence"])
		}
		last = fence
	}
	return percentile(all, 0.99), percentile(took, 0.99), nil
}
