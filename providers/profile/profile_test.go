package profile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
)

func TestTheShippedProfilesLoad(t *testing.T) {
	all, err := profile.LoadAll(fixtures.FS, "profiles")
	if err != nil {
		t.Fatal(err)
	}
	p := all["openai-demo"]
	if p.Protocol != providers.OpenAIChat || p.Model != "standin-orion-1" || p.Auth.Scheme != "Bearer" || all["anthropic-demo"].Auth.Header != "x-api-key" {
		t.Errorf("%+v", all)
	}
}

const good = `name: p
protocol: openai-chat
base_url: https://api.example/v1
model: m
auth:
  header: Authorization
  env: P_KEY
`

var section = "prompt:\n  template: a.jinja\n  template_sha256: " + strings.Repeat("a1", 32) + "\n  tokenizer:\n    file: t.json\n    sha256: " + strings.Repeat("b2", 32)

func TestProfiles(t *testing.T) {
	for name, c := range map[string]struct{ old, with, want string }{
		"good":                    {"", "", ""},
		"another file name":       {"name: p", "name: q", "does not match"},
		"unknown protocol":        {"openai-chat", "openai-chta", "there are"},
		"unknown field":           {"model:", "modle:", "modle"},
		"no model":                {"model: m", "model: ''", "model is missing"},
		"no host":                 {"https://api.example/v1", "https:///v1", "base_url"},
		"file URL":                {"https://api.example/v1", "file:///etc/passwd", "base_url"},
		"password in URL":         {"https://api", "https://u:geheim@api", "credentials come from"},
		"query in URL":            {"/v1", "/v1?key=1", "query"},
		"no TLS":                  {"https:", "http:", "without TLS"},
		"loopback":                {"api.example", "127.0.0.1", "allow_loopback"},
		"localhost":               {"api.example", "localhost", "allow_loopback"},
		"metadata address":        {"api.example", "169.254.169.254", "allow_loopback"},
		"private":                 {"api.example", "10.0.0.7", "allow_loopback"},
		"IPv6 loopback":           {"api.example", "[::1]", "allow_loopback"},
		"loopback, allowed":       {"https://api.example/v1", "http://127.0.0.1:9/v1\nallow_loopback: true", ""},
		"Idempotency-Key":         {"model: m", "model: m\nidempotency_header: idempotency-key", "send a request twice"},
		"credential in headers":   {"model: m", "model: m\nheaders:\n  X-API-Key: geheim", "carries a credential"},
		"auth without env":        {"  env: P_KEY\n", "", "both header and env"},
		"env with a value":        {"P_KEY", "sk-geheim", "environment variable"},
		"status of a success":     {"model: m", "model: m\nrefused_statuses: [200]", "no status of a refusal"},
		"background, cannot":      {"model: m", "model: m\nbackground: true", "keeps no answer"},
		"background, can":         {"openai-chat", "openai-responses\nbackground: true", ""},
		"prompt":                  {"model: m", "model: m\n" + section, ""},
		"prompt, undigested":      {"model: m", "model: m\n" + strings.Replace(section, "  template_sha256: ", "  #", 1), "template_sha256"},
		"prompt, other tokenizer": {"model: m", "model: m\n" + strings.Replace(section, "    sha256: ", "    sha256: x", 1), "tokenizer.sha256"},
		"prompt, no template":     {"model: m", "model: m\n" + strings.Replace(section, "  template: a.jinja\n", "  template: ''\n", 1), "needs template"},
		"prompt, named":           {"model: m", "model: m\n" + section + "\n  name: x", "name of its profile"},
		"prompt, no such oracle":  {"model: m", "model: m\n" + section + "\n  oracle: delphi", "there are vllm, llamacpp"},
		"prompt, unknown field":   {"model: m", "model: m\n" + section + "\n  colour: red", "colour"},
		"a second document":       {"model: m", "model: m\n---\nmodel: n", ""},
		"a version unquoted":      {"model: m", "model: 1.10", "quote it"},
		"documents, not accepted": {"model: m", "model: m\n---\n", ""},
	} {
		if strings.HasPrefix(name, "a second") || strings.HasPrefix(name, "documents") {
			c.want = "document"
		}
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.with, 1)
			_, err := profile.LoadAll(fstest.MapFS{"profiles/p.yaml": {Data: []byte(text)}}, "profiles")
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "p.yaml")):
				t.Errorf("%v, want something with %q", err, c.want)
			case err != nil && strings.Contains(err.Error(), "geheim"):
				t.Errorf("shows the secret: %v", err)
			}
		})
	}
}
