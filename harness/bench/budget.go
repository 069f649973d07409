package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Margin is the change beyond which a measure counts as worse than its baseline, and
// the spread of its turns beyond which nothing can be said about that: a fifth.
const Margin = 0.2

// Budget bounds a figure of ours, in the unit of its row. A bound of 0 is none.
type Budget struct {
	AtLeast float64 `toml:"at-least" json:"at_least,omitempty"`
	AtMost  float64 `toml:"at-most" json:"at_most,omitempty"`
}

// ReadBudget reads a TOML file with a table for each measure that is bounded: [new],
// then at-least = 3000. Errors name what is wrong in it.
func ReadBudget(file string) (map[string]Budget, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", file)
	}
	var budgets map[string]Budget
	meta, err := toml.Decode(string(text), &budgets)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "toml: "))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: there is no bound %q; there are at-least and at-most", file, unknown[0].String())
	}
	if len(budgets) == 0 {
		return nil, fmt.Errorf("%s bounds nothing", file)
	}
	for name, b := range budgets {
		switch {
		case !slices.Contains(Names(), name):
			return nil, fmt.Errorf("%s: there is no measure %q; there are %s", file, name, strings.Join(Names(), ", "))
		case b.AtLeast == 0 && b.AtMost == 0 || b.AtLeast < 0 || b.AtMost < 0:
			return nil, fmt.Errorf("%s: [%s] needs at-least or at-most above 0", file, name)
		}
	}
	return budgets, nil
}

// ReadBaseline reads what an earlier bench wrote with --json: a row on each line.
func ReadBaseline(file string) ([]Row, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", file)
	}
	var rows []Row
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		var r Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Measure == "" {
			return nil, fmt.Errorf("%s:%d is no row of bench service --json", file, n)
		}
		rows = append(rows, r)
	}
	if err := errors.Join(lines.Err()); err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s holds no row of bench service --json", file)
	}
	return rows, nil
}

// Against compares rows with their budgets and with those of a baseline, by measure,
// and returns them with what came of it. A ratio is compared where there is one: other
// work on the machine slows both of its sides.
func Against(rows, baseline []Row, budgets map[string]Budget) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		r := &rows[i]
		if b, ok := budgets[r.Name]; ok {
			r.Budget = &b
			r.Missed = b.AtLeast > 0 && r.Ours < b.AtLeast || b.AtMost > 0 && r.Ours > b.AtMost
		}
		k := slices.IndexFunc(baseline, func(b Row) bool { return b.Measure == r.Measure })
		if k < 0 {
			continue
		}
		before := baseline[k]
		r.Before = &before.Ratio
		worse := before.Ratio - r.Ratio // by how much it fell
		if r.Most {
			worse = -worse
		}
		switch {
		case max(r.Spread, before.Spread) > Margin:
			r.Compared = Unclear
		case worse > Margin*math.Abs(before.Ratio):
			r.Compared = Worse
		default:
			r.Compared = Same
		}
	}
	return rows
}

// What a comparison with a baseline comes to.
const (
	Same    = "same" // or better
	Worse   = "worse"
	Unclear = "unclear" // the turns lie too far apart
)
