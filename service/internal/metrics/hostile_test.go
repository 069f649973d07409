package metrics_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/hostile"
	"github.com/interlock-harness/interlock/service/internal/metrics"
)

// TestHostileLabelsAreEscaped puts each text into a label: every sample stays one
// line of the format.
func TestHostileLabelsAreEscaped(t *testing.T) {
	m := metrics.New(figures{}, func() []metrics.Expiry { return nil })
	texts := hostile.Texts()
	for _, text := range texts {
		m.AttemptEnded(strings.ToValidUTF8(text, "?"), "succeeded", time.Second)
	}
	scrape := httptest.NewRecorder()
	m.Handler().ServeHTTP(scrape, httptest.NewRequest("GET", "/metrics", nil))
	sample := regexp.MustCompile(`^(# (HELP|TYPE) .*|[a-z_]+(\{([a-z_]+="([^"\\\n]|\\[\\"n])*",?)*\})? \S+)$`)
	seen := 0
	for _, line := range strings.Split(strings.TrimSuffix(scrape.Body.String(), "\n"), "\n") {
		if !sample.MatchString(line) {
			t.Errorf("no sample: %.200q", line)
		}
		if strings.HasPrefix(line, "interlock_attempt_duration_seconds_count") {
			seen++
		}
	}
	if seen < 500 {
		t.Errorf("%d labels of %d", seen, len(texts))
	}
}
