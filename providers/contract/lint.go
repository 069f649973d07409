package contract

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/schema"
	"github.com/interlock-harness/interlock/providers/strictyaml"
)

// Finding is something in a contract that loads and is still likely wrong, or
// that a protocol cannot hold a provider to.
type Finding struct {
	File     string
	Place    string             // JSON pointer, rule or case; may be empty
	Protocol providers.Protocol // where it concerns one protocol only
	Text     string
}

// Lint looks over the contract in folder dir. An error means that it does not
// load at all; findings are remarks about one that does.
func Lint(fsys fs.FS, dir string) (*Contract, []Finding, error) {
	c, err := Load(fsys, dir)
	if err != nil {
		return nil, nil, err
	}
	out := c.Lint()
	err = fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for _, r := range strictyaml.Remarks(data) {
			out = append(out, Finding{File: name, Text: r})
		}
		return nil
	})
	if err != nil {
		return nil, nil, &Error{dir, "cannot be read: " + reason(err)}
	}
	for i := range out {
		if path.Dir(out[i].File) == "." {
			out[i].File = path.Join(dir, out[i].File)
		}
	}
	return c, out, nil
}

// Lint names what is likely wrong with the contract, whatever the provider.
func (c *Contract) Lint() []Finding {
	var out []Finding
	add := func(file string, list []schema.Finding) {
		for _, f := range list {
			out = append(out, Finding{File: file, Place: f.Path, Text: f.Text})
		}
	}
	add("output.schema.json", c.Output.Lint())
	if c.Input != nil {
		add("input.schema.json", c.Input.Lint())
	}
	for _, r := range c.Rules {
		if r.Text == "" {
			out = append(out, Finding{File: "rules.cel.yaml", Place: r.ID, Text: "the rule does not say in words what it asks"})
		}
	}
	if len(c.Cases) < c.Plan.Cases {
		out = append(out, Finding{File: "contract.yaml", Place: "/plan/cases", Text: fmt.Sprintf("the plan wants %d cases, there are %d", c.Plan.Cases, len(c.Cases))})
	}
	seen := map[string]string{}
	for _, k := range c.Cases {
		prompt, err := c.Request(k.Input)
		if err != nil {
			continue // Load has refused it
		}
		if first, twice := seen[prompt.User]; twice {
			out = append(out, Finding{File: "cases/" + k.ID + ".yaml", Text: "asks the same as case " + first})
		}
		seen[prompt.User] = k.ID
	}
	return out
}

// LintFor names what a protocol cannot enforce of the contract.
func (c *Contract) LintFor(p providers.Protocol) []Finding {
	var out []Finding
	for _, f := range c.Output.LintFor(string(p)) {
		out = append(out, Finding{File: "output.schema.json", Place: f.Path, Protocol: p, Text: f.Text})
	}
	unsupported := func(param string) {
		out = append(out, Finding{File: "contract.yaml", Place: "/params/" + param, Protocol: p, Text: fmt.Sprintf("%s has no field for %s", p, param)})
	}
	if c.Params.Seed != nil && (p == providers.OpenAIResponses || p == providers.AnthropicMessages || p == providers.BedrockConverse) {
		unsupported("seed")
	}
	if len(c.Params.Stop) > 0 && p == providers.OpenAIResponses {
		unsupported("stop")
	}
	if c.Params.Stream && p == providers.BedrockConverse {
		unsupported("stream")
	}
	return out
}
