package judge_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
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

// mutant is one automatic change of a good answer.
type mutant struct {
	what  string // operation and field, without numbers
	body  []byte
	equal string // why the answer is still the same one; "" where it is not
}

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

// mutants of one answer: a field deleted, renamed or of another type, events left
// out, doubled or in another order, and the body cut at every byte.
func mutants(t providers.Transcript) []mutant {
	var list []mutant
	add := func(what, equal string, body []byte) { list = append(list, mutant{what, body, equal}) }
	events, separator := split(t)
	stated := len(bytes.TrimRight(t.Body, "\n")) // where the last event with a meaning ends
	if t.Request.Stream {
		stated = 0
		for i, e := range events {
			if !idle(e) {
				stated = len(bytes.Join(events[:i+1], separator))
			}
		}
	}
	for at := range t.Body {
		equal := ""
		if at >= stated {
			equal = "cut behind the end that was stated"
		}
		add("cut", equal, t.Body[:at])
	}
	join := func(events [][]byte) []byte { return bytes.Join(events, separator) }
	for i, e := range events {
		head, data := payload(e)
		told := copied(t, e)
		for _, m := range fields(data) {
			changed := slices.Clone(events)
			changed[i] = append(slices.Clone(head), m.body...)
			if m.equal == "" && (told == "" || told == "response.completed" && !strings.Contains(m.what, " /response/output")) {
				add(m.what, "", join(changed))
			} else {
				add(m.what, cmp.Or(m.equal, "an opening, or a copy, of what other events say"), join(changed))
			}
		}
		if len(events) < 3 || len(bytes.TrimSpace(e)) == 0 {
			continue
		}
		equal := ""
		switch {
		case idle(e):
			equal = "an event that says nothing about the answer"
		case told != "" && told != "response.completed":
			equal = "an opening, or a copy, of what other events say"
		}
		kind := " " + string(kindOf(e))
		add("leave out event"+kind, equal, join(slices.Delete(slices.Clone(events), i, i+1)))
		add("double event"+kind, equal, join(slices.Insert(slices.Clone(events), i, e)))
		if i+1 < len(events) && len(bytes.TrimSpace(events[i+1])) > 0 {
			if next := copied(t, events[i+1]); idle(events[i+1]) || next != "" && next != "response.completed" {
				equal = cmp.Or(equal, "the other event says nothing about the answer, or is a copy")
			}
			swapped := slices.Clone(events)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			if bytes.Equal(e, events[i+1]) {
				equal = "two equal events"
			}
			add("swap event"+kind, equal, join(swapped))
		}
	}
	return list
}

// copied is the type of an event of OpenAI Responses that opens something, or says
// once more what other events say; else "". The last event holds a copy of the
// output, and the end.
func copied(t providers.Transcript, event []byte) string {
	if t.Protocol != providers.OpenAIResponses || !t.Request.Stream {
		return ""
	}
	_, data := payload(event)
	var e struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &e) != nil {
		return ""
	}
	if e.Type == "response.created" || e.Type == "response.in_progress" || e.Type == "response.completed" ||
		strings.HasSuffix(e.Type, ".added") || strings.HasSuffix(e.Type, ".done") {
		return e.Type
	}
	return ""
}

// kindOf is the type of an event, for messages.
func kindOf(event []byte) []byte {
	m := regexp.MustCompile(`"(?:type|object)":"([^"]*)"`).FindSubmatch(event)
	if m == nil {
		return nil
	}
	return m[1]
}

// idle tells events that say nothing about the answer: openings, pings, usage, and
// in Responses second copies of what pieces have said, or pieces of what a copy says.
func idle(event []byte) bool {
	_, data := payload(event)
	if string(bytes.TrimSpace(data)) == "[DONE]" || len(bytes.TrimSpace(data)) == 0 {
		return true
	}
	var v any
	return json.Unmarshal(data, &v) == nil && hollow(v, "")
}

// envelope are the names of fields that say nothing about what was answered or how
// it ended.
var envelope = map[string]string{}

