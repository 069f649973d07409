package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/harness/invariant"
)

// Shard is part Index of Of: of the plans 1, 2, 3 ... every Of-th one, beginning
// with plan Index.
type Shard struct{ Index, Of int }

// ParseShard reads i/n; the empty text is the whole.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || index < 1 || of < 1 || index > of || of > 10_000 {
		return Shard{}, fmt.Errorf("a shard is I/N with 1 <= I <= N, such as 2/8, not %q", text)
	}
	return Shard{index, of}, nil
}

func (s Shard) String() string {
	if s.Of == 0 {
		return "1/1"
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Share is how many of the plans 1 to n are the shard's.
func (s Shard) Share(n int) int {
	if s.Of == 0 {
		return n
	}
	return (n - s.Index + s.Of) / s.Of
}

func (s Shard) has(n int) bool { return s.Of == 0 || (n-s.Index)%s.Of == 0 }

// SummaryFormat names the shape of the file of a search, SummaryFile its name.
const (
	SummaryFormat = "interlock-explore/1"
	SummaryFile   = "explore.json"
)

// Summary is what came of a search, or of several shards of one.
type Summary struct {
	Format     string         `json:"format"`
	Seed       int64          `json:"seed"`
	Plans      int            `json:"plans"` // of the whole search
	Shard      string         `json:"shard"` // 2/8; after a merge the shards that there are, with commas
	Mutant     string         `json:"mutant,omitempty"`
	Played     int            `json:"played"`
	Passed     int            `json:"passed"`
	Violations int            `json:"violations"`
	Undecided  []int          `json:"inconclusive,omitempty"` // numbers of plans that proved nothing
	Broken     []int          `json:"infrastructure,omitempty"`
	Audited    int            `json:"played_twice"`
	Unsteady   []int          `json:"unsteady,omitempty"` // numbers of plans that came out in two ways
	Operations int            `json:"operations"`
	Armed      int            `json:"faults_armed"`
	Fired      int            `json:"faults_fired"`
	Edges      map[string]int `json:"faults_by_edge"`
	TookMS     int64          `json:"took_ms"` // of the longest shard
	Reached    int            `json:"-"`       // the last number that was played
	Found      *Plan          `json:"found,omitempty"`
	File       string         `json:"file,omitempty"`   // where the found plan stands
	Always     bool           `json:"always,omitempty"` // it breaks the invariant whenever it is played
	// Interrupted is true when a signal ended the search, or that of a shard; what is
	// counted is what was judged until then.
	Interrupted bool `json:"interrupted,omitempty"`
}

func (s *Summary) count(p Plan, played Played) {
	s.Played++
	switch played.Verdict {
	case invariant.Pass:
		s.Passed++
	case invariant.Violation:
		s.Violations++
	case invariant.Inconclusive:
		s.Undecided = append(s.Undecided, p.Number)
	default:
		s.Broken = append(s.Broken, p.Number)
	}
	s.Operations += played.Operations
	s.Armed += played.Armed
	s.Fired += played.Fired
	for _, step := range p.Steps {
		if step.Fault() {
			s.Edges[step.Edge()]++
		}
	}
}

// Verdict is that of the search. One that was interrupted, that played nothing, or
// whose faults never fired has proved nothing.
func (s Summary) Verdict() invariant.Verdict {
	switch {
	case s.Violations > 0:
		return invariant.Violation
	case len(s.Broken) > 0:
		return invariant.Infrastructure
	case s.Interrupted || s.Played == 0 || len(s.Undecided) > 0 || len(s.Unsteady) > 0 || s.Fired == 0:
		return invariant.Inconclusive
	}
	return invariant.Pass
}

// Missing returns the shards that a merged summary lacks.
func (s Summary) Missing() []string {
	have := strings.Split(s.Shard, ",")
	_, n, _ := strings.Cut(have[0], "/")
	of, _ := strconv.Atoi(n)
	var missing []string
	for i := 1; i <= of; i++ {
		if name := fmt.Sprintf("%d/%d", i, of); !slices.Contains(have, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// Write puts the summary into dir.
func (s Summary) Write(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, SummaryFile), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// LoadSummary reads the summary in dir.
func LoadSummary(dir string) (Summary, error) {
	var s Summary
	path := filepath.Join(dir, SummaryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("read summary: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s is no summary of a search: %w", path, err)
	}
	if s.Format != SummaryFormat {
		return s, fmt.Errorf("%s: format is %q, and %s is wanted", path, s.Format, SummaryFormat)
	}
	return s, nil
}

// Merge unites the summaries of shards of one search. It refuses those of
// different searches, and a shard that is there twice.
func Merge(shards []Summary) (Summary, error) {
	if len(shards) == 0 {
		return Summary{}, errors.New("there is no shard to merge")
	}
	all := shards[0]
	all.Edges = maps.Clone(all.Edges)
	names := strings.Split(all.Shard, ",")
	_, of, _ := strings.Cut(names[0], "/")
	for _, s := range shards[1:] {
		if s.Seed != all.Seed || s.Plans != all.Plans || s.Mutant != all.Mutant {
			return all, fmt.Errorf("shard %s is of another search: seed %d, %d plans, not seed %d, %d plans", s.Shard, s.Seed, s.Plans, all.Seed, all.Plans)
		}
		for name := range strings.SplitSeq(s.Shard, ",") {
			if _, n, _ := strings.Cut(name, "/"); n != of {
				return all, fmt.Errorf("shard %s is one of %s, and shard %s one of %s", name, n, names[0], of)
			}
			if slices.Contains(names, name) {
				return all, fmt.Errorf("shard %s is there twice", name)
			}
			names = append(names, name)
		}
		all.add(s)
		if all.Found == nil {
			all.Found, all.File, all.Always = s.Found, s.File, s.Always
		}
	}
	all.Shard = strings.Join(names, ",")
	return all, nil
}

// add counts the plans of another summary.
func (s *Summary) add(o Summary) {
	s.Interrupted = s.Interrupted || o.Interrupted
	s.Played += o.Played
	s.Passed += o.Passed
	s.Violations += o.Violations
	s.Undecided = append(slices.Clip(s.Undecided), o.Undecided...)
	s.Broken = append(slices.Clip(s.Broken), o.Broken...)
	s.Unsteady = append(slices.Clip(s.Unsteady), o.Unsteady...)
	s.Audited += o.Audited
	s.Operations += o.Operations
	s.Armed += o.Armed
	s.Fired += o.Fired
	s.TookMS = max(s.TookMS, o.TookMS)
	for edge, n := range o.Edges {
		s.Edges[edge] += n
	}
}

// Append adds what the same search found further on.
func (s *Summary) Append(o Summary) {
	took := s.TookMS + o.TookMS
	s.add(o)
	s.TookMS = took
}
