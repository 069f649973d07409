package check

import (
	"github.com/interlock-harness/interlock/providers"
)

// u01 demands token counts that add up: stated in streams too, not negative, and
// the total no other than the sum of its parts. Where the profile says how prompts
// are counted, those of the prompt are compared with our own (R18).
var u01 = Check{
	ID: "U01", Title: "usage is stated, adds up and is not negative",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: func(r *Run, t *tally) {
		if r.Prompt != nil && r.Prompt.Lost == "" {
			t.requirement(r.Prompt, r.Prompt.Report.Result("R18")) // of a server that counts prompts
		}
		for _, o := range r.of(Base, Other) {
			switch u := o.Response.Usage; {
			case o.lost || o.owner != "" && o.owner[0] == 'W':
				t.skip(o, "no usage to look at")
			case u == nil || u.Input == nil || u.Output == nil:
				t.fail(o, "usage.absent", o.Response.At.Usage, "the answer states no usage")
			case *u.Input < 0 || *u.Output < 0:
				t.fail(o, "usage.negative", o.Response.At.Usage, "a count is negative")
			case u.Total != nil && *u.Total < *u.Input+*u.Output:
				t.fail(o, "usage.total", o.Response.At.Usage, "the total is less than its parts")
			case u.Total != nil && exactTotal[r.Protocol] && *u.Total != *u.Input+*u.Output:
				t.fail(o, "usage.total", o.Response.At.Usage, "the total is not the sum of its parts")
			default:
				if differ := r.Prompt.agrees(o); differ != "" {
					t.fail(o, "usage.differs", o.Response.At.Usage, differ)
					continue
				}
				t.pass(o)
			}
		}
	},
}

// exactTotal are the protocols whose total has no further part (others add
// thoughts or cached tokens).
var exactTotal = map[providers.Protocol]bool{
	providers.OpenAIChat: true, providers.OpenAIResponses: true, providers.MistralChat: true, providers.VLLMChat: true, providers.LlamaCppChat: true, providers.BedrockConverse: true,
}
