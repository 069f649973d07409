package contract

import (
	"fmt"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/schema"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// ReferenceCase is the id of the one case of a contract that is read from a file.
const ReferenceCase = "reference"

// Parse reads a contract from one JSON file, the form that stands beside recorded
// exchanges: name, input, schema, reference, rules (id, text, cel) and tool. Other
// members are notes. The one case is called ReferenceCase.
func Parse(file string, data []byte) (*Contract, error) {
	v, err := strictjson.Decode(data, strictjson.Limits{MaxDepth: 128, AllowNUL: true})
	if err != nil {
		return nil, &Error{file, err.Error()}
	}
	c, err := parse(v)
	if err != nil {
		return nil, &Error{file, err.Error()}
	}
	c.digest = digest(map[string]any{"contract.json": v})
	return c, nil
}

func parse(v any) (*Contract, error) {
	root, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a contract is a JSON object")
	}
	source, there := root["schema"]
	if !there {
		return nil, fmt.Errorf("the contract has no schema")
	}
	c := &Contract{Version: "0.0.0", Mode: providers.ModeJSONSchema}
	var err error
	if c.Output, err = schema.Compile(strictjson.AppendCanonical(nil, source)); err != nil {
		return nil, err
	}
	if c.ID, err = text(root, "name"); err != nil {
		return nil, err
	}
	c.SchemaName = "output"
	if toolForm.MatchString(schemaName(c.ID)) {
		c.SchemaName = schemaName(c.ID)
	}
	if version, ok := root["version"].(string); ok && versionForm.MatchString(version) {
		c.Version = version
	}
	if tool, ok := root["tool"].(map[string]any); ok {
		if c.Tool.Name, err = text(tool, "name"); err != nil {
			return nil, fmt.Errorf("tool: %w", err)
		}
		if c.Tool.Description, err = text(tool, "description"); err != nil {
			return nil, fmt.Errorf("tool: %w", err)
		}
	}
	rules, ok := root["rules"].([]any)
	if !ok && root["rules"] != nil {
		return nil, fmt.Errorf("rules must be a list")
	}
	for i, r := range rules {
		if err := c.parseRule(r); err != nil {
			return nil, fmt.Errorf("rules[%d]: %w", i, err)
		}
	}
	input := root["input"]
	if prompt, ok := input.(map[string]any); ok { // the prompt as it was sent: nothing is substituted
		c.System = literal(prompt["system"])
		c.User = literal(prompt["user"])
	}
	c.Cases = []Case{{ID: ReferenceCase, Input: input, Reference: root["reference"]}}
	return c, nil
}

func literal(v any) Template {
	s, _ := v.(string)
	return Template{text: s, parts: []part{{literal: s}}}
}

func (c *Contract) parseRule(v any) error {
	r, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("a rule is an object with id and cel")
	}
	d := ruleDocument{}
	for name, to := range map[string]*string{"id": &d.ID, "text": &d.Text, "tag": &d.Tag, "severity": &d.Severity} {
		var err error
		if *to, err = text(r, name); err != nil {
			return err
		}
	}
	var err error
	if d.Expr, err = text(r, "cel"); err == nil && d.Expr == "" {
		d.Expr, err = text(r, "expr")
	}
	if err != nil {
		return err
	}
	if d.ID == "" || d.Expr == "" {
		return fmt.Errorf("a rule is an object with id and cel")
	}
	return c.addRule(d)
}

// text is a member that is a string or absent.
func text(object map[string]any, name string) (string, error) {
	v, there := object[name]
	if !there || v == nil {
		return "", nil
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s must be a text", name)
	}
	return s, nil
}
