package jinja_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// classOf returns the class of a refusal, or "" for a text.
func classOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *jinja.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a *jinja.Error", err)
	}
	return e.Class
}

// refusal parses and renders source and returns the class of the refusal.
func refusal(t *testing.T, source string, o jinja.Options) string {
	t.Helper()
	tmpl, err := jinja.Parse(source)
	if err == nil {
		_, err = tmpl.Render(jinja.NewDict(), o)
	}
	return classOf(t, err)
}

func TestLimitsEndWhatWouldNotEnd(t *testing.T) {
	const double = "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
	for _, c := range []struct{ name, source, class string }{
		{"a macro without end", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"},
		{"a recursive loop without end", "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", "RecursionError"},
		{"a block in itself", "{% block a %}{{ self.a() }}{% endblock %}", "RecursionError"},
		{"loops in loops", "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", "LimitError"},
		{"text that doubles", double, "LimitError"},
		{"text repeated", "{{ 'ab' * 10**12 }}", "LimitError"},
		{"a list repeated", "{% set l = [1] * 10**12 %}", "LimitError"},
		{"a wide field", "{{ '%1000000000d' % 1 }}", "LimitError"},
		{"a wide centre", "{{ 'a'.center(10**12) }}", "LimitError"},
		{"a large power", "{{ 9 ** (10 ** 9) }}", "LimitError"},
		{"replacements that grow", "{{ ('a' * 100000).replace('', 'b' * 100000) }}", "LimitError"},
		{"brackets without end", "{{ " + strings.Repeat("(", 100_000) + " }}", "RecursionError"},
		{"signs without end", "{{ " + strings.Repeat("-", 100_000) + "1 }}", "RecursionError"},
		{"filters without end", "{{ 1" + strings.Repeat("|string", 100_000) + " }}", "RecursionError"},
		{"sums without end", "{{ 1" + strings.Repeat("+1", 100_000) + " }}", "RecursionError"},
		{"ifs without end", strings.Repeat("{% if x %}", 100_000), "RecursionError"},
		{"150 ifs", strings.Repeat("{% if x %}", 150) + strings.Repeat("{% endif %}", 150), "IndentationError"},
		{"21 loops", strings.Repeat("{% for i in x %}", 21) + strings.Repeat("{% endfor %}", 21), "SyntaxError"},
		{"250 operators", "{{ x" + strings.Repeat("+1", 250) + " }}", "SyntaxError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := refusal(t, c.source, jinja.Options{}); got != c.class {
				t.Errorf("refused with %q, want %s", got, c.class)
			}
		})
	}
}

func TestLimitsArePerRender(t *testing.T) {
	const loop = "{% for i in range(1000) %}x{% endfor %}"
	const deep = "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(50) }}"
	for _, c := range []struct {
		name, source string
		o            jinja.Options
		class        string
	}{
		{"steps enough", loop, jinja.Options{MaxSteps: 10_000}, ""},
		{"steps too few", loop, jinja.Options{MaxSteps: 500}, "LimitError"},
		{"output enough", loop, jinja.Options{MaxOutput: 1000}, ""},
		{"output too small", loop, jinja.Options{MaxOutput: 999}, "LimitError"},
		{"depth enough", deep, jinja.Options{MaxDepth: 300}, ""},
		{"depth too small", deep, jinja.Options{MaxDepth: 200}, "RecursionError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := refusal(t, c.source, c.o); got != c.class {
				t.Errorf("refused with %q, want %q", got, c.class)
			}
		})
	}
}

func TestRendersDoNotSeeEachOther(t *testing.T) {
	tmpl, err := jinja.Parse("{% macro m(n) %}{{ n }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(9) }}{{ messages.pop() }}{{ messages|length }}")
	if err != nil {
		t.Fatal(err)
	}
	vars := variables(t, []byte(`{"messages": ["a", "b"]}`))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if text, err := tmpl.Render(vars, jinja.Options{}); text != "9876543210b1" || err != nil {
					t.Errorf("rendered %q, %v", text, err)
				}
			}
		})
	}
	wg.Wait()
	if messages, _ := vars.Lookup("messages"); len(messages.(*jinja.List).Items) != 2 {
		t.Error("the template changed a list of the caller")
	}
}

func TestWhatIsNotTheSameTwiceIsRefused(t *testing.T) {
	for _, source := range []string{"{{ [1, 2]|random }}", "{{ lipsum() }}", "{{ {}.items }}", "{{ [1]|map('abs') }}", "{{ joiner() }}"} {
		if got := refusal(t, source, jinja.Options{}); got != "UnsupportedError" {
			t.Errorf("%s: refused with %q, want UnsupportedError", source, got)
		}
	}
	if got := refusal(t, "{{ [1]|random }}{{ []|random }}", jinja.Options{}); got != "" {
		t.Errorf("nothing to choose: refused with %s", got)
	}
}

func TestTheClockIsInjected(t *testing.T) {
	tmpl, err := jinja.Parse("{{ strftime_now('%Y-%m-%d') }}")
	if err != nil {
		t.Fatal(err)
	}
	for _, day := range []string{"2024-02-29", "2026-11-29"} {
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := tmpl.Render(jinja.NewDict(), at(now)); text != day || err != nil {
			t.Errorf("rendered %q, %v; want %s", text, err, day)
		}
	}
}
