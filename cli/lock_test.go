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

// TestALockedFolderIsUsedUnchangedOrNotAtAll changes the contracts of a folder on
// disk: what reads them names the file and the command, with exit 1.
func TestALockedFolderIsUsedUnchangedOrNotAtAll(t *testing.T) {
	t.Chdir(t.TempDir())
	shipped, err := fs.Sub(fixtures.FS, "contracts")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS("contracts", shipped); err != nil {
		t.Fatal(err)
	}
	certify := []string{"certify", "openai-demo", "--contract", "refund", "--contracts", "contracts", "--dry-run"}
	if code, out, talk := run(t, certify...); code != cli.ExitOK {
		t.Fatalf("as shipped: %d %s%s", code, out, talk)
	}
	rules := filepath.Join("contracts", "refund", "rules.cel.yaml")
	good := mustRead(t, rules)
	changed := append([]byte("# softer\n"), good...)
	for name, c := range map[string]struct {
		change, mend func() error
		want         string
	}{
		"changed": {func() error { return os.WriteFile(rules, changed, 0o600) }, func() error { return os.WriteFile(rules, good, 0o600) }, `"refund/rules.cel.yaml" was changed`},
		"missing": {func() error { return os.Rename(rules, "kept") }, func() error { return os.Rename("kept", rules) }, `"refund/rules.cel.yaml" is missing`},
		"extra": {func() error { return os.WriteFile("contracts/refund/more.yaml", nil, 0o600) }, func() error { return os.Remove("contracts/refund/more.yaml") },
			`"refund/more.yaml" is not locked`},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{certify, {"lock", "contracts", "--check"}, {"gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "refund", "--contracts", "contracts"}} {
			code, out, talk := run(t, args...)
			if code != cli.ExitViolation || !strings.Contains(out+talk, "fixtures-changed: contracts: "+c.want) || !strings.Contains(out+talk, "interlock lock contracts") {
				t.Errorf("%s, %s: %d %s%s", name, args[0], code, out, talk)
			}
		}
		if err := c.mend(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(rules, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, talk := run(t, "lock", "contracts"); code != cli.ExitOK || !strings.Contains(out, "lock.json") {
		t.Errorf("renew: %d %s%s", code, out, talk)
	}
	if code, out, talk := run(t, certify...); code != cli.ExitOK {
		t.Errorf("locked anew: %d %s%s", code, out, talk)
	}
	if code, _, talk := run(t, "lock", "nowhere"); code != cli.ExitUsage || !strings.Contains(talk, "nowhere is no folder") {
		t.Errorf("no folder: %d %s", code, talk)
	}
	if code, _, talk := run(t, "lock", ".", "--check"); code != cli.ExitViolation || !strings.Contains(talk, ". has no lock") {
		t.Errorf("no lock: %d %s", code, talk)
	}
}
