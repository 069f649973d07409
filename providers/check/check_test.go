package check_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/check"
)

// seen is one observation of the base probe, accepted unless changed.
func seen(c string, repeat int, change func(*check.Observation)) *check.Observation {
	o := &check.Observation{
		Probe: check.Base, Case: c, Repeat: repeat, Digest: c,
		Transcript: providers.Transcript{
			Protocol: providers.OpenAIChat, Status: 200, End: providers.EndEOF, Header: http.Header{"Content-Type": {"application/json"}},
			Request: providers.Request{Mode: providers.ModeJSONSchema, Stream: repeat%2 == 0},
		},
		Judgement: providers.Judgement{Verdict: providers.Accept, Reason: "ok", Output: json.RawMessage(`{"a":1}`)},
		Response:  providers.Response{End: providers.FinishNormal, Finish: "stop", Usage: usage(3, 4)},
	}
	if change != nil {
		change(o)
	}
	return o
}

func usage(in, out int64) *providers.Usage {
	total := in + out
	return &providers.Usage{Input: &in, Output: &out, Total: &total}
}

// run is thirty cases of four repeats; change may spoil each of them.
// Cases in which the forms differ are asked again, as certify does.
func run(change func(c int, o *check.Observation)) *check.Run {
	r := &check.Run{Protocol: providers.OpenAIChat, Threshold: 0.9, Inconclusive: 0.02}
	ask := func(c int, p check.Probe, from, to int) {
		for repeat := from; repeat <= to; repeat++ {
			o := seen(string(rune('A'+c)), repeat, nil)
			o.Probe = p
			change(c, o)
			r.Observations = append(r.Observations, o)
		}
	}
	for c := range 30 {
		ask(c, check.Base, 1, 4)
	}
	for _, k := range r.Undecided() {
		ask(int(k.Case[0]-'A'), check.Twin, 5, 2*check.FormTries)
	}
	return r
}

func rejected(r *check.Run) map[string]check.Result {
	found := map[string]check.Result{}
	for _, res := range check.Judge(r) {
		if res.Verdict == check.Fail {
			found[res.ID] = res
		}
	}
	return found
}

func TestAReasonBelongsToOneCheck(t *testing.T) {
	for reason, want := range map[string]string{
		"unknown.cut_stream": "W07", "unknown.unreadable_body": "W02", "error.in_body": "W03", "error.rejected": "",
		"error.mid_stream": "", "stop.length": "S01", "stop.refusal": "S01", "stop.content_filter": "S01", "stop.abnormal": "F02",
		"envelope.empty_output": "F05", "envelope.missing_finish": "F02", "envelope.malformed_stream": "W09", "model.mismatch": "I02",
		"param.ignored": "U02", "tool.wrong_name": "T01", "tool.bad_arguments": "T02", "tool.duplicate_call": "T03", "tool.in_text": "T03",
		"json.fenced": "S05", "json.prose": "S05", "json.think_block": "S05", "json.special_token": "S05", "json.concatenated": "S05",
		"json.truncated": "F01", "json.syntax": "S01", "json.duplicate_key": "S03", "schema.extra_key": "S02", "schema.wrapper": "S02",
		"schema.missing_key": "S01", "schema.wrong_type": "S01", "schema.null": "S07", "schema.enum": "S06", "schema.format": "S06",
		"schema.range": "S06", "business.total": "B01", "business.id": "B02", "business.currency": "B04", "business.quote": "B03",
	} {
		t.Run(reason, func(t *testing.T) {
			r := run(func(_ int, o *check.Observation) {
				o.Judgement = providers.Judgement{Verdict: providers.Reject, Reason: reason}
			})
			r.Rules = map[string]check.Rule{"business.id": {Cross: true}, "business.currency": {Cross: true, Normalisation: true}, "business.quote": {Quotation: true}}
			got := rejected(r)
			if want == "" && len(got) == 0 {
				return
			}
			if _, ok := got[want]; !ok || len(got) != 1 {
				t.Errorf("rejected by %v, want %s alone", keys(got), want)
			}
		})
	}
}

func keys(m map[string]check.Result) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return list
}

func TestAGoodRunIsRejectedByNone(t *testing.T) {
	for _, res := range check.Judge(run(func(int, *check.Observation) {})) {
		if res.Verdict == check.Fail {
			t.Errorf("%s: %s", res.ID, res.Reason)
		}
		if res.ID == "S01" && (res.Verdict != check.Pass || res.N != 30 || res.K != 4 || res.Passes != 30 || res.Lower95 < 0.904) {
			t.Errorf("S01 %+v", res)
		}
		if res.ID == "X03" && res.Verdict != check.Inconclusive {
			t.Errorf("X03 without a job service: %s", res.Verdict)
		}
		if res.ID == "F03" && res.Verdict != check.Inconclusive { // nothing was asked
			t.Errorf("F03 without its probe: %s", res.Verdict)
		}
	}
}

