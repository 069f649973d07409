package worker

import (
	"net/http"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// The table of outcomes, row by row. Verdicts are those that the judge gives to
// such a transcript.
func TestClassify(t *testing.T) {
	sent := func(status int, end providers.End) providers.Transcript {
		return providers.Transcript{Reach: providers.ReachSent, Status: status, End: end}
	}
	judged := func(v providers.Verdict, reason string) providers.Judgement {
		return providers.Judgement{Verdict: v, Reason: reason}
	}
	cut := judged(providers.Unknown, "unknown.cut_stream")
	error4xx := judged(providers.DefiniteFailure, "error.rejected")
	for name, c := range map[string]struct {
		t        providers.Transcript
		j        providers.Judgement
		refusals []int
		kind     kind
		reason   string
	}{
		"connection refused, DNS, dial, TLS":     {providers.Transcript{Reach: providers.ReachNotSent, End: providers.EndNone}, cut, nil, notSent, "not_sent.connect"},
		"write error or reset before an answer":  {sent(0, providers.EndReset), cut, nil, unknown, "unknown.no_answer"},
		"deadline without a first byte":          {sent(0, providers.EndStall), cut, nil, unknown, "unknown.no_answer"},
		"200 and a cut stream":                   {sent(200, providers.EndEOF), cut, nil, unknown, "unknown.cut_stream"},
		"200 and a reset":                        {sent(200, providers.EndReset), judged(providers.Unknown, "unknown.unreadable_body"), nil, unknown, "unknown.unreadable_body"},
		"200 and a good answer":                  {sent(200, providers.EndEOF), judged(providers.Accept, "ok"), nil, accepted, "ok"},
		"a good answer and then a reset":         {sent(200, providers.EndReset), judged(providers.Accept, "ok"), nil, accepted, "ok"},
		"200 and a bad output":                   {sent(200, providers.EndEOF), judged(providers.Reject, "schema.enum"), nil, rejected, "rejected.schema.enum"},
		"200 and a refusal":                      {sent(200, providers.EndEOF), judged(providers.Reject, "stop.refusal"), nil, rejected, "rejected.stop.refusal"},
		"an error event after 200":               {sent(200, providers.EndEOF), judged(providers.DefiniteFailure, "error.mid_stream"), nil, refused, "refused.mid_stream"},
		"400":                                    {sent(400, providers.EndEOF), error4xx, nil, refused, "refused.400"},
		"425":                                    {sent(425, providers.EndEOF), error4xx, nil, refused, "refused.425"},
		"429":                                    {sent(429, providers.EndEOF), error4xx, nil, refused, "refused.429"},
		"a redirect":                             {sent(307, providers.EndEOF), error4xx, nil, refused, "refused.307"},
		"408":                                    {sent(408, providers.EndEOF), judged(providers.Unknown, "unknown.upstream_timeout"), nil, unknown, "unknown.408"},
		"409 although its body states an error":  {sent(409, providers.EndEOF), error4xx, nil, unknown, "unknown.409"},
		"500 although its body states an error":  {sent(500, providers.EndEOF), error4xx, nil, unknown, "unknown.500"},
		"502":                                    {sent(502, providers.EndEOF), judged(providers.Unknown, "unknown.unreadable_body"), nil, unknown, "unknown.502"},
		"504":                                    {sent(504, providers.EndEOF), judged(providers.Unknown, "unknown.upstream_timeout"), nil, unknown, "unknown.504"},
		"522":                                    {sent(522, providers.EndEOF), judged(providers.Unknown, "unknown.unreadable_body"), nil, unknown, "unknown.522"},
		"503 that nobody documents":              {sent(503, providers.EndEOF), judged(providers.Unknown, "unknown.upstream_error"), nil, unknown, "unknown.upstream_error"},
		"503 of a provider that sheds load so":   {sent(503, providers.EndEOF), judged(providers.Unknown, "unknown.upstream_error"), []int{503}, refused, "refused.503"},
		"529 of a protocol that sheds load so":   {sent(529, providers.EndEOF), error4xx, nil, refused, "refused.529"},
		"500 of a provider that refuses so":      {sent(500, providers.EndEOF), error4xx, []int{500}, refused, "refused.500"},
		"a status that nobody knows":             {sent(599, providers.EndEOF), judged(providers.Unknown, "unknown.unreadable_body"), nil, unknown, "unknown.unreadable_body"},
		"a verdict that nobody knows is unknown": {sent(200, providers.EndEOF), judged("perhaps", "x"), nil, unknown, "unknown.x"},
	} {
		t.Run(name, func(t *testing.T) {
			c.t.Refused = c.refusals
			got := classify(c.t, c.j, time.Now())
			if got.kind != c.kind || got.reason != c.reason {
				t.Errorf("got %s %s, want %s %s", got.kind, got.reason, c.kind, c.reason)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", " 7 ", 7 * time.Second},
		{"Retry-After", "0", 0},
		{"Retry-After", "-5", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "99999999999999999999", 0},
		{"Retry-After", "9999999999", time.Hour},
		{"Retry-After", "Mon, 30 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{"Retry-After", "Mon, 30 Nov 2026 11:00:00 GMT", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After-Ms", "9223372036854775807", time.Hour},
	} {
		if got := retryAfter(http.Header{http.CanonicalHeaderKey(c.name): {c.value}}, now); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

func TestMutantsTakeTheUnknownForDefinite(t *testing.T) {
	reset := providers.Transcript{Reach: providers.ReachSent, End: providers.EndReset}
	broken := providers.Transcript{Reach: providers.ReachSent, Status: 500, End: providers.EndEOF}
	for name, tr := range map[string]providers.Transcript{"reset-is-not-sent": reset, "server-error-is-refused": broken} {
		m, err := mutant.Choose(name)
		if err != nil {
			t.Fatal(err)
		}
		clean := classify(tr, providers.Judgement{Verdict: providers.Unknown}, time.Now())
		read := func(m mutant.Active) kind {
			a := answered{outcome: clean}
			(&Worker{options: Options{Mutant: m}}).misread(&a, tr)
			return a.outcome.kind
		}
		if clean.kind != unknown || read(mutant.Active{}) != unknown {
			t.Errorf("%s: the clean service says %s", name, clean.kind)
		}
		if read(m) == unknown {
			t.Errorf("%s changes nothing", name)
		}
	}
}
