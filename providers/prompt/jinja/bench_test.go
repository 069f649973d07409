package jinja_test

import (
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// The promise: a template compiles in at most 1 ms and renders in at most 50 us.

// slowest returns the longest of the shortest times, in microseconds, that each
// of n things takes: on a shared machine the shortest of a few is nearest to the
// thing itself.
func slowest(n int, do func(i int)) float64 {
	longest := time.Duration(0)
	for i := range n {
		shortest := time.Hour
		for range 10 {
			begin := time.Now()
			do(i)
			shortest = min(shortest, time.Since(begin))
		}
		longest = max(longest, shortest)
	}
	return float64(longest.Nanoseconds()) / 1e3
}

func BenchmarkParseAllTemplates(b *testing.B) {
	templates := fetchedTemplates(b)
	parse := func(i int) {
		if _, err := jinja.Parse(templates[i].Text); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for i := range templates {
			parse(i)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(templates)), "us/template")
	b.ReportMetric(slowest(len(templates), parse), "us-slowest")
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
	render := func(i int) {
		_, _ = compiled[i].Render(inputs[i], at(goldenDay)) // some refuse; both count
	}
	for b.Loop() {
		for i := range compiled {
			render(i)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(templates)), "us/render")
	b.ReportMetric(slowest(len(templates), render), "us-slowest")
}
