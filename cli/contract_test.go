package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

// contractFolder copies a built-in contract and changes one of its files.
func contractFolder(t *testing.T, file, old, now string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "triage")
	sub, err := fs.Sub(fixtures.FS, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, sub); err != nil {
		t.Fatal(err)
	}
	if file == "" {
		return dir
	}
	name := filepath.Join(dir, file)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(data), old, now, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestContractLint(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"built in":            {nil, cli.ExitOK, "0 findings"},
		"one folder":          {[]string{contractFolder(t, "", "", "")}, cli.ExitOK, "1 contracts, 0 findings"},
		"a folder of folders": {[]string{filepath.Dir(contractFolder(t, "", "", ""))}, cli.ExitOK, "1 contracts, 0 findings"},
		"unknown keyword":     {[]string{contractFolder(t, "output.schema.json", `"required"`, `"x": 1, "requird": [], "required"`)}, cli.ExitViolation, "unknown keyword, did you mean required?"},
		"misspelt field":      {[]string{contractFolder(t, "rules.cel.yaml", "expr:", "exprs:")}, cli.ExitUsage, `unknown field "exprs": did you mean expr?`},
		"reference to a file": {[]string{contractFolder(t, "output.schema.json", `"type"`, `"$ref": "file:///etc/hostname", "type"`)}, cli.ExitUsage, "only references inside the schema"},
		"no folder":           {[]string{filepath.Join(t.TempDir(), "nothing")}, cli.ExitUsage, "is no folder"},
		"unknown protocol":    {[]string{"--protocol", "gemni"}, cli.ExitUsage, "Did you mean gemini?"},
	} {
		code, out, errs := run(t, append([]string{"contract", "lint"}, tt.args...)...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%s: exit %d, %s%s, want %d and %q", name, code, out, errs, tt.code, tt.want)
		}
	}
	code, out, _ := run(t, "contract", "lint", "--json", "--protocol", "cohere-chat")
	if code != cli.ExitViolation || !strings.Contains(out, `"protocol":"cohere-chat"`) {
		t.Errorf("exit %d: %s", code, out)
	}
}
