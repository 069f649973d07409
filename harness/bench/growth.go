package bench

import (
	"context"
	"fmt"
	"time"
)

const (
	fewFinished = 10_000
	mostLonger  = 1.3
	fillAtOnce  = 100_000
)

// fillFinished adds finished jobs, whole: a job, its attempt and its events.
const fillFinished = `
	WITH n AS (
		SELECT i, gen_random_uuid() AS job, gen_random_uuid() AS attempt FROM generate_series(1, $1::bigint) i
	), j AS (
		INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent)
		SELECT job, 'past', job::text, decode(repeat('5a', 32), 'hex'), 1, convert_to($2, 'UTF8'), ($2::json -> 'intent') FROM n
	), a AS (
		INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms, worker, lease_until, ended_at, reason)
		SELECT attempt, job, 1, 'at-once', 'succeeded', 30000, 'w', now(), now(), 'ok' FROM n
	), e AS (
		INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, operation_id)
		SELECT job, attempt, 'attempt.moved', from_state, to_state, 'worker', gen_random_uuid()
		FROM   n, (VALUES ('', 'starting'), ('starting', 'running'), ('running', 'succeeded')) moves (from_state, to_state)
	)
	SELECT count(*) FROM n`

// finishFilled gives each of them its result.
const finishFilled = `
	UPDATE jobs j SET result = '{"queue":"technical","urgency":"low","summary":"No paper."}', completed_by = a.id, completed_at = now(), version = 2
	FROM   attempts a
	WHERE  j.owner = 'past' AND j.completed_by IS NULL AND a.job_id = j.id`

// growth compares submits and claims over tables with few finished jobs and with
// many.
func growth(ctx context.Context, r *rig) ([]Row, error) {
	s, err := r.serve(ctx, "--role", "api", "--pool-size", "32")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	have := 0
	var submits, claims [2]time.Duration
	for i, want := range []int{fewFinished, max(r.o.Finished, fewFinished)} {
		r.o.Note(fmt.Sprintf("filling the tables with %d finished jobs", want))
		for have < want {
			some := min(fillAtOnce, want-have)
			if _, err := r.conn.Exec(ctx, fillFinished, some, intent(atOnce, "")); err != nil {
				return nil, err
			}
			if _, err := r.conn.Exec(ctx, finishFilled); err != nil {
				return nil, err
			}
			have += some
		}
		for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
			if _, err := r.conn.Exec(ctx, statement); err != nil {
				return nil, err
			}
		}
		r.o.Note(fmt.Sprintf("submits and claims beside %d finished jobs", want))
		if submits[i], claims[i], err = r.latencies(ctx, s, fmt.Sprint("growth-", i, "-")); err != nil {
			return nil, err
		}
	}
	rows := make([]Row, 0, 2)
	for _, m := range []struct {
		name string
		took [2]time.Duration
	}{{"submit p99", submits}, {"claim p99", claims}} {
		rows = append(rows, Row{Measure: m.name + fmt.Sprintf(" with %d finished", max(r.o.Finished, fewFinished)), Unit: "ms",
			Ours: milliseconds(m.took[1]), Theirs: milliseconds(m.took[0]), Against: fmt.Sprintf("with %d", fewFinished),
			Ratio: float64(m.took[1]) / float64(max(1, m.took[0]))}.atMost(mostLonger))
	}
	return rows, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// latencies measures submits of a few clients, and then one claim for each of the
// jobs that they left.
func (r *rig) latencies(ctx context.Context, s *service, prefix string) (submit, claim time.Duration, err error) {
	if err := r.forget(ctx); err != nil {
		return 0, 0, err
	}
	body := intent(atOnce, "")
	slice, cancel := context.WithTimeout(ctx, r.o.slice())
	defer cancel()
	all, err := r.load(slice, s, 4, 201, func(n int64) (string, string) { return fmt.Sprint(prefix, n), body })
	if err != nil {
		return 0, 0, err
	}
	text, err := r.statement("claim-attempts", map[string]string{"op": "gen_random_uuid()"})
	if err != nil {
		return 0, 0, err
	}
	// as the service has it: each of its statements has an index
	if _, err := r.conn.Exec(ctx, "SET enable_seqscan = off"); err != nil {
		return 0, 0, err
	}
	var took []time.Duration
	end := time.Now().Add(r.o.slice())
	for range all {
		if time.Now().After(end) {
			break
		}
		begun := time.Now()
		tag, err := r.conn.Exec(ctx, text)
		if err != nil {
			return 0, 0, err
		}
		if took = append(took, time.Since(begun)); tag.RowsAffected() != 1 {
			return 0, 0, fmt.Errorf("a claim took %d attempts", tag.RowsAffected())
		}
	}
	return percentile(all, 0.99), percentile(took, 0.99), nil
}
