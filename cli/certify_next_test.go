package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCertifyNamesACommandThatWorks follows the guide of a provider of one's own: the
// command that certify ends with finds the same folders, and another provider in them.
func TestCertifyNamesACommandThatWorks(t *testing.T) {
	demo := readText(t, "../providers/fixtures/profiles/anthropic-demo.yaml")
	other := readText(t, "../providers/fixtures/profiles/openai-demo.yaml")
	t.Chdir(t.TempDir())
	if err := os.Mkdir("deployed", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "deployed/mine.yaml", strings.Replace(demo, "name: anthropic-demo", "name: mine", 1))
	write(t, "deployed/openai-demo.yaml", other)
	code, out, said := run(t, "certify", "mine", "--contract", "invoice", "--profiles", "deployed", "--certs", "papers")
	next := regexp.MustCompile(`(?m)^Next:   interlock (.*)$`).FindStringSubmatch(out)
	if code != 0 || next == nil {
		t.Fatalf("exit %d\n%s%s", code, out, said)
	}
	if want := "gate --from openai-demo --to mine --contract invoice --profiles deployed --certs papers"; next[1] != want {
		t.Errorf("next is %q, want %q", next[1], want)
	}
	code, out, said = run(t, strings.Fields(next[1])...)
	if code != 2 || !strings.Contains(out, "mine was made from recordings, which prove the adapter and not the vendor") {
		t.Errorf("exit %d\n%s%s", code, out, said)
	}
}
