package contract

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/rule"
	"github.com/interlock-harness/interlock/providers/schema"
	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/providers/strictyaml"
)

const (
	must   = "must"
	should = "should"

	maxFile  = 1 << 20
	maxCases = 10_000
)

// Error is what is wrong with a contract, in one sentence, and in which file.
type Error struct {
	File string
	Text string
}

func (e *Error) Error() string { return e.File + ": " + e.Text }

// document is contract.yaml.
type document struct {
	ID         string            `yaml:"id"`
	Version    string            `yaml:"version"`
	Title      string            `yaml:"title"`
	Owner      string            `yaml:"owner"`
	Mode       string            `yaml:"mode"`
	SchemaName string            `yaml:"schema_name"`
	Tool       *Tool             `yaml:"tool"`
	Input      map[string]string `yaml:"input"` // field -> JSON type; richer inputs have input.schema.json
	Prompt     struct {
		System string `yaml:"system"`
		User   string `yaml:"user"`
	} `yaml:"prompt"`
	Params      Params            `yaml:"params"`
	Budget      Budget            `yaml:"budget"`
	Plan        Plan              `yaml:"plan"`
	Valid       time.Duration     `yaml:"valid"`
	Must        []string          `yaml:"must"`
	Severity    map[string]string `yaml:"severity"`
	Independent bool              `yaml:"independent"`
	Closed      *bool             `yaml:"closed"`
	Languages   []string          `yaml:"languages"`
	Metamorphic []Metamorphic     `yaml:"metamorphic"`
}

type ruleDocument struct {
	ID       string `yaml:"id"`
	Expr     string `yaml:"expr"`
	Text     string `yaml:"text"`
	Severity string `yaml:"severity"`
	Tag      string `yaml:"tag"`
}

// rulesDocument is rules.cel.yaml.
type rulesDocument struct {
	Rules []ruleDocument `yaml:"rules"`
}

var (
	idForm      = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,63}$`)
	ruleForm    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,127}$`)
	versionForm = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	toolForm    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// LoadAll reads every folder under dir as a contract, by its id. One that does
// not load fails the whole.
func LoadAll(fsys fs.FS, dir string) (map[string]*Contract, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, &Error{dir, "cannot be read: " + reason(err)}
	}
	out := map[string]*Contract{}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		c, err := Load(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if _, twice := out[c.ID]; twice {
			return nil, &Error{path.Join(dir, e.Name()), "a second contract with id " + c.ID}
		}
		out[c.ID] = c
	}
	return out, nil
}

// Load reads the contract in folder dir: contract.yaml, output.schema.json and
// cases/*.yaml, and where they are there input.schema.json and rules.cel.yaml.
// Errors are *Error or *strictyaml.Error, one sentence each.
func Load(fsys fs.FS, dir string) (*Contract, error) {
	l := loader{fsys: fsys, dir: dir, parts: map[string]any{}}
	c, err := l.load()
	if err != nil {
		return nil, err
	}
	c.digest = digest(l.parts)
	return c, nil
}

type loader struct {
	fsys  fs.FS
	dir   string
	parts map[string]any // what the digest covers: the value of each file
}

