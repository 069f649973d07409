package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// besideRiver measures the program of bench/river, by turns with the service and
// on a database of the same server. The rows have no bound: River does less for a
// job (it does not fence a late finisher) and more for its queue.
func besideRiver(ctx context.Context, r *rig) ([]Row, error) {
	if r.o.River == "" {
		return nil, nil
	}
	r.o.Note("new jobs and whole lives, by turns with River")
	name, err := r.database.Create(ctx, "")
	if err != nil {
		return nil, err
	}
	api, err := r.answering(ctx)
	if err != nil {
		return nil, err
	}
	defer api.stop()
	var theirs struct{ Jobs, Lives float64 }
	turn := 0
	jobs, err := byTurns(func() (float64, error) {
		turn++
		return r.submits(ctx, api, fmt.Sprint("river-new-", turn, "-"))
	}, func() (float64, error) {
		err := r.river(ctx, r.database.URL(name), &theirs)
		return theirs.Jobs, err
	})
	if err != nil {
		return nil, err
	}
	s, err := r.working(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	lives, err := byTurns(func() (float64, error) {
		turn++
		return r.lives(ctx, s, fmt.Sprint("river-life-", turn, "-"), r.o.slice())
	}, func() (float64, error) {
		err := r.river(ctx, r.database.URL(name), &theirs)
		return theirs.Lives, err
	})
	if err != nil {
		return nil, err
	}
	row := func(measure string, c compared) Row {
		return Row{Measure: measure, Ours: c.ours, Theirs: c.theirs, Against: "River", Unit: "/s", Ratio: c.ratio, Spread: c.spread, Detail: "for comparison"}.atLeast(0)
	}
	return []Row{row("new jobs beside River", jobs), row("whole lives beside River", lives)}, nil
}

// river runs the program once.
func (r *rig) river(ctx context.Context, url string, result any) error {
	ctx, cancel := context.WithTimeout(ctx, 2*r.o.slice()+toSettle)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.o.River, "--clients", strconv.Itoa(r.o.Clients), "--duration", r.o.slice().String(), "--provider", r.provider.url(atOnce))
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.400s", r.o.River, err, strings.TrimSpace(said.String()))
	}
	if err := json.Unmarshal(out.Bytes(), result); err != nil {
		return fmt.Errorf("%s does not state its rates: %.200q", r.o.River, out.String())
	}
	return nil
}
