package certify

import (
	"encoding/json"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/prompt/live"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// PromptPlan is what will be looked at of how the route renders prompts.
type PromptPlan struct {
	Template     string   `json:"template_sha256"`
	Tokenizer    string   `json:"tokenizer_sha256"`
	Oracle       string   `json:"oracle,omitempty"` // kind of the server that is asked
	Requirements []string `json:"requirements"`     // each has its questions, fixed by the suite
	// Compared are the digests of the conversations whose text and ids the server is
	// asked for, beside ours; Counted of those whose tokens it counts.
	Compared []string `json:"compared,omitempty"`
	Counted  []string `json:"counted,omitempty"`
}

// promptPlan is nil where the profile says nothing about prompts.
func (o Options) promptPlan() (*PromptPlan, error) {
	if o.Prompt == nil {
		return nil, nil
	}
	p := &PromptPlan{
		Template: o.Prompt.Profile.TemplateSHA256, Tokenizer: o.Prompt.Profile.Tokenizer.SHA256,
		Oracle: o.Prompt.Profile.Oracle, Requirements: render.IDs(),
	}
	requests, err := o.requests()
	if err != nil {
		return nil, err
	}
	switch {
	case p.Oracle == "":
	case counting(p.Oracle, live.Client{}) != nil:
		for _, r := range requests {
			p.Counted = append(p.Counted, conversationDigest(render.FromRequest(r)))
		}
	default:
		for _, c := range o.conversations(p.Oracle, requests) {
			p.Compared = append(p.Compared, conversationDigest(c))
		}
	}
	return p, nil
}

// conversationDigest is over all but the day on which it is held.
func conversationDigest(c render.Conversation) string {
	c.Now = time.Time{}
	data, err := json.Marshal(c)
	if err != nil {
		panic("certify: " + err.Error()) // strings, numbers and booleans only
	}
	return certificate.Hash(data)
}
