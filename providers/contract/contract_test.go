package contract_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

const (
	main = `id: order
version: 1.2.0
title: Read an order
owner: sales
input:
  text: string
prompt:
  system: Answer in JSON.
  user: "Order: {{text}} ({{ input.text }})"
params:
  temperature: "0"
  max_output_tokens: 100
plan: {cases: 1, repeats: 8, lower95: 0.90}
valid: 336h
`
	output = `{"type":"object","additionalProperties":false,"required":["total","lines"],
	"properties":{"total":{"type":"integer"},"lines":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}}`
	rules = `rules:
  - id: total
    text: the total is the sum
    expr: output.total == sum(output.lines.map(l, l.n))
  - id: business.same
    text: as the reference
    tag: grounding
    expr: output.total == reference.total
  - id: small
    text: small totals are better
    severity: should
    expr: output.total < 100
`
	oneCase = `id: one
language: ml
tags: [x]
input:
  text: "രണ്ട് {{text}}"
reference: {total: 3, lines: [{n: 1}, {n: 2.0}]}
`
)

func files(change ...string) fstest.MapFS {
	all := map[string]string{"contract.yaml": main, "output.schema.json": output, "rules.cel.yaml": rules, "cases/one.yaml": oneCase}
	for i := 0; i < len(change); i += 2 {
		all[change[i]] = change[i+1]
	}
	fsys := fstest.MapFS{}
	for name, text := range all {
		if text != "absent" {
			fsys["contracts/order/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return fsys
}

func decode(t testing.TB, in string) any {
	t.Helper()
	v, err := strictjson.Decode([]byte(in), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func load(t testing.TB, fsys fs.FS) *contract.Contract {
	t.Helper()
	c, err := contract.Load(fsys, "contracts/order")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadReadsAFolder(t *testing.T) {
	c := load(t, files())
	if c.Ref() != "order@1.2.0" || c.Mode != providers.ModeJSONSchema || c.Plan.Lower95 != "0.90" || c.Valid != 14*24*time.Hour || len(c.Rules) != 3 {
		t.Errorf("%+v", c)
	}
	r, err := c.Request(c.Case("one").Input)
	if err != nil {
		t.Fatal(err)
	}
	if r.User != "Order: രണ്ട് {{text}} (രണ്ട് {{text}})" || r.System != "Answer in JSON." || *r.Temperature != "0" || *r.MaxOutputTokens != 100 || r.SchemaName != "order" {
		t.Errorf("%+v", r)
	}
	if _, err := c.Request(map[string]any{"txt": "x"}); err == nil {
		t.Error("an input of another shape is taken")
	}
}

func TestVerifyInTheOrderOfSchemaAndRules(t *testing.T) {
	c := load(t, files())
	ref := c.Case("one").Reference
	for in, want := range map[string]string{
		`{"total":3,"lines":[{"n":3.0}]}`:         "",
		`{"total":"3","lines":[]}`:                "schema wrong_type",
		`{"total":4,"lines":[{"n":3}]}`:           "business.total",
		`{"total":4,"lines":[{"n":4}]}`:           "business.same",
		`{"total":3,"lines":[{"n":3,"note":""}]}`: "schema extra_key", // the schema left it open, the contract is closed
	} {
		fault, broken := c.Verify(map[string]any{"text": "x"}, decode(t, in), ref)
		got := ""
		if fault != nil {
			got = "schema " + string(fault.Reason)
		} else if broken != nil {
			got = broken.Rule.ID
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	big := decode(t, `{"total":400,"lines":[{"n":400}]}`)
	if fault, broken := c.Verify(nil, big, nil); fault != nil || broken != nil {
		t.Errorf("without a reference: %v %v", fault, broken)
	}
	if all := c.AllBroken(nil, big, ref); len(all) != 2 || all[1].Rule.ID != "business.small" {
		t.Errorf("all broken: %v", all)
	}
}

func TestDigestCoversMeaning(t *testing.T) {
	same := load(t, files("contract.yaml", "# a note\n"+strings.ReplaceAll(main, `"0"`, `'0'`), "output.schema.json", " "+output))
	if c := load(t, files()); same.Digest() != c.Digest() || len(c.Digest()) != 7+64 {
		t.Errorf("%s and %s", same.Digest(), c.Digest())
	}
	for name, change := range map[string][2]string{
		"contract.yaml":      {main, strings.Replace(main, "sales", "sale", 1)},
		"output.schema.json": {output, strings.Replace(output, "integer", "number", 1)},
		"rules.cel.yaml":     {rules, strings.Replace(rules, "100", "101", 1)},
		"cases/one.yaml":     {oneCase, strings.Replace(oneCase, "രണ്ട്", "രണ്ട", 1)},
		"cases/two.yaml":     {"", "input: {text: two}\n"},
	} {
		if load(t, files(name, change[1])).Digest() == same.Digest() {
			t.Errorf("a change of %s is not seen", name)
		}
	}
}

func TestLoadRefusesInOneSentence(t *testing.T) {
	with := func(line string) string { return main + line + "\n" }
	tests := []struct{ name, file, text, want string }{
		{"no contract.yaml", "contract.yaml", "absent", "contract.yaml: cannot be read: there is no such file"},
		{"no schema", "output.schema.json", "absent", "output.schema.json: cannot be read"},
		{"unknown field", "contract.yaml", with("tempalte: x"), `contract.yaml:15: unknown field "tempalte"`},
		{"misspelt field", "rules.cel.yaml", strings.Replace(rules, "expr:", "exprs:", 1), "rules.cel.yaml:4: unknown field \"exprs\": did you mean expr?"},
		{"file in a template", "contract.yaml", strings.Replace(main, "{{text}}", "{{../../../etc/passwd}}", 1), "only places such as"},
		{"include", "contract.yaml", strings.Replace(main, "Answer in JSON.", `'{% include "/etc/passwd" %}'`, 1), "only places such as"},
		{"loop", "contract.yaml", strings.Replace(main, "Answer in JSON.", `'{{range .}}x{{end}}'`, 1), "only places such as"},
		{"unclosed place", "contract.yaml", strings.Replace(main, "{{text}}", "{{text", 1), "only places such as"},
		{"other folder", "contract.yaml", strings.Replace(main, "id: order", "id: ordre", 1), "does not match the folder"},
		{"id with a hidden character", "contract.yaml", strings.Replace(main, "id: order", "id: or\u200bder", 1), "U+200B"},
		{"id with a capital", "contract.yaml", strings.Replace(main, "id: order", "id: Order", 1), "small letters"},
		{"version", "contract.yaml", strings.Replace(main, "1.2.0", "v1", 1), "no semantic version"},
		{"mode", "contract.yaml", with("mode: text"), "there are json_schema and tool"},
		{"tool without name", "contract.yaml", with("mode: tool"), "tool name"},
		{"severity", "contract.yaml", with("severity: {S08: high}"), "there are must, should and off"},
		{"input type", "contract.yaml", strings.Replace(main, "text: string", "text: text", 1), "there are string"},
		{"no user prompt", "contract.yaml", "id: order\nversion: 1.0.0\n", "no user text"},
		{"schema refers to a file", "output.schema.json", `{"$ref":"file:///etc/hostname"}`, "only references inside"},
		{"schema of a misspelt type", "output.schema.json", `{"type":"objct"}`, "output.schema.json: schema: at"},
		{"rule that is text", "rules.cel.yaml", "rules: [{id: a, expr: \"'x'\"}]\n", "gives string"},
		{"rule over an unknown variable", "rules.cel.yaml", "rules: [{id: a, expr: otput.x == 1}]\n", "undeclared reference"},
		{"rule twice", "rules.cel.yaml", "rules: [{id: a, expr: 1 == 1}, {id: business.a, expr: 1 == 1}]\n", "stands there twice"},
		{"rule severity", "rules.cel.yaml", "rules: [{id: a, expr: 1 == 1, severity: may}]\n", "there are must and should"},
		{"case without input", "cases/one.yaml", "reference: {total: 1}\n", "no input"},
		{"case of another id", "cases/one.yaml", strings.Replace(oneCase, "id: one", "id: two", 1), "does not match the name of the file"},
		{"case of another shape", "cases/one.yaml", "input: {txt: a}\n", "input at /text: the key"},
		{"reference breaks the schema", "cases/one.yaml", strings.Replace(oneCase, "total: 3", "total: x", 1), "the reference breaks the schema at /total"},
		{"reference breaks a rule", "cases/one.yaml", strings.Replace(oneCase, "total: 3", "total: 4", 1), "the reference breaks rule business.total"},
		{"date unquoted", "cases/one.yaml", strings.Replace(oneCase, "total: 3", "total: 2026-01-01", 1), "cases/one.yaml:6: the value: 2026-01-01 is a date for some readers: quote it"},
		{"two megabytes", "cases/one.yaml", "input: {text: \"" + strings.Repeat("x", 2<<20) + "\"}\n", "more than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := contract.Load(files(tt.file, tt.text), "contracts/order")
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "contracts/order/") || len(err.Error()) > 300 {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLoadFollowsNoLinkOutOfItsRoot(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(outside, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "contracts", "order")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "contract.yaml"), []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "output.schema.json")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if _, err := contract.Load(root.FS(), "contracts/order"); err == nil || !strings.Contains(err.Error(), "output.schema.json") {
		t.Errorf("got %v", err)
	}
}

func TestShippedContractsLoad(t *testing.T) {
	all, err := contract.LoadAll(fixtures.FS, "contracts")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 {
		t.Fatalf("%d contracts", len(all))
	}
	for id := range all {
		if _, findings, err := contract.Lint(fixtures.FS, "contracts/"+id); err != nil || len(findings) > 0 {
			t.Errorf("%s: %v %v", id, findings, err)
		}
	}
}

func TestLintNamesWhatIsLikelyWrong(t *testing.T) {
	_, findings, err := contract.Lint(files("contract.yaml", strings.ReplaceAll(strings.Replace(main, "cases: 1", "cases: 5", 1), "\n", "\r\n"),
		"cases/two.yaml", strings.Replace(oneCase, "id: one", "id: two", 1)), "contracts/order")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range findings {
		got = append(got, f.File+" "+f.Place+" "+f.Text)
	}
	for _, want := range []string{"the object is open", "the plan wants 5 cases, there are 2", "asks the same as case one", "lines end in CR LF"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("no finding %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if n := len(load(t, files()).LintFor(providers.OpenAIChat)); n == 0 {
		t.Error("openai-chat enforces an open object?")
	}
}

func TestParseReadsTheFileBesideExchanges(t *testing.T) {
	in := `{"name":"order","about":"x","input":{"system":"S","user":"U {{x}}"},"tool":{"name":"put","parameters":"the schema"},
		"schema":` + output + `,"reference":{"total":3,"lines":[{"n":3}]},"rules":[{"id":"business.total","text":"t","cel":"output.total == reference.total"}],"reading":["..."]}`
	c, err := contract.Parse("_contract.json", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Request(c.Cases[0].Input)
	if err != nil || r.User != "U {{x}}" || r.ToolName != "put" || c.ID != "order" || c.Closed {
		t.Errorf("%+v %v %+v", r, err, c)
	}
	if _, broken := c.Verify(nil, decode(t, `{"total":4,"lines":[]}`), c.Cases[0].Reference); broken == nil || broken.Rule.ID != "business.total" {
		t.Errorf("%v", broken)
	}
	for bad, want := range map[string]string{
		`[]`: "is a JSON object", `{`: "ends", `{}`: "no schema", `{"schema":{},"rules":{}}`: "rules must be a list", `{"schema":{},"rules":[1]}`: "rules[0]: a rule is",
		`{"schema":{},"rules":[{"id":"a"}]}`: "rules[0]: a rule is", `{"schema":{},"rules":[{"id":"a","cel":"x"}]}`: "undeclared", `{"schema":{"type":1}}`: "schema: at",
		`{"schema":{},"schema":{}}`: "twice", `{"schema":5}`: "schema", `{"schema":{},"name":5}`: "name must be a text",
	} {
		_, err := contract.Parse("_contract.json", []byte(bad))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "_contract.json: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
}