func (l *loader) load() (*Contract, error) {
	file := path.Join(l.dir, "contract.yaml")
	var d document
	if err := l.yaml("contract.yaml", &d); err != nil {
		return nil, err
	}
	c, err := d.contract(file)
	if err != nil {
		return nil, err
	}
	if path.Base(l.dir) != c.ID {
		return nil, &Error{file, fmt.Sprintf("id %s does not match the folder %s", c.ID, path.Base(l.dir))}
	}
	if c.Output, err = l.schema("output.schema.json"); err != nil {
		return nil, err
	}
	switch input, err := l.schema("input.schema.json"); {
	case err == nil && c.Input != nil:
		return nil, &Error{file, "input is declared here and in input.schema.json"}
	case err == nil:
		c.Input = input
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := l.rules(c); err != nil {
		return nil, err
	}
	return c, l.cases(c)
}

// contract checks the fields of contract.yaml.
func (d *document) contract(file string) (*Contract, error) {
	fail := func(format string, args ...any) (*Contract, error) {
		return nil, &Error{file, fmt.Sprintf(format, args...)}
	}
	if r, hidden := strictyaml.Hidden(d.ID); hidden {
		return fail("id holds the invisible character U+%04X", r)
	}
	switch {
	case !idForm.MatchString(d.ID):
		return fail("id %q: small letters, digits, dots, hyphens and underscores, a letter first, at most 64", short(d.ID))
	case !versionForm.MatchString(d.Version):
		return fail("version %q is no semantic version such as 1.0.0", short(d.Version))
	case d.Prompt.User == "":
		return fail("prompt has no user text")
	}
	c := &Contract{
		ID: d.ID, Version: d.Version, Title: d.Title, Owner: d.Owner, SchemaName: d.SchemaName, Params: d.Params, Budget: d.Budget, Plan: d.Plan,
		Valid: d.Valid, Must: d.Must, Severity: d.Severity, Independent: d.Independent, Languages: d.Languages, Metamorphic: d.Metamorphic,
		Closed: d.Closed == nil || *d.Closed, Mode: providers.Mode(d.Mode),
	}
	switch c.Mode {
	case "":
		c.Mode = providers.ModeJSONSchema
	case providers.ModeJSONSchema, providers.ModeTool:
	default:
		return fail("mode %q: there are json_schema and tool", short(d.Mode))
	}
	if d.Tool != nil {
		c.Tool = *d.Tool
	}
	if (c.Mode == providers.ModeTool || d.Tool != nil) && !toolForm.MatchString(c.Tool.Name) {
		return fail("tool name %q: letters, digits, hyphens and underscores, at most 64", short(c.Tool.Name))
	}
	for id, s := range d.Severity {
		if s != must && s != should && s != "off" {
			return fail("severity of %s is %q: there are must, should and off", id, short(s))
		}
	}
	if d.Valid < 0 || d.Plan.Cases < 0 || d.Plan.Repeats < 0 {
		return fail("valid and the numbers of the plan are not negative")
	}
	for _, m := range d.Metamorphic {
		if err := m.check(); err != nil {
			return fail("%v", err)
		}
	}
	if c.SchemaName == "" {
		c.SchemaName = schemaName(c.ID)
	}
	if !toolForm.MatchString(c.SchemaName) {
		return fail("schema_name %q: letters, digits, hyphens and underscores, at most 64", short(c.SchemaName))
	}
	var err error
	if c.Input, err = inputSchema(d.Input); err != nil {
		return fail("%v", err)
	}
	if c.System, err = ParseTemplate(d.Prompt.System); err != nil {
		return fail("prompt: system: %v", err)
	}
	if c.User, err = ParseTemplate(d.Prompt.User); err != nil {
		return fail("prompt: user: %v", err)
	}
	return c, nil
}

// inputSchema is the schema of an input that is declared by fields and types.
func inputSchema(fields map[string]string) (*schema.Schema, error) {
	if fields == nil {
		return nil, nil
	}
	properties, required := map[string]any{}, []any{}
	for name, kind := range fields {
		if !slices.Contains([]string{"string", "integer", "number", "boolean", "object", "array"}, kind) {
			return nil, fmt.Errorf("input %s is of type %q: there are string, integer, number, boolean, object and array", name, short(kind))
		}
		properties[name] = map[string]any{"type": kind}
		required = append(required, name)
	}
	return schema.Compile(strictjson.AppendCanonical(nil, map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}))
}

func (l *loader) read(name string) ([]byte, error) {
	full := path.Join(l.dir, name)
	f, err := l.fsys.Open(full)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, &Error{full, "is no regular file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, &Error{full, "cannot be read: " + reason(err)}
	}
	if len(data) > maxFile {
		return nil, &Error{full, fmt.Sprintf("has more than %d bytes", maxFile)}
	}
	return data, nil
}

// yaml reads a file into to and remembers its value.
func (l *loader) yaml(name string, to any) error {
	data, err := l.read(name)
	if err != nil {
		return l.missing(name, err)
	}
	full := path.Join(l.dir, name)
	if err := strictyaml.Decode(full, data, to); err != nil {
		return err
	}
	l.parts[name], err = strictyaml.Value(full, data)
	return err
}

func (l *loader) missing(name string, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return &Error{path.Join(l.dir, name), "cannot be read: " + reason(err)}
}

func (l *loader) schema(name string) (*schema.Schema, error) {
	data, err := l.read(name)
	if errors.Is(err, fs.ErrNotExist) && name != "output.schema.json" {
		return nil, err
	}
	if err != nil {
		return nil, l.missing(name, err)
	}
	full := path.Join(l.dir, name)
	s, err := schema.Compile(data)
	if err != nil {
		return nil, &Error{full, err.Error()}
	}
	v, err := strictjson.Decode(data, strictjson.Limits{MaxDepth: 128})
	if err != nil {
		return nil, &Error{full, err.Error()}
	}
	l.parts[name] = v
	return s, nil
}

func (l *loader) rules(c *Contract) error {
	const name = "rules.cel.yaml"
	if _, err := fs.Stat(l.fsys, path.Join(l.dir, name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var d rulesDocument
	if err := l.yaml(name, &d); err != nil {
		return err
	}
	for _, r := range d.Rules {
		if err := c.addRule(r); err != nil {
			return &Error{path.Join(l.dir, name), err.Error()}
		}
	}
	return nil
}

func (c *Contract) addRule(d ruleDocument) error {
	if !ruleForm.MatchString(d.ID) {
		return fmt.Errorf("rule id %q: letters, digits, dots, hyphens and underscores, a letter first", short(d.ID))
	}
	if !strings.HasPrefix(d.ID, "business.") { // the family of the reason that a broken rule gives
		d.ID = "business." + d.ID
	}
	if slices.ContainsFunc(c.Rules, func(r Rule) bool { return r.ID == d.ID }) {
		return fmt.Errorf("rule %s stands there twice", d.ID)
	}
	if d.Severity == "" {
		d.Severity = must
	}
	if d.Severity != must && d.Severity != should {
		return fmt.Errorf("rule %s: severity %q: there are must and should", d.ID, short(d.Severity))
	}
	compiled, err := rule.Compile(d.ID, d.Expr)
	if err != nil {
		return err
	}
	c.Rules = append(c.Rules, Rule{Rule: compiled, Text: d.Text, Tag: d.Tag, Severity: d.Severity})
	return nil
}

// reason is the cause of a file error without its path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	return err.Error()
}
