package check_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/check"
)

// varying is a run in which each answer, streamed or not, is another one with
// chance share, and the wrong one of two if wrong.
func varying(r *rand.Rand, share float64, wrong bool) *check.Run {
	return run(func(_ int, o *check.Observation) {
		switch {
		case r.Float64() >= share:
		case wrong:
			o.Judgement = providers.Judgement{Verdict: providers.Reject, Reason: "business.total"}
		default:
			o.Judgement.Output = json.RawMessage(`{"a":2}`)
		}
	})
}

func TestAnAnswerThatVariesIsNotBlamedOnTheStream(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 2026))
	for _, share := range []float64{0.1, 0.25, 0.5} {
		for n := range 60 {
			for _, wrong := range []bool{false, true} {
				if res, blamed := rejected(varying(r, share, wrong))["W10"]; blamed {
					t.Fatalf("run %d, one answer in %.0f varies (wrong: %v): W10 %s", n, 1/share, wrong, res.Reason)
				}
			}
		}
	}
}

func TestAStreamThatDiffersInOneCaseIsBlamed(t *testing.T) {
	for name, spoil := range map[string]func(*check.Observation){
		"other answer": func(o *check.Observation) { o.Judgement.Output = json.RawMessage(`{"a":2}`) },
		"other end":    func(o *check.Observation) { o.Response.End = providers.FinishRefusal },
		"wrong answer": func(o *check.Observation) {
			o.Judgement = providers.Judgement{Verdict: providers.Reject, Reason: "business.total"}
		},
	} {
		for cases := 1; cases <= 3; cases++ {
			t.Run(name+" "+strconv.Itoa(cases), func(t *testing.T) {
				got := rejected(run(func(c int, o *check.Observation) {
					if c < cases && o.Stream() {
						spoil(o)
					}
				}))
				if _, ok := got["W10"]; !ok || len(got) != 1 {
					t.Errorf("rejected by %v, want W10 alone", keys(got))
				}
			})
		}
	}
}

func TestAFormThatWasTriedTooSeldomIsNotDecided(t *testing.T) {
	r := run(func(c int, o *check.Observation) {
		if c == 0 && o.Stream() {
			o.Judgement.Output = json.RawMessage(`{"a":2}`)
		}
	})
	r.Observations = r.Observations[:120] // as if nobody had asked again
	for _, res := range check.Judge(r) {
		if res.ID == "W10" && res.Verdict != check.Inconclusive {
			t.Errorf("W10 %s, want inconclusive", res.Verdict)
		}
	}
	if got := r.Undecided(); len(got) != 1 || got[0].Case != "A" {
		t.Errorf("undecided %v", got)
	}
}
