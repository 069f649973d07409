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
}

// Watch compares the answers of a provider in use with the baseline of its
// certificate. It is safe for use by many at once.
//
// Another model or another build than those that were certified, or another number
// of tokens for the same prompt (another template or tokenizer), is suspect at the
// first answer. Answers that break the contract are suspect when they are more
// than chance would bring: a sequential test between the rate of a good provider
// and that of a bad one. An answer without a verdict says nothing.
type Watch struct {
	served, builds []string
	promptSize     map[string]int

	mu    sync.Mutex
	score float64
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
	return &Watch{served: append(slices.Clone(p.Served), also...), builds: p.Fingerprints, promptSize: p.Baseline.PromptSize}
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
	return d.quality(l.Verdict)
}

func (d *Watch) quality(v providers.Verdict) string {
	d.mu.Lock()
	defer d.mu.Unlock()
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
