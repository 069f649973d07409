package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// Prompt is what was seen of how the route renders prompts and counts tokens.
type Prompt struct {
	Report      *render.Report      // the requirements R1 to R20
	Oracle      string              // kind of the server that showed its prompts, empty for none
	Differences []render.Difference // between that server and the engines here
	Live        bool                // it is the provider's own
	Lost        string              // why that server could not be asked, or ""
	// Agrees says how the tokens that were stated for a prompt differ from those
	// that are counted here, or "".
	Agrees func(r providers.Request, stated int) string
}

const noPrompt = "the profile has no section prompt"

// rendered judges by requirements on the route's template, tokenizer and server.
// One that cannot look counts for nothing; where none can, the check does not
// apply.
func rendered(ids ...string) func(*Run, *tally) {
	return func(r *Run, t *tally) {
		if r.Prompt == nil {
			t.notApplicable = noPrompt
			return
		}
		if r.Prompt.Lost != "" {
			t.skip(r.Prompt.observation("the server", digest([]byte(r.Prompt.Lost))), r.Prompt.Lost)
			return
		}
		for _, id := range ids {
			t.requirement(r.Prompt, r.Prompt.Report.Result(id))
		}
		if len(t.groups) == 0 && t.notApplicable == "" {
			t.notApplicable = "nothing of it can be looked at"
		}
	}
}

// requirement counts one requirement as one case. What the profile declares, and
// what is worth knowing only, is noted and does not fail.
func (t *tally) requirement(p *Prompt, res render.Result) {
	if res.Verdict == render.NotApplicable {
		if len(t.groups) == 0 && t.notApplicable == "" {
			t.notApplicable = res.ID + ": " + res.Reason
		}
		return
	}
	var wrong []string
	for _, f := range res.Findings {
		switch {
		case f.Info:
			t.notes = append(t.notes, fmt.Sprintf("%s: %s", res.ID, f.Text))
		case f.Declared:
			t.notes = append(t.notes, fmt.Sprintf("%s %s, as declared: %s", res.ID, f.Deviation, f.Text))
		default:
			wrong = append(wrong, f.Text)
		}
	}
	data, _ := json.Marshal(res) // strings and booleans only
	o := p.observation(res.ID, digest(data))
	if res.Verdict == render.Fail {
		t.fail(o, res.ID, "the prompt", strings.Join(wrong[:min(len(wrong), 3)], "; "))
		return
	}
	t.pass(o)
}

func (p *Prompt) observation(of, digest string) *Observation {
	return &Observation{Probe: "prompt", Case: of, Replayed: !p.Live, Digest: digest}
}

// agrees compares the prompt tokens that an answer states with those counted here.
func (p *Prompt) agrees(o *Observation) string {
	if p == nil || p.Agrees == nil {
		return ""
	}
	return p.Agrees(o.Transcript.Request, int(*o.Response.Usage.Input))
}
