package judge_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/judge"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/wire"
)

// goodAnswers are the answers of a good stand-in to one case, streamed and whole, as
// text and as a call.
func goodAnswers(t *testing.T, c *contract.Contract, k *contract.Case, p providers.Protocol) []providers.Transcript {
	t.Helper()
	refs, err := certify.References(c)
	if err != nil {
		t.Fatal(err)
	}
	server, err := standin.Start(standin.Options{Protocol: p, References: refs})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	profile := providers.Profile{Name: "p", Protocol: p, BaseURL: server.URL(), Model: "m-1", AllowLoopback: true}
	var list []providers.Transcript
	for _, mode := range []providers.Mode{providers.ModeJSONSchema, providers.ModeTool} {
		for _, stream := range []bool{false, true} {
			if stream && p == providers.BedrockConverse {
				continue
			}
			r, err := c.Request(k.Input)
			if err != nil {
				t.Fatal(err)
			}
			r.Mode, r.Stream, r.Model = mode, stream, "m-1"
			got, err := call.Do(t.Context(), profile, "", r, http.Header{})
			if err != nil {
				t.Fatal(err)
			}
			if j := judge.Judge(c, k, got); j.Verdict != providers.Accept {
				t.Fatalf("%s: the good answer is %s, %s", p, j.Verdict, j.Reason)
			}
			list = append(list, got)
		}
	}
	return list
}

// survivors are the changes that are accepted with the right output although they
// are not without meaning by the rules above, each with the reason why that is right.
var survivors = []struct {
	what *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`^double event`), "an opening, or an end, that is said twice in the same words is the same"},
	{regexp.MustCompile(`^swap event`), "pieces are tied by their index, and the last one may come behind the word for the end"},
	{regexp.MustCompile(`/output/#/status$`), "the status of the response decides; that of its one item repeats it"},
}

// Of the changes that change the answer so many are rejected, at least; and so many
// are tried.
const (
	rejectedShare = 0.99
	fewestMutants = 2000
)

func TestMutantsOfTheWire(t *testing.T) {
	c, err := contract.Load(fixtures.FS, "contracts/invoice")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range wire.Protocols() {
		t.Run(string(p), func(t *testing.T) {
			made, meant, rejected := 0, 0, 0
			survived, same := map[string]int{}, map[string]int{}
			cases := []string{"ml-vallam"}
			if p == providers.BedrockConverse { // it has no streams here, so more bodies
				cases = []string{"ml-vallam", "ta-pattu", "en-stationery"}
			}
			for _, id := range cases {
				k := c.Case(id)
				for _, good := range goodAnswers(t, c, k, p) {
					want := canonicalOutput(judge.Judge(c, k, good))
					for _, m := range mutants(good) {
						changed := good
						changed.Body = m.body
						made++
						j := judge.Judge(c, k, changed)
						if m.equal == "" {
							meant++
						}
						switch {
						case j.Verdict == providers.Accept && canonicalOutput(j) != want:
							t.Errorf("%s: accepted with another output: %s", m.what, j.Output)
						case m.equal != "":
							if j.Verdict == providers.Accept {
								same[m.equal]++
							}
						case j.Verdict != providers.Accept:
							rejected++
						default:
							survived[m.what]++
						}
					}
				}
			}
			t.Logf("%d mutants, %d of them change the answer, %d of these are rejected", made, meant, rejected)
			if made < fewestMutants || float64(rejected) < rejectedShare*float64(meant) {
				t.Errorf("%d of %d are rejected, of %d mutants", rejected, meant, made)
			}
			for _, reason := range slices.Sorted(maps.Keys(same)) {
				t.Logf("%4d survive and are the same answer: %s", same[reason], reason)
			}
			for _, what := range slices.Sorted(maps.Keys(survived)) {
				i := slices.IndexFunc(survivors, func(s struct {
					what *regexp.Regexp
					why  string
				}) bool {
					return s.what.MatchString(what)
				})
				if i < 0 {
					t.Errorf("%d times accepted without a reason: %s", survived[what], what)
					continue
				}
				t.Logf("%4d survive: %s: %s", survived[what], what, survivors[i].why)
			}
		})
	}
}

func canonicalOutput(j providers.Judgement) string {
	var v any
	if json.Unmarshal(j.Output, &v) != nil {
		return string(j.Output)
	}
	out, _ := json.Marshal(v)
	return string(out)
}
