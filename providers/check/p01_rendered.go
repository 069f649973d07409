package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// p01 looks at the frame of a prompt and at all that goes into it, and where a
// server shows its prompts, whether they are those of the engines here. A
// difference that another check explains belongs to that one.
var p01 = Check{
	ID: "P01", Title: "a prompt renders as the contract means it",
	Kind: Relational, Severity: Must,
	judge: func(r *Run, t *tally) {
		rendered(frame...)(r, t)
		if p := r.Prompt; p != nil && p.Oracle != "" && p.Lost == "" {
			t.shown(p)
		}
	},
}

// frame are the requirements on a prompt as a whole: beginning, header of the
// answer, tools, calls, absent and parted content, clock, tokenizer, limits.
var frame = []string{"R6", "R7", "R9", "R10", "R11", "R12", "R14", "R19", "R20"}

func (t *tally) shown(p *Prompt) {
	data, _ := json.Marshal(p.Differences)
	o := p.observation("as "+p.Oracle+" shows it", digest(data))
	if len(p.Differences) == 0 {
		t.pass(o)
		return
	}
	explains := []string{"R1", "R2", "R3", "R8", "R13"} // a difference of texts
	if !slices.ContainsFunc(p.Differences, func(d render.Difference) bool { return d.What != "ids" }) {
		explains = append(explains, "R4", "R5", "R16")
	}
	for _, res := range p.Report.Results {
		if res.Verdict == render.Fail && slices.Contains(explains, res.ID) {
			t.skip(o, "hidden by "+res.ID+": "+res.Title)
			return
		}
	}
	var differ []string
	for _, d := range p.Differences[:min(len(p.Differences), 3)] {
		differ = append(differ, fmt.Sprintf("conversation %d, %s: %s", d.Conversation, d.What, d.Detail))
	}
	t.fail(o, "prompt.differs", "the prompt", strings.Join(differ, "; "))
}
