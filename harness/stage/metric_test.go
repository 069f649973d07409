package stage

import (
	"strings"
	"testing"
)

func TestASampleIsSummedOverItsLabelsAndNoOtherName(t *testing.T) {
	text := "# HELP a_total text\n# TYPE a_total counter\na_total{x=\"1\"} 2\na_total{x=\"2\"} 3.5\na_total_more 7\nb 1e3\n"
	for name, want := range map[string]float64{"a_total": 5.5, "b": 1000, "a": 0, "c": 0} {
		if got, err := sample(strings.NewReader(text), name); err != nil || got != want {
			t.Errorf("%s: %v %v, want %v", name, got, err, want)
		}
	}
	if _, err := sample(strings.NewReader("a x\n"), "a"); err == nil {
		t.Error("a figure that is no number was taken")
	}
}
