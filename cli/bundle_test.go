package cli_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/archive"
)

// repack changes files of a bundle.
func repack(t *testing.T, from, to string, change func(files map[string][]byte)) {
	t.Helper()
	files, err := archive.Read(mustRead(t, from))
	if err != nil {
		t.Fatal(err)
	}
	change(files)
	var b bytes.Buffer
	if err := archive.Write(&b, files); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replaceIn(t *testing.T, name, old, with string) func(map[string][]byte) {
	return func(files map[string][]byte) {
		if !bytes.Contains(files[name], []byte(old)) {
			t.Fatalf("%s holds no %q", name, old)
		}
		files[name] = bytes.Replace(files[name], []byte(old), []byte(with), 1)
	}
}

func TestABundleIsJudgedAnew(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, talk := run(t, "certify", "openai-demo", "--contract", "refund", "--no-job-service", "--out", "run", "--bundle", "b.tgz")
	if code != cli.ExitInconclusive || !strings.Contains(out, "Bundle: b.tgz") { // X03 needs a job service
		t.Fatalf("%d %s%s", code, out, talk)
	}
	code, out, talk = run(t, "report", "b.tgz", "--check")
	if code != cli.ExitInconclusive || !strings.Contains(out, "transcripts judged anew: not known") || strings.Contains(out, "✗") || !strings.Contains(out, "Not signed") {
		t.Errorf("%d %s%s", code, out, talk)
	}
	lines := func(files map[string][]byte) [][]byte {
		return bytes.SplitAfter(files["transcripts.jsonl"], []byte("\n"))
	}
	for name, c := range map[string]struct {
		change func(map[string][]byte)
		code   int
		want   string
	}{
		"a transcript that was changed": {replaceIn(t, "transcripts.jsonl", `"status":200`, `"status":201`), cli.ExitViolation, "was changed: its digest"},
		"a transcript that was left out": {func(f map[string][]byte) {
			f["transcripts.jsonl"] = bytes.Join(lines(f)[:len(lines(f))-2], nil)
		}, cli.ExitViolation, "is in the plan and not among the transcripts"},
		"a plan that was changed":      {replaceIn(t, "plan.json", `"repeats": 8`, `"repeats": 4`), cli.ExitViolation, "plan.json was changed"},
		"another verdict":              {replaceIn(t, "bundle.json", `"verdict": "not known"`, `"verdict": "certified"`), cli.ExitViolation, "the verdict is not known, the bundle says certified"},
		"a result that was made nicer": {replaceIn(t, "bundle.json", `"verdict": "inconclusive"`, `"verdict": "pass"`), cli.ExitViolation, "the bundle says pass"},
		"another contract":             {replaceIn(t, "contracts/refund/rules.cel.yaml", "!i.final_sale", "i.final_sale"), cli.ExitUsage, "the reference breaks rule"},
		"a file that is missing":       {func(f map[string][]byte) { delete(f, "plan.json") }, cli.ExitUsage, "plan.json is missing"},
		"an unknown field":             {replaceIn(t, "bundle.json", `"version": 1`, `"version": 1, "extra": 2`), cli.ExitUsage, "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			repack(t, "b.tgz", "changed.tgz", c.change)
			code, out, talk := run(t, "report", "changed.tgz", "--check")
			if code != c.code || !strings.Contains(out+talk, c.want) {
				t.Errorf("%d %s%s, want %d %q", code, out, talk, c.code, c.want)
			}
		})
	}
	t.Run("of a server that shows its prompts", promptsAreJudgedAnew)
	if err := os.WriteFile("no.tgz", []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, talk := run(t, "report", "no.tgz", "--check"); code != cli.ExitUsage || out != "" || !strings.Contains(talk, "no gzip file") {
		t.Errorf("%d %q %q", code, out, talk)
	}
}

// promptsAreJudgedAnew changes what a bundle holds of how a route renders prompts.
func promptsAreJudgedAnew(t *testing.T) {
	code, out, talk := run(t, "certify", "vllm-demo", "--contract", "refund", "--no-job-service", "--bad", "list-literal-content", "--out", "run-p", "--bundle", "p.tgz")
	if code != cli.ExitViolation || !strings.Contains(out, "✗ P01") {
		t.Fatalf("%d %s%s", code, out, talk)
	}
	if code, out, talk := run(t, "report", "p.tgz"); code != cli.ExitViolation || !strings.Contains(out, "✗ P01: R12") || strings.Contains(out, "the bundle says") {
		t.Errorf("as it is: %d %s%s", code, out, talk)
	}
	for name, c := range map[string]struct {
		change func(map[string][]byte)
		want   string
	}{
		"a result that was made nicer": {func(f map[string][]byte) {
			at := bytes.Index(f["bundle.json"], []byte(`"id": "P01"`))
			f["bundle.json"] = append(f["bundle.json"][:at:at], bytes.Replace(f["bundle.json"][at:], []byte(`"verdict": "fail"`), []byte(`"verdict": "pass"`), 1)...)
		}, "check P01 is fail"},
		"an answer that was left out": {func(f map[string][]byte) {
			at := bytes.LastIndexByte(bytes.TrimSpace(f["prompt/answers.jsonl"]), '\n')
			f["prompt/answers.jsonl"] = f["prompt/answers.jsonl"][:at+1]
		}, "is not among the answers"},
		"an answer too many": {func(f map[string][]byte) {
			f["prompt/answers.jsonl"] = append(f["prompt/answers.jsonl"], `{"n":`+strconv.Itoa(1+bytes.Count(f["prompt/answers.jsonl"], []byte("\n")))+`,"method":"GET","path":"/more"}`...)
		}, "1 answers of the server that shows its prompts belong to no question"},
		"another template": {func(f map[string][]byte) {
			f["prompt/template"] = append(f["prompt/template"], '\n')
		}, "template vllm-demo.jinja has the digest"},
		"no tokenizer": {func(f map[string][]byte) { delete(f, "prompt/tokenizer/vllm-demo.tokenizer.json") }, "prompt/tokenizer/vllm-demo.tokenizer.json is missing"},
		"other questions in the plan": {func(f map[string][]byte) {
			replaceIn(t, "plan.json", `"R20"`, `"R21"`)(f)
		}, "plan.json lists other questions about prompts"},
	} {
		t.Run(name, func(t *testing.T) {
			repack(t, "p.tgz", "changed.tgz", c.change)
			code, out, talk := run(t, "report", "changed.tgz", "--check")
			if code != cli.ExitViolation || !strings.Contains(out, c.want) {
				t.Errorf("%d %s%s, want %q", code, out, talk, c.want)
			}
		})
	}
}