// The same transcripts give the same results, byte for byte: they are signed, and
// done again by whoever checks them. Several cases fail each of the checks that go
// by case, and differ in why.
func TestTheSameRunGivesTheSameResults(t *testing.T) {
	results := func() string {
		r := run(func(c int, o *check.Observation) {
			o.Digest = fmt.Sprintf("%s-%d-%s-%v", o.Case, o.Repeat, o.Probe, o.Stream())
			if len(o.Transcript.Chunks) == 0 {
				o.Transcript.Chunks = []providers.Chunk{{At: time.Duration(c) * time.Second}}
			}
			switch {
			case c < 6 && o.Stream():
				o.Judgement = providers.Judgement{Verdict: providers.Reject, Reason: fmt.Sprintf("business.total_%d", c)}
			case c >= 6 && c < 12 && o.Repeat == 1:
				o.Judgement.Output = json.RawMessage(`{"a":"2"}`)
			}
		})
		r.FirstByte = time.Second
		data, err := json.Marshal(check.Judge(r))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	want := results()
	for _, id := range []string{"W10", "R01", "R02", "L01"} {
		if !regexp.MustCompile(`"id":"` + id + `"[^{}]*"verdict":"fail"`).MatchString(want) {
			t.Errorf("%s does not fail, so its order is not seen", id)
		}
	}
	for n := range 20 {
		if got := results(); got != want {
			t.Fatalf("time %d\n%s\nbefore\n%s", n+2, got, want)
		}
	}
}

func TestInconclusiveNeitherPassesNorLeavesTheDenominator(t *testing.T) {
	lost := func(cases int) check.Result {
		r := run(func(c int, o *check.Observation) {
			if c < cases && o.Repeat == 1 {
				o.Transcript.Status = 429
				o.Judgement = providers.Judgement{Verdict: providers.DefiniteFailure, Reason: "error.rejected"}
			}
		})
		for _, res := range check.Judge(r) {
			if res.ID == "S02" {
				return res
			}
		}
		return check.Result{}
	}
	if res := lost(0); res.Verdict != check.Pass || res.Inconclusive != 0 {
		t.Errorf("%+v", res)
	}
	if res := lost(1); res.Verdict != check.Inconclusive || res.N != 30 || res.Passes != 29 || res.Inconclusive != 1 || res.Reason == "" {
		t.Errorf("%+v", res)
	}
}

func TestStatisticalChecksGoByCases(t *testing.T) {
	one := rejected(run(func(c int, o *check.Observation) { // one repeat of one case
		if c == 3 && o.Repeat == 1 {
			o.Judgement = providers.Judgement{Verdict: providers.Reject, Reason: "schema.wrong_type"}
		}
	}))
	if res, ok := one["S01"]; !ok || res.Passes != 29 || res.Lower95 > 0.86 || len(res.Findings) != 1 || res.Findings[0].Case != "D" {
		t.Errorf("%+v", one)
	}
}

func TestStreamsAreToBlameWhenOnlyTheyFail(t *testing.T) {
	spoil := func(text string, streamsOnly bool) map[string]check.Result {
		return rejected(run(func(_ int, o *check.Observation) {
			if o.Stream() || !streamsOnly {
				o.Judgement = providers.Judgement{Verdict: providers.Reject, Reason: "business.id"}
				o.Response.Text = text
			}
		}))
	}
	for name, c := range map[string]struct {
		got  map[string]check.Result
		want string
	}{
		"streams only": {spoil("x", true), "W10"}, "characters lost": {spoil("x\uFFFD", true), "W08"}, "both": {spoil("x", false), "B01"},
	} {
		if _, ok := c.got[c.want]; !ok || len(c.got) != 1 {
			t.Errorf("%s: %v, want %s", name, keys(c.got), c.want)
		}
	}
	differ := rejected(run(func(_ int, o *check.Observation) {
		if o.Stream() {
			o.Judgement.Output = json.RawMessage(`{"a":2}`)
		}
	}))
	if _, ok := differ["W10"]; !ok {
		t.Errorf("accepted but different: %v", keys(differ))
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":"x"}`, `{"b":"y","a":2}`, true},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":1}`, `{"A":1}`, false},
		{`{"a":[1]}`, `{"a":[1,2]}`, false},
		{`{"a":null}`, `{"a":false}`, false},
	} {
		if got := check.Shape([]byte(c.a)) == check.Shape([]byte(c.b)); got != c.same {
			t.Errorf("%s and %s: same is %v", c.a, c.b, got)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	judge := func(trips ...check.RoundTrip) check.Result {
		r := run(func(int, *check.Observation) {})
		r.RoundTrips = trips
		for _, res := range check.Judge(r) {
			if res.ID == "X03" {
				return res
			}
		}
		return check.Result{}
	}
	whole := check.RoundTrip{Case: "a", Judged: json.RawMessage(`{"a": 1}`), Stored: json.RawMessage(`{"a": 1}`)}
	lossy := check.RoundTrip{Case: "b", Judged: json.RawMessage(`{"a": 1}`), Stored: json.RawMessage(`{"a":1}`)}
	for name, c := range map[string]struct {
		got  check.Result
		want check.Verdict
	}{
		"equal bytes": {judge(whole), check.Pass}, "equal meaning only": {judge(whole, lossy), check.Fail},
		"no job service": {judge(), check.Inconclusive},
		"stored nothing": {judge(check.RoundTrip{Case: "c", Judged: json.RawMessage("{}"), Problem: "the job failed"}), check.Fail},
		"never ran":      {judge(check.RoundTrip{Case: "c", Problem: "no database"}), check.Inconclusive},
	} {
		if c.got.Verdict != c.want {
			t.Errorf("%s: %s (%s)", name, c.got.Verdict, c.got.Reason)
		}
	}
}
