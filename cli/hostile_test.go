package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/hostile"
)

// command is what a runner of builds would take for one, at the beginning of a line
// or anywhere in it.
var command = regexp.MustCompile(`(?m)^\s*::[A-Za-z]|##\[|##vso\[|section_(start|end):`)

// inert fails where a text drives a terminal or a runner.
func inert(t *testing.T, where, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s holds %U", where, r)
			break
		}
	}
	if found := command.FindString(text); found != "" {
		t.Errorf("%s holds %q", where, found)
	}
}

// TestRecordedAnswersOfFiveHundredTextsAreShownHarmless judges an answer for each
// text, which stands in its content, its model and its reason to end.
func TestRecordedAnswersOfFiveHundredTextsAreShownHarmless(t *testing.T) {
	var x map[string]any
	if err := json.Unmarshal([]byte(readText(t, exchange("enum-invented.json"))), &x); err != nil {
		t.Fatal(err)
	}
	body := x["body"].(map[string]any)
	choice := body["choices"].([]any)[0].(map[string]any)
	good := choice["message"].(map[string]any)["content"].(string)
	args := []string{"judge"}
	dir := t.TempDir()
	for i, text := range hostile.Texts() {
		value, _ := json.Marshal(text)
		body["id"], body["model"], choice["finish_reason"] = text, text, "stop"
		content := strings.Replace(good, `"OTHER"`, string(value), 1) // an enum it is not in
		switch i % 3 {
		case 1:
			content = text
		case 2:
			choice["finish_reason"] = text
		}
		choice["message"].(map[string]any)["content"] = content
		raw, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("x%03d.json", i))
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	write(t, filepath.Join(dir, "_contract.json"), readText(t, exchange("_contract.json")))
	code, out, said := run(t, args...)
	if judged := strings.Count(out, ".json"); code != cli.ExitViolation || judged < 500 {
		t.Errorf("exit %d, %d answers judged: %.300s", code, judged, said)
	}
	inert(t, "judge", out+said)
	code, out, said = run(t, append(args, "--json")...)
	if lines := strings.Count(out, "\n"); code != cli.ExitViolation || lines < 500 {
		t.Errorf("exit %d, %d lines", code, lines)
	}
	onlyJSON(t, out)
	inert(t, "judge --json on standard error", said)
}

// TestAProviderThatAnswersFiveHundredTextsIsCertifiedHarmlessly asks a provider
// whose every answer holds a text, and looks at all that certify writes for people
// and tools.
func TestAProviderThatAnswersFiveHundredTextsIsCertifiedHarmlessly(t *testing.T) {
	texts, calls := hostile.Texts(), atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := int(calls.Add(1))
		text := func(k int) string { return texts[(3*n+k)%len(texts)] }
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": text(0), "object": "chat.completion", "created": 1, "model": text(1),
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text(2)}}},
			"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
		})
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("profiles", 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, "profiles/vendor.yaml", fmt.Sprintf("name: vendor\nprotocol: openai-chat\nbase_url: %s/v1\nmodel: m-1\nallow_loopback: true\nauth:\n  header: Authorization\n  scheme: Bearer\n  env: VENDOR_KEY\n", server.URL))
	t.Setenv("VENDOR_KEY", "k")
	args := []string{"certify", "vendor", "--profiles", "profiles", "--contract", "triage", "--live", "--no-job-service", "--out", "out", "--sarif", "checks.sarif"}
	code, out, said := run(t, args...)
	if placed := 3 * calls.Load(); code != cli.ExitViolation || placed < 500 {
		t.Errorf("exit %d, %d texts were placed: %.600s%.600s", code, placed, out, said)
	}
	inert(t, "certify", out+said)
	log := sarifOf(t, "checks.sarif")
	for _, r := range log.Runs[0].Results {
		inert(t, "SARIF", r.Message.Text)
		if regexp.MustCompile(`(^|[^\\])[\[\]]`).MatchString(r.Message.Text) {
			t.Errorf("a message of SARIF holds a link: %q", r.Message.Text)
		}
	}
}

type sarif struct {
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct{ Rules []struct{ ID string } }
		}
		Results []struct {
			RuleID    string
			RuleIndex int
			Kind      string
			Message   struct{ Text string }
		}
	}
}

