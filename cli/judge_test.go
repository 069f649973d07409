package cli_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

// exchangesFolder copies some recorded exchanges into a folder, with or without
// their contract beside them.
func exchangesFolder(t *testing.T, beside bool, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	if beside {
		names = append(names, "_contract")
	}
	for _, n := range names {
		data, err := fs.ReadFile(fixtures.FS, "exchanges/"+n+".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, n+".json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func judgeMain(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(append([]string{"judge"}, args...), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

func TestJudgeExitCodesFollowTheVerdicts(t *testing.T) {
	dir := exchangesFolder(t, true, "pretty-printed", "keys-other-order", "prose-before", "stream-cut", "responses-failed")
	path := func(n string) string { return filepath.Join(dir, n+".json") }
	for name, tt := range map[string]struct {
		files []string
		want  int
	}{
		"all accepted":         {[]string{path("pretty-printed"), path("keys-other-order"), path("_contract")}, cli.ExitOK},
		"one rejected":         {[]string{path("pretty-printed"), path("prose-before"), path("stream-cut")}, cli.ExitViolation},
		"a stated failure":     {[]string{path("responses-failed")}, cli.ExitViolation},
		"one unknown":          {[]string{path("pretty-printed"), path("stream-cut")}, cli.ExitInconclusive},
		"with --check":         {[]string{"--check", path("prose-before"), path("stream-cut"), path("responses-failed")}, cli.ExitOK},
		"one file not there":   {[]string{path("prose-before"), path("nothing")}, cli.ExitUsage},
		"a folder":             {[]string{dir}, cli.ExitUsage},
		"only the contract":    {[]string{path("_contract")}, cli.ExitUsage},
		"no file":              {nil, cli.ExitUsage},
		"contract not there":   {[]string{"--contract-file", path("no"), path("prose-before")}, cli.ExitUsage},
		"exchange as contract": {[]string{"--contract-file", path("prose-before"), path("prose-before")}, cli.ExitUsage},
	} {
		code, _, errs := judgeMain(t, "", tt.files...)
		if code != tt.want {
			t.Errorf("%s: exit %d, want %d: %s", name, code, tt.want, errs)
		}
		if code == cli.ExitUsage && (strings.Count(errs, "interlock:") != 1 || strings.Count(strings.Split(errs, "\n138")[0], "\n") > 2) {
			t.Errorf("%s: more than one sentence: %s", name, errs)
		}
	}
}

func TestJudgeJSONHasOneObjectALine(t *testing.T) {
	dir := exchangesFolder(t, true, "currency-swapped", "pretty-printed")
	code, out, errs := judgeMain(t, "", "--json", filepath.Join(dir, "currency-swapped.json"), filepath.Join(dir, "pretty-printed.json"))
	if code != cli.ExitViolation || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		t.Fatal(out)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got["file"] != filepath.Join(dir, "currency-swapped.json") || got["id"] != "currency-swapped" || got["verdict"] != "reject" || got["reason"] != "business.currency" || got["place"] != "rule business.currency" {
		t.Errorf("%v", got)
	}
}

func TestJudgeCheckNamesWhatDiffers(t *testing.T) {
	dir := exchangesFolder(t, true, "prose-before")
	file := filepath.Join(dir, "prose-before.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(data, []byte(`"json.prose"`), []byte(`"schema.enum"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := judgeMain(t, "", "--check", file)
	if code != cli.ExitViolation || !strings.Contains(out, "expected reject schema.enum") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestJudgeFindsTheContract(t *testing.T) {
	alone := exchangesFolder(t, false, "currency-swapped")
	file := filepath.Join(alone, "currency-swapped.json")
	// The deployed contract has no reference for this exchange: only its other rules apply.
	if code, out, errs := judgeMain(t, "", file); code != cli.ExitOK {
		t.Errorf("deployed: exit %d %s %s", code, out, errs)
	}
	other := filepath.Join(alone, "mine.json")
	if err := os.WriteFile(other, []byte(`{"schema":{"required":["zz"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := judgeMain(t, "", "--contract-file", other, file); !strings.Contains(out, "schema.missing_key") {
		t.Errorf("given: %s", out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for old, want := range map[string]string{`"contract": "x"`: "not deployed", `"contract": "invoice@9.0.0"`: "deployed is invoice@", `"notes": "x"`: "names no contract"} {
		text := strings.Replace(string(data), `"contract": "invoice"`, old, 1)
		if code, _, errs := judgeMain(t, text, "-"); code != cli.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d %s", old, code, errs)
		}
	}
}

func TestJudgeRefusesMalformedFilesInOneSentence(t *testing.T) {
	good := `{"id":"x","protocol":"openai-chat","request":{"model":"m"},"http_status":200,"headers":{},"body":"{}","contract":"invoice"}`
	if code, _, errs := judgeMain(t, good, "-"); code == cli.ExitUsage {
		t.Fatalf("the good one: %s", errs)
	}
	with := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	for text, want := range map[string]string{
		"":                                       "no value",
		"[]":                                     "an exchange is a JSON object",
		`{"id"`:                                  "ends",
		"<html>":                                 "value wanted",
		with(`"openai-chat"`, `"openai"`):        `protocol "openai": there are anthropic-messages,`,
		with(`,"body":"{}"`, ``):                 "neither a body nor a stream",
		with(`"body"`, `"stream":[],"body"`):     "an answer is one of them",
		with(`"body":"{}"`, `"stream":"x"`):      "stream must be a list of lines",
		with(`"body":"{}"`, `"stream":[1]`):      "stream[0] must be a text",
		with(`200`, `"200"`):                     "http_status must be a whole number",
		with(`"http_status":200,`, ``):           "http_status is missing",
		with(`{"model":"m"}`, `5`):               "request is missing or no object",
		with(`{"model":"m"}`, `{"mode":"text"}`): `mode "text": there are json_schema and tool`,
		with(`{"model":"m"}`, `{"temperature":"0"}`):               "temperature must be a number",
		with(`{"model":"m"}`, `{"max_output_tokens":1.5}`):         "max_output_tokens must be a whole number",
		with(`"contract"`, `"stream_end":"fin","contract"`):        `stream_end "fin": there are eof, reset`,
		with(`"headers":{}`, `"headers":[]`):                       "headers must be an object of texts",
		with(`"contract"`, `"expect":{"verdict":"ok"},"contract"`): `verdict "ok": there are accept`,
	} {
		code, out, errs := judgeMain(t, text, "-")
		if code != cli.ExitUsage || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 || len(errs) > 300 {
			t.Errorf("%.60q: exit %d, %q, want %q", text, code, errs, want)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if code, _, errs := judgeMain(t, "", pipe); code != cli.ExitUsage || !strings.Contains(errs, "no regular file") {
		t.Errorf("a pipe: exit %d %s", code, errs)
	}
}
