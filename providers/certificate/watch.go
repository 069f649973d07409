package certificate

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/interlock-harness/interlock/providers"
)

// Sighting is what one answer of a provider in use says about who made it.
type Sighting struct {
	Model       string // as the answer states it; empty for none
	Fingerprint string // of the build; empty for none
	Case        string // of the contract, where the job asked exactly what a case asks; else empty
	PromptSize  *int64 // tokens of the prompt, as counted by the provider
	Verdict     providers.Verdict
	Finish      string // word of the protocol by which the answer ended; empty where a job has parameters of its own
	Structure   string // of the output, see Structure; empty for none
	Canary      bool   // asked by the service itself, one case of the contract after the other
}

// Watch compares the answers of a provider in use with the baseline of its
// certificate. It is safe for use by many at once.
//
// Another model or another build than those that were certified, or another number
// of tokens for the same prompt (another template or tokenizer), is suspect at the
// first answer. Answers that break the contract are suspect when they are more
// than chance would bring: a sequential test between the rate of a good provider
// and that of a bad one. So are accepted answers that end with other finish words,
// and canaries of other structures, than those of the run (see mix). The structures
// of other answers follow from what they were asked, and are not compared. An
// answer without a verdict says nothing.
type Watch struct {
	served, builds []string
	promptSize     map[string]int

	mu        sync.Mutex
	score     float64
	finish    mix
	structure mix
}

// Rates and errors of the test for broken answers. Four broken answers in a row are
// enough, and one in fifty is never.
const (
	liveGood  = 0.98  // share of answers that a good provider gets accepted
	liveBad   = 0.85  // and a bad one
	liveAlpha = 0.001 // chance to suspect a good one
	liveBeta  = 0.05
)

// NewWatch starts from what a certificate states; also are further model ids that
// the profile allows.
func NewWatch(p Predicate, also ...string) *Watch {
	return &Watch{
		served: append(slices.Clone(p.Served), also...), builds: p.Fingerprints, promptSize: p.Baseline.PromptSize,
		finish: mix{baseline: p.Baseline.Finish}, structure: mix{baseline: p.Baseline.Structure},
	}
}

// Observe takes one answer. It returns why the provider is suspect, or "".
func (d *Watch) Observe(l Sighting) string {
	switch {
	case l.Model != "" && len(d.served) > 0 && !slices.Contains(d.served, l.Model):
		return fmt.Sprintf("an answer names the model %s; certified was %s", shown(l.Model), shown(d.served[0]))
	case l.Fingerprint != "" && len(d.builds) > 0 && !slices.Contains(d.builds, l.Fingerprint):
		return fmt.Sprintf("an answer names the build %s; certified was %s", shown(l.Fingerprint), shown(d.builds[0]))
	}
	if want, known := d.promptSize[l.Case]; known && l.PromptSize != nil && *l.PromptSize != int64(want) {
		return fmt.Sprintf("the prompt of case %s has %d tokens now; it had %d when it was certified", shown(l.Case), *l.PromptSize, want)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.quality(l.Verdict); why != "" || l.Verdict != providers.Accept {
		return why
	}
	if l.Finish != "" && d.finish.observe(l.Finish) {
		return "its answers end with other finish words than when it was certified: " + d.finish.change
	}
	if l.Canary && l.Structure != "" && d.structure.observe(l.Structure) {
		return "its answers to the cases of the contract have other structures than when it was certified: " + d.structure.change
	}
	return ""
}

func (d *Watch) quality(v providers.Verdict) string {
	switch v {
	case providers.Accept:
		d.score += math.Log(liveBad / liveGood)
	case providers.Reject:
		d.score += math.Log((1 - liveBad) / (1 - liveGood))
	default:
		return ""
	}
	if d.score <= math.Log(liveBeta/(1-liveAlpha)) { // as good as certified: begin anew
		d.score = 0
	}
	if d.score < math.Log((1-liveBeta)/liveAlpha) {
		return ""
	}
	d.score = 0
	return "more of its answers break the contract than those of a certified provider do"
}

// Suspects tells whether a provider is suspected to have changed.
func (g *Gate) Suspects(profile string) bool {
	_, suspected := g.evidence.Suspected[profile]
	return suspected
}

// Deciding returns what the certificate states that decides about a profile and a
// contract (id or id@version), and the digest of its signed bytes; false where none
// does.
func (g *Gate) Deciding(profile, contract string) (Predicate, string, bool) {
	c, _ := g.contract(contract)
	var newest *entry
	for _, e := range g.byRoute[profile+" "+c.Name()] {
		if e.denied == nil && (newest == nil || newer(e, newest) > 0) {
			newest = e
		}
	}
	if newest == nil {
		return Predicate{}, "", false
	}
	return newest.statement.Predicate, newest.digest, true
}
