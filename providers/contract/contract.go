// Package contract holds the operational contract of a task: what is asked (prompt
// template, parameters), what an answer must be (schema, rules), the cases it is
// tried on, and how much trying is enough.
//
// A contract is read from a folder `contracts/<id>/` of strict YAML and JSON
// files, or from one JSON file beside recorded exchanges. Everything in it is
// checked at loading: a contract that loads can be used. Templates only
// substitute, once, and reach no file; schema and rules are bounded.
package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/rule"
	"github.com/interlock-harness/interlock/providers/schema"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Contract is one contract at one version. It is not changed after loading and
// safe for concurrent use.
type Contract struct {
	ID      string
	Version string // semantic version
	Title   string
	Owner   string

	Mode providers.Mode
	Tool Tool

	SchemaName string // under which the schema travels
	System     Template
	User       Template
	Params     Params
	Budget     Budget

	Input  *schema.Schema // nil where any input is allowed
	Output *schema.Schema
	Closed bool // keys that the schema does not name are refused at any depth
	Rules  []Rule
	Cases  []Case // sorted by id

	Plan        Plan
	Valid       time.Duration     // life of a certificate; 0 stands for the default
	Must        []string          // checks that a certificate must have passed
	Severity    map[string]string // check id -> must, should or off
	Independent bool              // a fallback must have another upstream
	Languages   []string
	Metamorphic []Metamorphic

	digest string
}

// Tool is the one tool that is offered in mode tool.
type Tool struct {
	Name        string `yaml:"name" json:"name"`
	Description string `yaml:"description" json:"description"`
}

// Params are the sampling parameters. What is nil is not sent.
type Params struct {
	Temperature     *json.Number `yaml:"temperature"`
	MaxOutputTokens *int64       `yaml:"max_output_tokens"`
	Seed            *int64       `yaml:"seed"`
	Stop            []string     `yaml:"stop"`
	Stream          bool         `yaml:"stream"`
}

// Budget bounds what one call may take; 0 is no bound.
type Budget struct {
	FirstByte    time.Duration `yaml:"first_byte"`
	Total        time.Duration `yaml:"total"`
	InputTokens  int64         `yaml:"input_tokens"`
	OutputTokens int64         `yaml:"output_tokens"`
}

// Plan is how much a candidate is tried, registered before the run.
type Plan struct {
	Cases        int         `yaml:"cases"`        // at least so many
	Repeats      int         `yaml:"repeats"`      // of each case
	Lower95      json.Number `yaml:"lower95"`      // the one-sided 95 % lower bound must reach it
	Inconclusive json.Number `yaml:"inconclusive"` // share of calls that may be inconclusive; default 0.02
	Delta        json.Number `yaml:"delta"`        // points that a candidate may lose to the primary; default 3
	Sequential   bool        `yaml:"sequential"`   // may stop early (SPRT)
}

// Rule is a business rule. A rule of severity should does not change a verdict.
type Rule struct {
	*rule.Rule
	Text     string // what it asks, in words
	Tag      string // grounding: it compares with the reference
	Severity string // must (default) or should
}

// Case is one input with what is known about its right answer.
type Case struct {
	ID        string
	Title     string
	Input     any // as strictjson.Decode returns it
	Reference any // the right answer, for rules; nil where there is none
	Expected  any // the part of the answer that is certain, for checks; nil where there is none
	Tags      []string
	Language  string
	Needle    string // a text of the input that must be found again
}

// Ref is the name under which a job or a certificate refers to the contract.
func (c *Contract) Ref() string { return c.ID + "@" + c.Version }

// Digest is "sha256:" and the hash of what the contract says, in canonical form:
// comments and layout do not count, every value does.
func (c *Contract) Digest() string { return c.digest }

func digest(parts map[string]any) string {
	sum := sha256.Sum256(strictjson.AppendCanonical(nil, parts))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Case returns the case with the given id, or nil.
func (c *Contract) Case(id string) *Case {
	for i := range c.Cases {
		if c.Cases[i].ID == id {
			return &c.Cases[i]
		}
	}
	return nil
}

// Request renders the prompt for an input, a JSON object as strictjson.Decode
// returns it, and fills in schema, tool and parameters. The model is left to the
// profile. The error says what is wrong with the input.
func (c *Contract) Request(input any) (providers.Request, error) {
	if c.Input != nil {
		if f := c.Input.Check(input); f != nil {
			return providers.Request{}, fmt.Errorf("input%s: %s", at(f.Path), f.Detail)
		}
	}
	system, err := c.System.Render(input)
	if err != nil {
		return providers.Request{}, err
	}
	user, err := c.User.Render(input)
	if err != nil {
		return providers.Request{}, err
	}
	return providers.Request{
		System: system, User: user, Mode: c.Mode, Schema: c.Output.JSON(), SchemaName: c.SchemaName,
		ToolName: c.Tool.Name, ToolDescription: c.Tool.Description,
		Stream: c.Params.Stream, Temperature: c.Params.Temperature, MaxOutputTokens: c.Params.MaxOutputTokens,
		Seed: c.Params.Seed, Stop: c.Params.Stop,
	}, nil
}

func at(path string) string {
	if path == "" {
		return ""
	}
	return " at " + path
}

// schemaName is the id in the 64 characters that all providers take.
func schemaName(id string) string {
	out := []byte(id)
	for i, c := range out {
		if c == '.' {
			out[i] = '_'
		}
	}
	return string(out[:min(len(out), 64)])
}

// Broken is a rule that an output does not meet.
type Broken struct {
	Rule Rule
	Why  string
}

// Verify checks a decoded output against schema and rules, in that order. At most
// one of the results is set; both nil means that the output is good. Input and
// reference may be nil: rules that mention them then do not apply.
func (c *Contract) Verify(input, output, reference any) (*schema.Fault, *Broken) {
	if f := c.CheckOutput(output); f != nil {
		return f, nil
	}
	var data *rule.Data
	for _, r := range c.Rules {
		if r.Severity == should {
			continue
		}
		if data == nil {
			data = rule.NewData(input, output, reference)
		}
		if !r.Applies(data) {
			continue
		}
		if err := r.Holds(data); err != nil {
			return nil, &Broken{r, err.Error()}
		}
	}
	return nil, nil
}

// CheckOutput checks a decoded output against the schema alone.
func (c *Contract) CheckOutput(output any) *schema.Fault {
	if f := c.Output.Check(output); f != nil {
		return f
	}
	if c.Closed {
		if keys := c.Output.Invented(output); len(keys) > 0 {
			return &schema.Fault{Reason: schema.ExtraKey, Path: keys[0], Keyword: "closed", Detail: "the schema names no such key"}
		}
	}
	return nil
}

// AllBroken evaluates every rule, whatever its severity.
func (c *Contract) AllBroken(input, output, reference any) []Broken {
	var out []Broken
	data := rule.NewData(input, output, reference)
	for _, r := range c.Rules {
		if r.Applies(data) {
			if err := r.Holds(data); err != nil {
				out = append(out, Broken{r, err.Error()})
			}
		}
	}
	return out
}
