package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/render"
	"github.com/interlock-harness/interlock/providers/prompt/standin"
)

func promptMain(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(append([]string{"prompt"}, args...), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// toyFiles writes the toy route into a folder and returns its profile and
// tokenizer.
func toyFiles(t *testing.T, change func(template string) string) (profile, tokenizer string) {
	t.Helper()
	dir := t.TempDir()
	file := standin.ToyTokenizer(standin.ToyTokens, "")
	parsed, err := bpe.Parse(file, "toy")
	if err != nil {
		t.Fatal(err)
	}
	profile, tokenizer = filepath.Join(dir, "toy.yaml"), filepath.Join(dir, "tokenizer.json")
	for name, data := range map[string]string{
		tokenizer: string(file), filepath.Join(dir, "toy.jinja"): change(standin.ToyTemplate),
		profile: "name: toy\ntemplate: toy.jinja\ntokenizer:\n  file: tokenizer.json\n  sha256: " + parsed.Digest() +
			"\nvariables:\n  bos_token: <s>\nbos: <s>\ncontent_tokens: none\ncontext_window: 8192\n",
	} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return profile, tokenizer
}

func same(template string) string { return template }

func TestPromptTokenizeTurnsTextsIntoIDsAndBack(t *testing.T) {
	_, tokenizer := toyFiles(t, same)
	for name, c := range map[string]struct {
		in, want string
		args     []string
	}{
		"texts":         {`["ab<s>", ""]`, "[[97,98,256],[]]\n", nil},
		"as plain text": {`["<s>"]`, "[[60,115,62]]\n", []string{"--no-special"}},
		"ids":           {`[[97,256]]`, "[\"a<s>\"]\n", []string{"--decode"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := promptMain(t, c.in, append([]string{"tokenize", "--tokenizer", tokenizer}, c.args...)...)
			if code != cli.ExitOK || out != c.want || errs != "" {
				t.Errorf("exit %d, wrote %q, said %q, want %q", code, out, errs, c.want)
			}
		})
	}
	for name, args := range map[string][]string{
		"no tokenizer": {}, "no such file": {"--tokenizer", tokenizer + ".not"}, "no tokenizer file": {"--tokenizer", os.Args[0]},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := promptMain(t, `["a"]`, append([]string{"tokenize"}, args...)...)
			if code != cli.ExitUsage || out != "" || strings.Count(errs, "\n") != 1 {
				t.Errorf("exit %d, wrote %q, said %q, want usage in one sentence", code, out, errs)
			}
		})
	}
}

func TestPromptCheckFailsWhereAFaultIs(t *testing.T) {
	clean, _ := toyFiles(t, same)
	if code, out, errs := promptMain(t, "", "check", clean, "--contract", "triage"); code != cli.ExitOK || !strings.Contains(out, "R20  pass") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	faulty, _ := toyFiles(t, func(template string) string {
		return strings.Replace(template, "{%- if add_generation_prompt -%}", "{%- if false -%}", 1)
	})
	code, out, _ := promptMain(t, "", "check", faulty, "--json")
	var report render.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if code != cli.ExitViolation || report.Result("R7").Verdict != render.Fail || report.Result("R1").Verdict != render.Pass {
		t.Errorf("exit %d: %s", code, out)
	}
	for name, args := range map[string][]string{"none": {}, "not there": {clean + ".not"}, "no such contract": {clean, "--contract", "nothing"}} {
		if code, _, errs := promptMain(t, "", append([]string{"check"}, args...)...); code != cli.ExitUsage || errs == "" {
			t.Errorf("%s: exit %d, %q", name, code, errs)
		}
	}
}

func TestPromptCheckAsksALiveServer(t *testing.T) {
	profile, _ := toyFiles(t, same)
	toy, err := standin.Toy()
	if err != nil {
		t.Fatal(err)
	}
	server, err := standin.Start(toy, standin.ToyTemplate, standin.DropsSystem)
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := promptMain(t, "", "check", profile, "--vllm", server.URL)
	if code != cli.ExitViolation || !strings.Contains(out, "R1   fail") || !strings.Contains(out, "R7   pass") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if code, _, errs := promptMain(t, "", "check", profile, "--vllm", server.URL); code != cli.ExitInfrastructure {
		t.Errorf("a server that is gone: exit %d, %q", code, errs)
	}
}

func TestPromptShowPutsBudgetsSideBySide(t *testing.T) {
	profile, _ := toyFiles(t, same)
	code, out, errs := promptMain(t, "", "show", profile, profile, "--contract", "triage")
	if code != cli.ExitOK || strings.Count(out, "\ntoy ") != 2 || !strings.Contains(out, `"<|im_start|>"`) || !strings.Contains(out, "system") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, _ := promptMain(t, "", "show", profile, "--contract", "triage", "--case", "nothing"); code != cli.ExitUsage {
		t.Errorf("an unknown case: exit %d", code)
	}
	refuses, _ := toyFiles(t, func(string) string { return "{{ raise_exception('no') }}" })
	if code, _, errs := promptMain(t, "", "show", refuses, "--contract", "triage"); code != cli.ExitViolation || !strings.Contains(errs, "no") {
		t.Errorf("a template that refuses: exit %d, %q", code, errs)
	}
}
