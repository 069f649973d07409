package certify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
)

// checks puts together what the checks look at.
func (o Options) checks(seen []*check.Observation) *check.Run {
	r := &check.Run{
		Protocol: o.Profile.Protocol, Observations: seen, Rules: map[string]check.Rule{}, Severities: map[string]check.Severity{},
		FirstByte: o.Contract.Budget.FirstByte, Keyed: o.Profile.Auth.Header != "", KeyOrder: orderOf(o.Contract).required,
	}
	r.Inconclusive, r.Delta = o.cap(), o.delta()
	r.Same = func(relation string, a, b json.RawMessage) bool {
		m := o.Contract.Relation(relation)
		return m != nil && m.Same(a, b)
	}
	if o.Contract.Mode == providers.ModeTool { // what a job asks for is a call: when it comes decides
		r.Severities["F06"] = check.Must
	}
	r.Threshold, _ = o.Contract.Plan.Lower95.Float64() // a bound between 0 and 1; empty is 0
	for id, s := range o.Contract.Severity {
		r.Severities[id] = check.Severity(s)
	}
	for _, rule := range o.Contract.Rules {
		r.Rules[rule.ID] = ruleFacts(rule)
	}
	return r
}

func ruleFacts(r contract.Rule) check.Rule {
	return check.Rule{
		Cross:         strings.Contains(r.Expr, "input.") || strings.Contains(r.Expr, "reference."),
		Normalisation: r.Tag == "normalisation",
		Quotation:     r.Tag == "quotation",
	}
}

// digest names a transcript by everything that came back, not by when.
func digest(t providers.Transcript) string {
	data, err := json.Marshal(struct {
		Protocol providers.Protocol  `json:"protocol"`
		Request  providers.Request   `json:"request"`
		Status   int                 `json:"status"`
		Header   map[string][]string `json:"header"`
		Body     string              `json:"body_sha256"`
		End      providers.End       `json:"end"`
	}{t.Protocol, t.Request, t.Status, t.Header, certificate.Hash(t.Body), t.End})
	if err != nil {
		return certificate.Hash(t.Body) // a request that JSON cannot hold was not sent
	}
	return certificate.Hash(data)
}

func digests(seen []*check.Observation) []string {
	list := make([]string, len(seen))
	for i, o := range seen {
		list[i] = o.Digest
	}
	return list
}

// root is over all that was answered in a run: the transcripts, and what a server
// showed of its prompts.
func (r *Report) root() string {
	return merkle(append(digests(r.Observations), answerDigests(r.shown)...))
}

// merkle is the root over digests in hex, in their order. Leaves and nodes are
// hashed apart, so that one cannot stand for the other.
func merkle(digests []string) string {
	level := make([][]byte, len(digests))
	for i, d := range digests {
		sum := sha256.Sum256(append([]byte{0}, d...))
		level[i] = sum[:]
	}
	if len(level) == 0 {
		return certificate.Hash(nil)
	}
	for len(level) > 1 {
		var up [][]byte
		for i := 0; i+1 < len(level); i += 2 {
			sum := sha256.Sum256(append(append([]byte{1}, level[i]...), level[i+1]...))
			up = append(up, sum[:])
		}
		if len(level)%2 == 1 {
			up = append(up, level[len(level)-1])
		}
		level = up
	}
	return hex.EncodeToString(level[0])
}
