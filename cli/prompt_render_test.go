package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

const conversation = `{"messages": [{"role": "user", "content": "<b>"}], "x": {"b": 1, "a": 2}}`

func renderWith(t *testing.T, template, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chat.jinja")
	if err := os.WriteFile(file, []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, err bytes.Buffer
	code = cli.Main(append([]string{"prompt", "render", "--template", file}, args...), strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

func TestPromptRenderWritesTheTextAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		name, template, want string
		args                 []string
	}{
		{"text", "{{ messages[0].content }}|{{ x|tojson }}\n\n", "<b>|{\"b\": 1, \"a\": 2}\n", nil},
		{"nothing", "{# #}", "", nil},
		{"day", "{{ strftime_now('%d %b %Y %H') }}", "05 Mar 2024 00", []string{"--now", "2024-03-05"}},
		{"time", "{{ strftime_now('%H:%M') }}", "23:59", []string{"--now", "2024-03-05T23:59:00+05:30"}},
		{"json", "a\"b", "{\"text\":\"a\\\"b\"}\n", []string{"--json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := renderWith(t, c.template, conversation, c.args...)
			if code != cli.ExitOK || stdout != c.want || stderr != "" {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, c.want)
			}
		})
	}
}

func TestPromptRenderRefusesWithTheClassOfTheException(t *testing.T) {
	for name, c := range map[string]struct{ template, want string }{
		"type":      {"{{ 'a' + none }}", "interlock: TypeError: can only concatenate"},
		"undefined": {"x{{ nobody.name }}", "interlock: UndefinedError: 'nobody' is undefined"},
		"raised":    {"{{ raise_exception('no system role') }}", "interlock: TemplateError: no system role"},
		"syntax":    {"a\n{% if %}", "interlock: TemplateSyntaxError: Expected an expression, got 'end of statement block' (line 2)"},
		"sandbox":   {"{{ [].append(1) }}", "interlock: SecurityError: access to attribute 'append'"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := renderWith(t, c.template, conversation)
			if code != cli.ExitViolation || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, c.want)
			}
		})
	}
	code, stdout, _ := renderWith(t, "{{ 1 + 'a' }}", conversation, "--json")
	if code != cli.ExitViolation || !strings.Contains(stdout, `"class":"TypeError"`) {
		t.Errorf("--json: exit %d, stdout %q", code, stdout)
	}
}

func TestPromptRenderCallsBrokenInputByItsName(t *testing.T) {
	code, _, stderr := run(t, "prompt", "render", "--template", "/nonexistent/chat.jinja")
	if code != cli.ExitUsage || !strings.Contains(stderr, "no such file") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("no such file: exit %d, stderr %q", code, stderr)
	}
	for _, c := range []struct {
		name, template, stdin, want string
		args                        []string
	}{
		{"no JSON", "x", "messages", "not JSON", nil},
		{"no input", "x", "", "not JSON", nil},
		{"an array", "x", "[]", "must be a JSON object", nil},
		{"two equal keys", "x", `{"a": 1, "a": 2}`, "not JSON", nil},
		{"a lone surrogate", "x", `{"a": "\ud800"}`, "not JSON", nil},
		{"a template that is not text", "\xff\xfe", "{}", "not UTF-8", nil},
		{"a clock that is none", "x", "{}", "--now", []string{"--now", "yesterday"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := renderWith(t, c.template, c.stdin, c.args...)
			if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, c.want)
			}
		})
	}
}
