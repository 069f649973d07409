package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestKeyNewWritesAKeyThatShowReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "issuer.key")
	code, made, _ := run(t, "key", "new", file)
	if code != cli.ExitOK {
		t.Fatal(code)
	}
	if _, err := certificate.ParsePublicKey(strings.TrimSpace(made)); err != nil {
		t.Errorf("%q: %v", made, err)
	}
	code, shown, _ := run(t, "key", "show", file)
	if code != cli.ExitOK || shown != made {
		t.Errorf("%d %q, made %q", code, shown, made)
	}
	code, out, _ := run(t, "key", "show", "--json", file)
	var v map[string]string
	if err := json.Unmarshal([]byte(out), &v); code != cli.ExitOK || err != nil || v["key"]+"\n" != made {
		t.Errorf("%d %v %q", code, err, out)
	}
	private, _ := os.ReadFile(file)
	code, out, talk := run(t, "key", "new", file)
	again, _ := os.ReadFile(file)
	if code != cli.ExitUsage || out != "" || string(again) != string(private) || !strings.Contains(talk, "left as it is") {
		t.Errorf("%d %q %q", code, out, talk)
	}
}

func TestKeyFilesOfTheWrongKindAreUsageErrors(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open.key")
	if code, _, _ := run(t, "key", "new", open); code != cli.ExitOK {
		t.Fatal(code)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"mode 0644": open, "file does not exist": filepath.Join(dir, "none")} {
		code, out, talk := run(t, "key", "show", file)
		if code != cli.ExitUsage || out != "" || !strings.Contains(talk, name) || strings.Count(talk, "\n") > 2 {
			t.Errorf("%s: %d %q %q", name, code, out, talk)
		}
	}
	for _, args := range [][]string{{"key"}, {"key", "nwe"}, {"key", "new"}, {"key", "new", "a", "b"}} {
		if code, _, _ := run(t, args...); code != cli.ExitUsage {
			t.Errorf("%q: exit %d", args, code)
		}
	}
}
