package bench

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// raceDeadline is after how many milliseconds the first attempt of a raced job is
// released, so that its owner can start a second one.
const raceDeadline = 20

// racedJobs lets two attempts of each job finish at the same moment: the provider
// answers the first when the second has arrived. Then the database is searched
// for a job with no winner or two, a result of somebody else, or a loser that is
// not on record.
func racedJobs(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note(fmt.Sprintf("%d jobs whose two attempts finish at once", r.o.Raced))
	s, err := r.working(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	begun := time.Now()
	var number atomic.Int64
	var racing sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range r.o.Clients {
		racing.Go(func() {
			c := &client{addr: s.addr, key: ownerKey}
			defer c.close()
			for ctx.Err() == nil {
				n := number.Add(1)
				if n > int64(r.o.Raced) {
					return
				}
				if err := race(ctx, c, "raced-"+strconv.FormatInt(n, 10)); err != nil {
					mu.Lock()
					if failed == nil { // the others mostly say the same
						failed = err
					}
					mu.Unlock()
					return
				}
			}
		})
	}
	racing.Wait()
	if failed != nil {
		return nil, failed
	}
	const settled = `SELECT count(*) FROM jobs j WHERE key LIKE 'raced-%' AND completed_by IS NOT NULL
		AND NOT EXISTS (SELECT FROM attempts a WHERE a.job_id = j.id AND a.state NOT IN ('succeeded', 'lost'))`
	if err := r.until(ctx, "raced jobs that end", float64(r.o.Raced), settled); err != nil {
		return nil, err
	}
	took := time.Since(begun)
	violations, err := r.number(ctx, violated)
	if err != nil {
		return nil, err
	}
	firsts, err := r.number(ctx, `SELECT count(*) FROM jobs j JOIN attempts a ON a.id = j.completed_by WHERE j.key LIKE 'raced-%' AND a.n = 1`)
	if err != nil {
		return nil, err
	}
	return []Row{Row{Measure: "raced jobs with a violation", Ours: violations, Unit: "jobs", Ratio: violations,
		Detail: fmt.Sprintf("of %d in %s; the first attempt won %.0f", r.o.Raced, took.Round(100*time.Millisecond), firsts)}.atMost(0)}, nil
}

// violated counts raced jobs that do not have exactly one winner, whose result is
// theirs, and one loser on record.
const violated = `
		SELECT count(*)
		FROM   jobs j
		WHERE  key LIKE 'raced-%'
		  AND  (version <> 2
		        OR (SELECT count(*) FROM attempts a WHERE a.job_id = j.id) <> 2
		        OR (SELECT count(*) FROM attempts a WHERE a.job_id = j.id AND a.state = 'succeeded') <> 1
		        OR (SELECT a.id FROM attempts a WHERE a.job_id = j.id AND a.state = 'succeeded') IS DISTINCT FROM j.completed_by
		        OR (SELECT count(*) FROM races x WHERE x.job_id = j.id AND x.winner_id = j.completed_by AND x.attempt_id <> j.completed_by) <> 1
		        OR (SELECT count(*) FROM attempt_events e WHERE e.job_id = j.id AND e.type = 'job.succeeded') <> 1)`

// race submits one job that races and starts its second attempt as soon as the
// first is released. Where the service says that it cannot store now, it is asked
// again with the same key, as its answer says.
func race(ctx context.Context, c *client, key string) error {
	ctx, cancel := context.WithTimeout(ctx, toSettle)
	defer cancel()
	var status int
	var answer []byte
	var err error
	job := intent(paired, `,"race":true,"deadline_ms":`+strconv.Itoa(raceDeadline))
	err = every(ctx, raceDeadline*time.Millisecond, func() (bool, error) {
		status, answer, err = c.send("POST", "/v1/jobs", key, job)
		switch { // 200: it was stored by a request whose answer said that this is not known
		case err != nil, status == http.StatusCreated, status == http.StatusOK, status == http.StatusServiceUnavailable:
		default:
			err = fmt.Errorf("submit: %d %.200s", status, answer)
		}
		return status == http.StatusCreated || status == http.StatusOK, err
	}, func() string { return fmt.Sprintf("%s is not taken: %.200s", key, answer) })
	if err != nil {
		return err
	}
	path := "/v1/jobs/" + member(answer, "id") + "/attempts"
	return every(ctx, raceDeadline*time.Millisecond, func() (bool, error) {
		status, answer, err = c.send("POST", path, "second", "{}")
		switch { // a conflict: the first one is still in flight
		case err != nil, status == http.StatusAccepted, status == http.StatusConflict, status == http.StatusServiceUnavailable:
		default:
			err = fmt.Errorf("start the second attempt: %d %.200s", status, answer)
		}
		return status == http.StatusAccepted, err
	}, func() string { return fmt.Sprintf("the first attempt of %s is not released: %.200s", key, answer) })
}
