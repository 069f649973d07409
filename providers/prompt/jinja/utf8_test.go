package jinja_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

func TestTextThatIsNotUTF8NeverPanics(t *testing.T) {
	if _, err := jinja.Parse("{{ ('%\xd1') % '' }}"); err == nil || !strings.HasPrefix(err.Error(), "UnicodeDecodeError") {
		t.Errorf("a template: %v, want UnicodeDecodeError", err)
	}
	vars := jinja.NewDict()
	vars.Set("s", "%\xd1")
	for source, want := range map[string]string{"{{ s % 1 }}": "ValueError", "{{ s|tojson(ensure_ascii=true) }}": ""} {
		tmpl, err := jinja.Parse(source)
		if err == nil {
			_, err = tmpl.Render(vars, jinja.Options{})
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}
