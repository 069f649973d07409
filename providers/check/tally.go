package check

import (
	"net/http"
	"slices"

	"github.com/interlock-harness/interlock/providers"
)

// tally counts what a check finds, by case.
type tally struct {
	check    Check
	groups   map[string]*group
	findings []Finding
	evidence []string
	replayed bool
	live     bool
	reason   string
	unclear  string // why cases are inconclusive
	fault    string // a fault of the run as a whole
	lower    *float64
	bar      *float64
	notes    []string

	notApplicable string   // why the check has nothing to say about this provider
	severity      Severity // where what was found weighs more than the check by itself
}

type group struct {
	tries           int
	failed, unclear bool
}

func newTally(c Check) *tally { return &tally{check: c, groups: map[string]*group{}} }

func (t *tally) see(o *Observation) *group {
	key := string(o.Probe) + " " + o.Case
	g := t.groups[key]
	if g == nil {
		g = &group{}
		t.groups[key] = g
	}
	g.tries++
	if o.Digest != "" && !slices.Contains(t.evidence, o.Digest) {
		t.evidence = append(t.evidence, o.Digest)
	}
	t.live = t.live || !o.Replayed
	t.replayed = !t.live
	return g
}

// bound sets what the verdict goes by where it is not the share of cases that
// passed.
func (t *tally) bound(lower, bar float64) { t.lower, t.bar = &lower, &bar }

// pass counts a transcript that is as it should be.
func (t *tally) pass(o *Observation) { t.see(o) }

// fail counts one that is not.
func (t *tally) fail(o *Observation, reason, place, detail string) {
	t.see(o).failed = true
	if len(t.findings) < mostFindings {
		t.findings = append(t.findings, Finding{
			Case: o.Case, Repeat: o.Repeat, Stream: o.Stream(), Reason: reason, Place: place, Detail: detail, Digest: o.Digest,
		})
	}
}

// skip counts one in which there was nothing to see.
func (t *tally) skip(o *Observation, why string) {
	t.see(o).unclear = true
	if t.unclear == "" {
		t.unclear = why
	}
}

// owned judges by ownership: a transcript fails when its fault belongs to this
// check, is skipped when its fault belongs to another one or nothing came back,
// and passes otherwise.
func owned(probes ...Probe) func(*Run, *tally) {
	return func(r *Run, t *tally) {
		for _, o := range r.of(probes...) {
			t.byOwner(o)
		}
	}
}

func (t *tally) byOwner(o *Observation) {
	switch {
	case o.owner == t.check.ID:
		t.fail(o, o.Judgement.Reason, o.Judgement.Place, o.Judgement.Detail)
	case o.lost:
		t.skip(o, "the provider could not be reached or did not answer: "+o.Judgement.Reason)
	case o.owner != "":
		t.skip(o, "hidden by "+o.owner)
	default:
		t.pass(o)
	}
}

// expect judges a probe by itself: right says whether an answer is as it should
// be and, if not, why.
func expect(probe Probe, right func(*Run, *Observation) (bool, string)) func(*Run, *tally) {
	return func(r *Run, t *tally) {
		for _, o := range r.of(probe) {
			switch {
			case busy(o):
				t.skip(o, "no answer came, or only that the provider is busy")
				continue
			case o.Transcript.End == providers.EndStall:
				t.skip(o, "hidden by L03")
				continue
			}
			ok, why := right(r, o)
			switch {
			case ok:
				t.pass(o)
			case o.owner != "" && o.owner != t.check.ID && r.common[o.owner]: // so it is without the probe, too
				t.skip(o, "hidden by "+o.owner)
			default:
				t.fail(o, o.Judgement.Reason, o.Judgement.Place, why)
			}
		}
	}
}

// busy reports an answer that says nothing about what was asked.
func busy(o *Observation) bool {
	s := o.Transcript.Status
	return s == 0 || (s == http.StatusTooManyRequests || s >= 500) && o.Probe != RateLimit && o.Probe != Overload
}