func init() {
	for why, names := range map[string]string{
		"names the answer":                              "id object created created_at createdAt model modelVersion responseId response_id system_fingerprint item_id call_id toolUseId generation_id",
		"counts tokens (checks U01, U02)":               "usage usageMetadata tokens billed_units prompt_tokens completion_tokens total_tokens input_tokens output_tokens inputTokens outputTokens totalTokens promptTokenCount candidatesTokenCount totalTokenCount prompt_eval_count eval_count",
		"says how long it took":                         "total_duration load_duration eval_duration prompt_eval_duration metrics latencyMs",
		"repeats the request":                           "store truncation parallel_tool_calls temperature",
		"says where it stands, which is one place only": "role type index output_index content_index sequence_number logprobs annotations stop_sequence refusal",
	} {
		for _, name := range strings.Fields(names) {
			envelope[name] = why
		}
	}
}

// hollow tells values that carry nothing: empty ones, and what stands in the
// envelope.
func hollow(v any, name string) bool {
	if envelope[name] != "" {
		return true
	}
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case map[string]any:
		for k, inner := range v {
			if !hollow(inner, k) {
				return false
			}
		}
		return true
	case []any:
		for _, inner := range v {
			if !hollow(inner, "") {
				return false
			}
		}
		return true
	}
	return false
}

// split cuts a stream into its events; a body is one.
func split(t providers.Transcript) ([][]byte, []byte) {
	switch {
	case !t.Request.Stream:
		return [][]byte{t.Body}, nil
	case t.Protocol == providers.OllamaChat:
		return bytes.Split(t.Body, []byte("\n")), []byte("\n")
	}
	return bytes.Split(t.Body, []byte("\n\n")), []byte("\n\n")
}

func payload(event []byte) (head, data []byte) {
	if i := bytes.Index(event, []byte("data: ")); i >= 0 {
		return event[:i+6], event[i+6:]
	}
	return nil, event
}

// fields are the mutants of one JSON document.
func fields(data []byte) []mutant {
	var root any
	if json.Unmarshal(data, &root) != nil {
		return nil
	}
	var list []mutant
	add := func(what, equal string) {
		if out, err := json.Marshal(root); err == nil {
			list = append(list, mutant{what, out, equal})
		}
	}
	var visit func(v any, path string, inside string)
	visit = func(v any, path, inside string) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				old, at := v[name], path+"/"+name
				equal := inside
				if equal == "" {
					equal = why(old, name)
				}
				delete(v, name)
				add("delete "+at, equal)
				for _, other := range []string{name + "_x", strings.ToUpper(name)} {
					if other != name {
						v[other] = old
						add("rename "+at, equal)
						delete(v, other)
					}
				}
				for _, with := range retyped(old) {
					v[name] = with
					add("retype "+at, equal)
				}
				v[name] = old
				visit(old, at, equal)
			}
		case []any:
			for i := range v {
				old := v[i]
				equal := inside
				if equal == "" {
					equal = why(old, "")
				}
				for _, with := range retyped(old) {
					v[i] = with
					add("retype "+path+"/#", equal)
				}
				v[i] = old
				visit(old, path+"/#", equal)
			}
		}
	}
	visit(root, "", "")
	return list
}

// why a field can change without the answer being another one; "" where it cannot.
func why(v any, name string) string {
	switch {
	case envelope[name] != "":
		return envelope[name]
	case hollow(v, name):
		return "carries nothing"
	}
	return ""
}

func retyped(v any) []any {
	switch v := v.(type) {
	case string:
		return []any{7, []any{v}, map[string]any{"value": v}, nil}
	case float64:
		return []any{fmt.Sprint(v), []any{v}, nil, true}
	case bool:
		return []any{fmt.Sprint(v), nil}
	case nil:
		return []any{0, map[string]any{}}
	case map[string]any:
		return []any{[]any{v}, "object", nil}
	case []any:
		return []any{map[string]any{"0": v}, "array", nil}
	}
	return nil
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
