package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// turns is how often both sides are measured, one after the other.
const turns = 3

// compared are two sides that were measured by turns: the medians of their
// figures, and the median of the ratios of neighbours. Other work on the machine
// comes in bursts, which spoil a turn and not the median.
type compared struct {
	ours, theirs, ratio float64
	spread              float64 // of the ratios: from the least to the largest, beside the median
}

// byTurns measures theirs and ours, again and again.
func byTurns(ours, theirs func() (float64, error)) (compared, error) {
	var a, b, ratios []float64
	for range turns {
		theirs, err := theirs()
		if err != nil {
			return compared{}, err
		}
		ours, err := ours()
		if err != nil {
			return compared{}, err
		}
		a, b, ratios = append(a, ours), append(b, theirs), append(ratios, ours/theirs)
	}
	c := compared{ours: median(a), theirs: median(b), ratio: median(ratios)}
	if c.ratio != 0 {
		c.spread = (slices.Max(ratios) - slices.Min(ratios)) / c.ratio
	}
	return c, nil
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// submits returns new jobs a second, over one slice of time; keys begin with prefix.
func (r *rig) submits(ctx context.Context, s *service, prefix string) (float64, error) {
	rate, _, err := r.submitsFor(ctx, s, prefix, r.o.slice())
	return rate, err
}

// submitsFor is submits for as long as d, with the time that each took.
func (r *rig) submitsFor(ctx context.Context, s *service, prefix string, d time.Duration) (float64, []time.Duration, error) {
	body := intent(atOnce, "")
	slice, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	begun := time.Now()
	all, err := r.load(slice, s, r.o.Clients, 201, func(n int64) (string, string) { return prefix + strconv.FormatInt(n, 10), body })
	return float64(len(all)) / time.Since(begun).Seconds(), all, err
}

func newJobs(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("new jobs, by turns with pgbench")
	s, err := r.answering(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	script, err := r.submitScript()
	if err != nil {
		return nil, err
	}
	turn := 0
	both, err := byTurns(func() (float64, error) {
		turn++
		return r.submits(ctx, s, fmt.Sprint("new-", turn, "-"))
	}, func() (float64, error) { return r.pgbench(ctx, "submit", script, r.o.slice()) })
	if err != nil {
		return nil, err
	}
	row := Row{Measure: "new jobs", Ours: both.ours, Theirs: both.theirs, Against: "pgbench, the same statement", Unit: "/s", Ratio: both.ratio, Spread: both.spread,
		Detail: fmt.Sprintf("%d clients over HTTP", r.o.Clients)}
	return []Row{row.atLeast(0.6)}, nil
}

func duplicates(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("duplicates of one key, by turns with new jobs")
	s, err := r.answering(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	body := intent(atOnce, "")
	c := &client{addr: s.addr, key: ownerKey}
	defer c.close()
	if status, answer, err := c.send("POST", "/v1/jobs", "hot", body); err != nil || status != 201 {
		return nil, fmt.Errorf("the first submit: %d %s, %v", status, answer, err)
	}
	const written = `SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM attempts) + (SELECT count(*) FROM attempt_events)`
	wrote, turn := 0.0, 0
	both, err := byTurns(func() (float64, error) {
		before, err := r.number(ctx, written)
		if err != nil {
			return 0, err
		}
		slice, cancel := context.WithTimeout(ctx, r.o.slice())
		defer cancel()
		begun := time.Now()
		all, err := r.load(slice, s, r.o.Clients, 200, func(int64) (string, string) { return "hot", body })
		rate := float64(len(all)) / time.Since(begun).Seconds()
		if err != nil {
			return 0, err
		}
		after, err := r.number(ctx, written)
		wrote += after - before
		return rate, err
	}, func() (float64, error) {
		turn++
		return r.submits(ctx, s, fmt.Sprint("beside-", turn, "-"))
	})
	if err != nil {
		return nil, err
	}
	row := Row{Measure: "duplicates of a hot key", Ours: both.ours, Theirs: both.theirs, Against: "new jobs", Unit: "/s", Ratio: both.ratio, Spread: both.spread,
		Detail: fmt.Sprintf("%.0f rows written", wrote)}.atLeast(1.5)
	row.Holds = row.Holds && wrote == 0
	return []Row{row}, nil
}
