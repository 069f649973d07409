package cli_test

import (
	"bytes"
	"os"
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
	if err := os.WriteFile("no.tgz", []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, talk := run(t, "report", "no.tgz", "--check"); code != cli.ExitUsage || out != "" || !strings.Contains(talk, "no gzip file") {
		t.Errorf("%d %q %q", code, out, talk)
	}
}
