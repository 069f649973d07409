package certify

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/standin"
)

// SelfTest says what to prove the checks with. All but GoodRuns is required.
type SelfTest struct {
	Contract  func(id string) (*contract.Contract, certificate.Contract, error)
	Bad       []Bad
	Protocols []providers.Protocol
	GoodRuns  int // of good providers, spread over protocols, contracts and manners; default two in each protocol under each contract
	Progress  func(done, all int, last Row)

	mu      sync.Mutex
	primary map[string]func() ([]*check.Observation, error)
}

// Numbers of a self-test.
const (
	selfTestRepeats = 4
	selfTestModel   = "standin-1"
	selfTestGC      = 400 // percent
	goodSeeds       = 2   // of good providers, in each protocol and under each contract, where no number is given
)

// Matrix is what the checks said of every bad provider and of the good ones.
type Matrix struct {
	Checks []string `json:"checks"`
	Bad    []Bad    `json:"bad"`
	Rows   []Row    `json:"rows"` // the good ones first, then by bad provider and protocol
}

// try is one run of a self-test.
type try struct {
	protocol providers.Protocol
	contract string
	bad      *Bad
	seed     uint64
}

// Run takes every bad provider, and the good ones, through the checks in each
// protocol in which they can be had, as many side by side as there are
// processors.
func (s *SelfTest) Run(ctx context.Context) (Matrix, error) {
	// A quarter of a million answers are read and thrown away: collecting them as
	// often as a service would costs a third of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(selfTestGC))
	m := Matrix{Bad: s.Bad}
	for _, c := range check.All() {
		m.Checks = append(m.Checks, c.ID)
	}
	tries := s.tries()
	m.Rows = make([]Row, len(tries))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range runtime.GOMAXPROCS(0) + 1 { // a run waits now and then for a provider that is slow on purpose
		wait.Go(func() {
			for i := range next {
				row, err := s.try(ctx, tries[i])
				if err != nil {
					stop(err)
					continue
				}
				mu.Lock()
				m.Rows[i] = row
				done++
				s.Progress(done, len(tries), row)
				mu.Unlock()
			}
		})
	}
	for i := range tries {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	return m, context.Cause(ctx)
}

func (s *SelfTest) tries() []try {
	var list []try
	contracts := []string{DefaultContract}
	for i := range s.Bad {
		if id := s.Bad[i].Under(); !slices.Contains(contracts, id) {
			contracts = append(contracts, id)
		}
	}
	good := s.GoodRuns
	if good == 0 {
		good = goodSeeds * len(contracts) * len(s.Protocols)
	}
	for i := range good { // the protocols first, so that all have their turn
		p, rest := s.Protocols[i%len(s.Protocols)], i/len(s.Protocols)
		list = append(list, try{p, contracts[rest%len(contracts)], nil, uint64(rest / len(contracts))})
	}
	for i := range s.Bad {
		for _, p := range s.Protocols {
			if s.Bad[i].Speaks(p) {
				list = append(list, try{p, s.Bad[i].Under(), &s.Bad[i], 0})
			}
		}
	}
	return list
}

func (s *SelfTest) try(ctx context.Context, t try) (Row, error) {
	loaded, facts, err := s.Contract(t.contract)
	if err != nil {
		return Row{}, err
	}
	o := Options{
		Contract: loaded, Facts: facts, Repeats: selfTestRepeats, inside: true,
		Profile: providers.Profile{
			Name: "stand-in", Protocol: t.protocol, BaseURL: "http://127.0.0.1:1", Model: selfTestModel, AllowLoopback: true,
			Auth: providers.Auth{Header: "Authorization", Scheme: "Bearer", Env: "NONE"},
		},
	}
	seen, err := s.primaryOf(ctx, t, o)
	if err != nil {
		return Row{}, err
	}
	o.Primary = &Primary{Profile: o.Profile, Seen: seen}
	o.Manner = standin.MannerOf(t.seed)
	row, err := Try(ctx, o, t.bad)
	row.Seed, row.Contract = t.seed, t.contract
	return row, err
}

// primaryOf asks the primary of a protocol and contract once for all tries.
func (s *SelfTest) primaryOf(ctx context.Context, t try, o Options) ([]*check.Observation, error) {
	s.mu.Lock()
	key := string(t.protocol) + " " + t.contract
	ask := s.primary[key]
	if ask == nil {
		ask = sync.OnceValues(func() ([]*check.Observation, error) { return PrimaryAnswers(ctx, o) })
		if s.primary == nil {
			s.primary = map[string]func() ([]*check.Observation, error){}
		}
		s.primary[key] = ask
	}
	s.mu.Unlock()
	return ask()
}

// Wrong says what is not as it must be, one sentence each: a bad provider that is
// not rejected by its own check alone, a good one that is rejected, a check that
// no bad provider proves. Nothing means that the diagonal is full and nothing is
// beside it.
func (m Matrix) Wrong() []string {
	var wrong []string
	for _, r := range m.Rows {
		switch {
		case r.Right:
		case r.Bad == "":
			wrong = append(wrong, fmt.Sprintf("the good provider of %s with seed %d, under %s, is rejected by %s: %s", r.Protocol, r.Seed, r.Contract, strings.Join(r.Rejected, ", "), r.Reason))
		case len(r.Rejected) == 0:
			wrong = append(wrong, fmt.Sprintf("%s in %s is not rejected; %s must do it", r.Bad, r.Protocol, r.Check))
		default:
			wrong = append(wrong, fmt.Sprintf("%s in %s is rejected by %s, must be by %s alone: %s", r.Bad, r.Protocol, strings.Join(r.Rejected, ", "), r.Check, r.Reason))
		}
	}
	for _, id := range m.Checks {
		if !slices.ContainsFunc(m.Bad, func(b Bad) bool { return b.Check == id }) {
			wrong = append(wrong, "no bad provider proves check "+id)
		}
	}
	return wrong
}

// Cell says what a check did to a bad provider, over all protocols.
func (m Matrix) Cell(bad, check string) (rejected, tried int) {
	for _, r := range m.Rows {
		if r.Bad == bad {
			tried++
			if slices.Contains(r.Rejected, check) {
				rejected++
			}
		}
	}
	return rejected, tried
}
