package jinja_test

import (
	"errors"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// FuzzRender looks for a template that panics or does not end. The limits are
// small, so that one that takes long would be seen.
func FuzzRender(f *testing.F) {
	_, snippets := readSnippets(f)
	for i, s := range snippets {
		if i%8 == 0 {
			f.Add(s.Template)
		}
	}
	f.Add("{% macro f(t) %}{% for x in t.type %}{{ f(t) }}{% endfor %}{% endmacro %}{{ f({'type': ['string', 'null']}) }}")
	vars := variables(f, []byte(generatorVars))
	f.Fuzz(func(t *testing.T, source string) {
		tmpl, err := jinja.Parse(source)
		if err == nil {
			_, err = tmpl.Render(vars, jinja.Options{Now: at(goldenDay).Now, MaxSteps: 200_000, MaxOutput: 1 << 20})
		}
		var refused *jinja.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%v is not a *jinja.Error", err)
		}
	})
}
