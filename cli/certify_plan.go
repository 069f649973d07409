package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
)

// price of a million tokens, in whatever currency the caller thinks in; 0 where he
// did not say.
type price struct{ input, output float64 }

func (p price) known() bool { return p.input > 0 || p.output > 0 }

func (p price) of(input, output int64) float64 {
	return (p.input*float64(input) + p.output*float64(output)) / 1e6
}

// showPlan is what --dry-run says.
func (c *certification) showPlan(o certify.Options) error {
	plan, err := certify.DryRun(o)
	if err != nil {
		return usagef("%v", err)
	}
	sent := 0
	for _, k := range plan.Calls {
		if o.Mode == certificate.Live && !k.Play {
			sent++
		}
	}
	primary := 0
	if o.Mode == certificate.Live && o.Primary != nil {
		primary = 2 * plan.Cases
	}
	more := 2 * check.FormTries * plan.FollowUp.Cases
	input, output := o.Tokens(plan)
	if c.s.json {
		line := map[string]any{
			"type": "plan", "requests": len(plan.Calls), "to_provider": sent, "to_primary": primary, "follow_up_at_most": more,
			"cases": plan.Cases, "repeats": plan.Repeats,
			"input_tokens_about": input, "output_tokens_at_most": output, "plan_sha256": plan.SHA256,
		}
		if oracle := promptOracle(o); oracle != "" {
			line["prompts_asked_of"] = oracle
		}
		if c.price.known() {
			line["cost_at_most"] = c.price.of(input, output)
		}
		if err := json.NewEncoder(c.s.out).Encode(line); err != nil {
			return infrastructuref("write: %v", err)
		}
		return nil
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%s against %s: %d requests, %d of them to the provider itself\n", c.profile.Name, c.facts.Name(), len(plan.Calls), sent)
	if primary > 0 {
		_, _ = fmt.Fprintf(&b, "  %d more to the primary, %s\n", primary, o.Primary.Profile.Name)
	}
	if oracle := promptOracle(o); oracle != "" {
		_, _ = fmt.Fprintf(&b, "  its endpoints for prompts (%s) are asked besides: some hundred questions that generate nothing\n", oracle)
	}
	_, _ = fmt.Fprintf(&b, "  at most %d more where streamed and whole answers differ\n", more)
	_, _ = fmt.Fprintf(&b, "  %d cases, %d times each, %d checks\n", plan.Cases, plan.Repeats, len(plan.Checks))
	_, _ = fmt.Fprintf(&b, "  about %d input tokens; at most %d output tokens\n", input, output)
	if c.price.known() {
		_, _ = fmt.Fprintf(&b, "  cost at most %.2f, at %g and %g a million tokens\n", c.price.of(input, output), c.price.input, c.price.output)
	} else {
		b.WriteString("  cost: add --price-input and --price-output, the prices of a million tokens\n")
	}
	b.WriteString("Nothing was sent. Leave --dry-run out to run it.\n")
	_, err = fmt.Fprint(c.s.out, printable(b.String()))
	return err
}

// promptOracle is the kind of server that is asked about prompts, "" for none.
func promptOracle(o certify.Options) string {
	if o.Mode != certificate.Live || o.Prompt == nil {
		return ""
	}
	return o.Prompt.Profile.Oracle
}
