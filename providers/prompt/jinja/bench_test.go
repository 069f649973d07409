package jinja_test

import (
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// The promise: a template compiles in at most 1 ms and renders in at most 50 us.

func BenchmarkParseAllTemplates(b *testing.B) {
	templates := fetchedTemplates(b)
	for b.Loop() {
		for _, tmpl := range templates {
			if _, err := jinja.Parse(tmpl.Text); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(templates)), "us/template")
}

func BenchmarkRenderAllTemplates(b *testing.B) {
	templates := fetchedTemplates(b)
	scenarios, _ := readGoldens(b)
	vars := variables(b, scenarios["toolround"])
	compiled := make([]*jinja.Template, len(templates))
	inputs := make([]*jinja.Dict, len(templates))
	for i, tmpl := range templates {
		var err error
		if compiled[i], err = jinja.Parse(tmpl.Text); err != nil {
			b.Fatal(err)
		}
		inputs[i] = withTokens(tmpl, vars)
	}
	for b.Loop() {
		for i, t := range compiled {
			_, _ = t.Render(inputs[i], at(goldenDay)) // some refuse; both count
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(templates)), "us/render")
}
