package certify

import (
	"sync"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/statistics"
)

// Errors of the sequential test.
const earlyAlpha, earlyBeta = 0.05, 0.05

// early is the sequential test of a plan, or nil. Bad is the rate that the plan
// must exclude; good is one with a tenth of its failures.
func (o Options) early() *Early {
	bad, err := o.Contract.Plan.Lower95.Float64()
	if !o.Contract.Plan.Sequential || err != nil || bad <= 0 || bad >= 1 {
		return nil
	}
	return &Early{Good: 1 - (1-bad)/10, Bad: bad, Alpha: earlyAlpha, Beta: earlyBeta, Accept: o.Contract.Plan.Cases}
}

// Stopped says how a sequential plan ended before its last case.
type Stopped struct {
	Decision statistics.Decision `json:"decision"`
	Cases    int                 `json:"after_cases"`
}

// watch goes through the cases in the order of the plan as they complete. A case
// passes when all its repeats are accepted; one without an answer to judge counts
// neither way.
type watch struct {
	mu      sync.Mutex
	plan    *Early
	test    statistics.Sequential
	order   []string
	left    map[string]int
	failed  map[string]bool
	unclear map[string]bool
	at      int // next case in order
	tested  int
	stopped *Stopped
}

func newWatch(plan *Early, calls []Call) *watch {
	w := &watch{plan: plan, left: map[string]int{}, failed: map[string]bool{}, unclear: map[string]bool{}}
	if plan == nil {
		return w
	}
	w.test = statistics.Sequential{Good: plan.Good, Bad: plan.Bad, Alpha: plan.Alpha, Beta: plan.Beta}
	for _, c := range calls {
		if c.Probe == check.Base {
			if w.left[c.Case] == 0 {
				w.order = append(w.order, c.Case)
			}
			w.left[c.Case]++
		}
	}
	return w
}

// skips tells whether a call is no longer needed.
func (w *watch) skips(c Call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped != nil && c.Probe == check.Base
}

func (w *watch) seen(o *check.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plan == nil || w.stopped != nil || o.Probe != check.Base {
		return
	}
	w.left[o.Case]--
	switch o.Judgement.Verdict {
	case providers.Accept:
	case providers.Reject:
		w.failed[o.Case] = true
	default:
		w.unclear[o.Case] = true
	}
	for w.at < len(w.order) && w.left[w.order[w.at]] == 0 && w.stopped == nil {
		id := w.order[w.at]
		w.at++
		if w.unclear[id] && !w.failed[id] {
			continue
		}
		w.tested++
		d := w.test.Observe(!w.failed[id])
		if d == statistics.Reject || d == statistics.Accept && w.tested >= w.plan.Accept {
			w.stopped = &Stopped{d, w.at}
		}
	}
	if w.at == len(w.order) {
		w.stopped = nil // the last case: nothing is left to save
	}
}
