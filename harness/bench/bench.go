// Package bench measures the reference service against its database: the same
// statements sent by the service and by pgbench, on one server, in one run, with
// fsync on. It reports rates side by side and checks what must hold while it is
// fast: one winner, no lost job, memory within bounds.
//
// The rule it keeps: every figure of ours stands beside the one that it is
// compared with, and both were measured within the same minute on the same
// machine, by turns.
package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Options say what is measured and how thoroughly. The zero value of a field
// takes the default that stands beside it.
type Options struct {
	Command    []string          // that starts the service: executable, without "serve"
	Statements map[string]string // of the service, by name
	Duration   time.Duration     // of the whole run, about; 60 s
	Clients    int               // 32
	Raced      int               // raced jobs; 300
	Finished   int               // finished jobs in the tables for the growth; 100,000
	InFlight   int               // attempts in flight for the memory; 1,000
	Held       time.Duration     // how long a transaction is held open at a time; at least a slice of the duration
	River      string            // the program of bench/river; "" leaves it out
	Only       []string          // names of measures; empty: all
	Note       func(text string) // told what is being done
}

// Row is one line of the result. Ours and Theirs are in Unit; Ratio compares them
// as Holds needs it, and Bound is what it must reach (or, where Most is set, may
// not pass).
type Row struct {
	Name    string  `json:"name"` // of the measure: new, duplicates, ...
	Measure string  `json:"measure"`
	Ours    float64 `json:"ours"`
	Theirs  float64 `json:"theirs,omitempty"` // what it is compared with; 0: with the bound alone
	Against string  `json:"against,omitempty"`
	Unit    string  `json:"unit"`
	Ratio   float64 `json:"ratio"`
	Spread  float64 `json:"spread,omitempty"` // of the ratio's turns, beside the ratio; 0 where it has none
	Bound   float64 `json:"bound"`
	Most    bool    `json:"most,omitempty"` // the ratio may be at most the bound, else at least
	Holds   bool    `json:"holds"`
	Detail  string  `json:"detail,omitempty"`
	// What Against adds: the bound of a budget and whether it was missed, the ratio of
	// the baseline and what became of it.
	Budget   *Budget  `json:"budget,omitempty"`
	Missed   bool     `json:"missed,omitempty"`
	Before   *float64 `json:"before,omitempty"`
	Compared string   `json:"compared,omitempty"`
}

// atLeast and atMost judge a row.
func (r Row) atLeast(bound float64) Row {
	r.Bound, r.Holds = bound, r.Ratio >= bound
	return r
}

func (r Row) atMost(bound float64) Row {
	r.Bound, r.Most, r.Holds = bound, true, r.Ratio <= bound
	return r
}

// measures in the order in which they run. Each takes a share of the duration.
var measures = []struct {
	name string
	run  func(context.Context, *rig) ([]Row, error)
}{
	{"new", newJobs},
	{"duplicates", duplicates},
	{"lives", fullLives},
	{"river", besideRiver},
	{"overhead", overhead},
	{"held", heldTransaction},
	{"raced", racedJobs},
	{"growth", growth},
	{"memory", memory},
}

// Names lists the measures.
func Names() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// Run measures. It returns the rows that it has, also with an error.
func Run(ctx context.Context, o Options) ([]Row, error) {
	o = o.filled()
	for _, name := range o.Only {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("there is no measure %q", name)
		}
	}
	o.Note("starting PostgreSQL with fsync on, and the service")
	r, err := newRig(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var rows []Row
	for _, m := range measures {
		if len(o.Only) > 0 && !slices.Contains(o.Only, m.name) {
			continue
		}
		got, err := m.run(ctx, r)
		for i := range got {
			got[i].Name = m.name
		}
		rows = append(rows, got...)
		if err != nil {
			return rows, fmt.Errorf("measure %s: %w", m.name, errors.Join(err, ctx.Err()))
		}
	}
	return rows, nil
}

func (o Options) filled() Options {
	count := func(n *int, usual int) {
		if *n == 0 {
			*n = usual
		}
	}
	count(&o.Clients, 32)
	count(&o.Raced, 300)
	count(&o.Finished, 100_000)
	count(&o.InFlight, 1000)
	if o.Duration == 0 {
		o.Duration = time.Minute
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	return o
}

// slice is how long one side is measured at a time. There are about 30 of them in
// a run of everything, and a third of the time goes into what is done in between.
func (o Options) slice() time.Duration { return max(o.Duration/45, 200*time.Millisecond) }