// sarifOf reads a file that must fit the schema in testdata: what SARIF 2.1.0
// demands of the parts that we write, and GitHub of what it shows.
func sarifOf(t *testing.T, file string) sarif {
	t.Helper()
	raw := readText(t, file)
	schema, err := jsonschema.CompileString("sarif.json", sarifSchema)
	if err != nil {
		t.Fatal(err)
	}
	var any any
	if err := json.Unmarshal([]byte(raw), &any); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(any); err != nil {
		t.Errorf("%#v", err)
	}
	var log sarif
	if err := json.NewDecoder(bytes.NewReader([]byte(raw))).Decode(&log); err != nil {
		t.Fatal(err)
	}
	for _, r := range log.Runs[0].Results {
		if rules := log.Runs[0].Tool.Driver.Rules; r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("result of %s points to rule %d", r.RuleID, r.RuleIndex)
		}
	}
	return log
}

// TestWhatIsFoundStaysWithinTheLimits counts what certify finds of a bad provider,
// in SARIF: as many results as GitHub shows, and short messages.
func TestWhatIsFoundStaysWithinTheLimits(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, said := run(t, "certify", "anthropic-demo", "--contract", "invoice", "--no-job-service", "--bad", "below-minimum", "--sarif", "checks.sarif", "--out", "out")
	if code != cli.ExitViolation {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	log, fails := sarifOf(t, "checks.sarif"), 0
	for _, r := range log.Runs[0].Results {
		if r.Kind == "fail" {
			fails++
		}
		if len(r.Message.Text) > 1000 {
			t.Errorf("a message of %d bytes", len(r.Message.Text))
		}
	}
	if rules := len(log.Runs[0].Tool.Driver.Rules); fails == 0 || rules < 50 || len(log.Runs[0].Results) > 5000 {
		t.Errorf("%d results, %d of them fail, %d rules", len(log.Runs[0].Results), fails, rules)
	}
	if !strings.Contains(out, "S06") {
		t.Errorf("certify says %s", out)
	}
}

const sarifSchema = `{
 "$schema": "http://json-schema.org/draft-07/schema#",
 "definitions": {
  "text": {"type": "object", "additionalProperties": false, "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
 },
 "type": "object", "additionalProperties": false, "required": ["version", "runs"],
 "properties": {
  "$schema": {"type": "string", "format": "uri"},
  "version": {"const": "2.1.0"},
  "runs": {"type": "array", "minItems": 1, "maxItems": 20, "items": {
   "type": "object", "additionalProperties": false, "required": ["tool", "results"],
   "properties": {
    "tool": {"type": "object", "additionalProperties": false, "required": ["driver"], "properties": {"driver": {
     "type": "object", "additionalProperties": false, "required": ["name", "rules"],
     "properties": {
      "name": {"const": "interlock"}, "version": {"type": "string"},
      "rules": {"type": "array", "uniqueItems": true, "maxItems": 25000, "items": {
       "type": "object", "additionalProperties": false, "required": ["id"],
       "properties": {
        "id": {"type": "string", "maxLength": 255}, "shortDescription": {"$ref": "#/definitions/text"},
        "defaultConfiguration": {"type": "object", "additionalProperties": false, "properties": {"level": {"enum": ["none", "note", "warning", "error"]}}}
       }}}
     }}}},
    "automationDetails": {"type": "object", "additionalProperties": false, "properties": {"id": {"type": "string"}}},
    "invocations": {"type": "array", "items": {
     "type": "object", "additionalProperties": false, "required": ["executionSuccessful"],
     "properties": {"executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"}}}},
    "results": {"type": "array", "maxItems": 5000, "items": {
     "type": "object", "additionalProperties": false, "required": ["message", "locations", "ruleId", "partialFingerprints"],
     "properties": {
      "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0},
      "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
      "level": {"enum": ["none", "note", "warning", "error"]},
      "message": {"$ref": "#/definitions/text"},
      "locations": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {
       "type": "object", "additionalProperties": false, "required": ["physicalLocation"],
       "properties": {"physicalLocation": {
        "type": "object", "additionalProperties": false, "required": ["artifactLocation"],
        "properties": {
         "artifactLocation": {"type": "object", "additionalProperties": false, "required": ["uri"], "properties": {"uri": {"type": "string", "format": "uri-reference"}}},
         "region": {"type": "object", "additionalProperties": false, "properties": {"startLine": {"type": "integer", "minimum": 1}}}
        }}}}},
      "partialFingerprints": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}}
     },
     "if": {"properties": {"kind": {"const": "fail"}}}, "else": {"properties": {"level": {"const": "none"}}}
    }}
   }}}
 }
}`
