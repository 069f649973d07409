package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/render"
	"github.com/interlock-harness/interlock/providers/prompt/standin"
)

const (
	specials = `{"content":"<s>","special":true},{"content":"<|im_start|>","special":true},{"content":"<|im_end|>","special":true}`
	putsBOS  = `"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}}],"special_tokens":{"<s>":{"ids":[256]}}},`
)

// toy is one route: the clean one, and what a case changes.
type toy struct {
	template  string
	added     string // added tokens of the tokenizer
	more      string // further members of the tokenizer's file
	profile   render.Profile
	usage     map[int]int
	maxOutput int64
}

func clean(t *testing.T) *toy {
	t.Helper()
	s, err := standin.Toy()
	if err != nil {
		t.Fatal(err)
	}
	x := &toy{template: standin.ToyTemplate, added: standin.ToyTokens, maxOutput: 100, profile: s.Profile}
	x.profile.Tokenizer.SHA256 = "" // that of whatever file the case ends up with
	return x
}

func (x *toy) subject(t *testing.T) *render.Subject {
	t.Helper()
	tokenizer, err := bpe.Parse(standin.ToyTokenizer(x.added, x.more), "toy")
	if err != nil {
		t.Fatal(err)
	}
	if x.profile.Tokenizer.SHA256 == "" {
		x.profile.Tokenizer.SHA256 = tokenizer.Digest()
	}
	s, err := render.New(x.profile, x.template, tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	s.Requests = []providers.Request{standin.ToyRequest(x.maxOutput)}
	s.Usage = x.usage
	return s
}

// edit replaces a part of the toy's template, which must be there.
func (x *toy) edit(t *testing.T, old, with string) {
	t.Helper()
	if !strings.Contains(x.template, old) {
		t.Fatalf("the template has no %q", old)
	}
	x.template = strings.Replace(x.template, old, with, 1)
}

// faults are twenty faults, each of which exactly one check must report.
var faults = map[string]struct {
	what   string
	inject func(*testing.T, *toy)
	want   render.Verdict
}{
	"R1": {"the system prompt is dropped", func(t *testing.T, x *toy) {
		x.edit(t, "{%- for m in messages -%}", "{%- for m in (messages[1:] if messages[0].role == 'system' else messages) -%}")
	}, render.Fail},
	"R2": {"a late system prompt is dropped", func(t *testing.T, x *toy) {
		x.edit(t, "{%- for m in messages -%}\n    {{- '<|im_start|>' + m.role + '\\n' + content(m) -}}",
			"{%- for m in messages -%}\n    {%- if m.role == 'system' and not loop.first -%}{%- continue -%}{%- endif -%}{{- '<|im_start|>' + m.role + '\\n' + content(m) -}}")
	}, render.Fail},
	"R3": {"of two turns of the user the first is dropped", func(t *testing.T, x *toy) {
		x.edit(t, "{{- '<|im_start|>' + m.role", "{%- if m.role == 'user' and loop.nextitem and loop.nextitem.role == 'user' -%}{%- continue -%}{%- endif -%}{{- '<|im_start|>' + m.role")
	}, render.Fail},
	"R4": {"special tokens in user text are recognised", func(_ *testing.T, x *toy) { x.profile.ContentTokens, x.added = "all", specials }, render.Fail},
	"R5": {"unflagged added tokens in user text are recognised", func(_ *testing.T, x *toy) { x.profile.ContentTokens = "unflagged" }, render.Fail},
	"R6": {"template and post-processor both begin the prompt", func(_ *testing.T, x *toy) { x.profile.AddSpecialTokens, x.more = true, putsBOS }, render.Fail},
	"R7": {"the header of the answer is never there", func(t *testing.T, x *toy) { x.edit(t, "{%- if add_generation_prompt -%}", "{%- if false -%}") }, render.Fail},
	"R8": {"content is escaped for HTML", func(t *testing.T, x *toy) {
		x.edit(t, "{{- m.content -}}", "{{- m.content | replace('&', '&amp;') -}}")
	}, render.Fail},
	"R9": {"the keys of tools are sorted", func(t *testing.T, x *toy) {
		x.edit(t, "(tool | tojson)", "(tool.function.name ~ ' ' ~ tool.function.description ~ ' ' ~ (tool.function.parameters.properties | sort | join(' ')))")
	}, render.Fail},
	"R10": {"arguments that are text are encoded twice", func(t *testing.T, x *toy) {
		x.edit(t, "{{- call.function.arguments -}}", "{{- call.function.arguments | tojson -}}")
	}, render.Fail},
	"R11": {"an absent content is the word None", func(t *testing.T, x *toy) {
		x.edit(t, "{%- elif m.content -%}", "{%- elif m.content is none -%}{{- m.content -}}{%- elif m.content -%}")
	}, render.Fail},
	"R12": {"content in parts is the notation of a list", func(t *testing.T, x *toy) {
		x.edit(t, "{%- for part in m.content -%}{{- part.text -}}{%- endfor -%}", "{{- m.content | string -}}")
	}, render.Fail},
	"R13": {"the thinking of earlier turns is dropped", func(t *testing.T, x *toy) {
		x.edit(t, "{{- m.content -}}", "{{- m.content.split('</think>')[-1] if m.role == 'assistant' else m.content -}}")
	}, render.Fail},
	"R14": {"the prompt tells the date", func(t *testing.T, x *toy) {
		x.edit(t, "{{- bos_token -}}", "{{- bos_token + strftime_now('%d %b %Y') -}}")
	}, render.Fail},
	"R15": {"a system prompt of the template's own", func(t *testing.T, x *toy) {
		x.edit(t, "{{- bos_token -}}", "{{- bos_token + '<|im_start|>system\\nYou are a helpful assistant made by nobody.<|im_end|>\\n' -}}")
	}, render.Info},
	"R16": {"the tokenizer normalizes", func(_ *testing.T, x *toy) { x.more = `"normalizer":{"type":"NFC"},` }, render.Fail},
	"R17": {"prompt and answer do not fit", func(_ *testing.T, x *toy) { x.maxOutput = 4096 }, render.Fail},
	"R18": {"the provider counts five times as many tokens", func(_ *testing.T, x *toy) { x.usage = map[int]int{0: 2000} }, render.Fail},
	"R19": {"another tokenizer", func(_ *testing.T, x *toy) { x.profile.Tokenizer.SHA256 = strings.Repeat("0", 64) }, render.Fail},
	"R20": {"a schema with two types is a recursion without end", func(t *testing.T, x *toy) {
		x.edit(t, "{{- bos_token -}}", "{%- macro kind(t) -%}{%- if t is string -%}{{- t -}}{%- elif t is iterable -%}{%- for one in t -%}{{- kind(t) -}}{%- endfor -%}{%- endif -%}{%- endmacro -%}{{- bos_token -}}")
		x.edit(t, "(tool | tojson)", "(tool | tojson) + (kind(tool.function.parameters.properties.a.type) if tool.function.parameters.properties.a else '')")
	}, render.Fail},
}

func TestTheCleanRouteIsReportedByNoCheck(t *testing.T) {
	x := clean(t)
	x.usage = map[int]int{0: 271} // we count 269
	report := render.Check(x.subject(t))
	for _, r := range report.Results {
		if r.Verdict != render.Pass {
			t.Errorf("%s (%s): %s %s %+v", r.ID, r.Title, r.Verdict, r.Reason, r.Findings)
		}
	}
	if !report.OK() || len(report.Unused) > 0 {
		t.Errorf("ok %v, unused %v", report.OK(), report.Unused)
	}
}

func TestEachFaultIsReportedByExactlyItsCheck(t *testing.T) {
	if len(faults) != len(render.IDs()) {
		t.Fatalf("%d faults for %d checks", len(faults), len(render.IDs()))
	}
	for _, id := range render.IDs() {
		fault := faults[id]
		t.Run(id+" "+fault.what, func(t *testing.T) {
			x := clean(t)
			fault.inject(t, x)
			for _, r := range render.Check(x.subject(t)).Results {
				want := render.Pass
				switch {
				case r.ID == id:
					want = fault.want
				case r.Verdict == render.NotApplicable:
					continue
				}
				if r.ID == id {
					t.Log(r.Findings)
				}
				if r.Verdict != want {
					t.Errorf("%s: %s, want %s: %+v", r.ID, r.Verdict, want, r.Findings)
				}
			}
		})
	}
}

func TestALongHistoryThatIsCutUnseenIsReported(t *testing.T) {
	x := clean(t)
	x.edit(t, "{%- for m in messages -%}", "{%- for m in messages[-20:] -%}")
	report := render.Check(x.subject(t))
	for _, r := range report.Results {
		if (r.Verdict == render.Fail) != (r.ID == "R3") {
			t.Errorf("%s: %s %+v", r.ID, r.Verdict, r.Findings)
		}
	}
}

func TestADeclaredDeviationIsAllowedAndNamed(t *testing.T) {
	x := clean(t)
	faults["R13"].inject(t, x)
	x.profile.Deviations = []string{"R13 drops", "R8 trims"}
	report := render.Check(x.subject(t))
	r := report.Result("R13")
	if !report.OK() || r.Verdict != render.Deviation || len(r.Findings) != 1 || !r.Findings[0].Declared {
		t.Errorf("ok %v, R13 %+v", report.OK(), r)
	}
	if len(report.Unused) != 1 || report.Unused[0] != "R8 trims" {
		t.Errorf("unused %v, want the one that was not met", report.Unused)
	}
}

func TestARouteThatRefusesEverythingPassesNothing(t *testing.T) {
	x := clean(t)
	x.template = "{{ raise_exception('no') }}"
	report := render.Check(x.subject(t))
	for _, r := range report.Results {
		if looksAtTokenizer := r.ID == "R16" || r.ID == "R19"; r.Verdict == render.Pass != looksAtTokenizer {
			t.Errorf("%s: %s", r.ID, r.Verdict)
		}
	}
	if r := report.Result("R20"); r.Verdict != render.Fail {
		t.Errorf("R20: %+v", r)
	}
}

func TestProfilesThatMeanNothingAreRefused(t *testing.T) {
	for _, change := range []func(*render.Profile){
		func(p *render.Profile) { p.Deviations = []string{"R4 forges"} },
		func(p *render.Profile) { p.Deviations = []string{"R1 drops"} },
		func(p *render.Profile) { p.ContentTokens = "some" },
		func(p *render.Profile) { p.ArgumentsAs = "xml" },
		func(p *render.Profile) { p.K = -1 },
	} {
		x := clean(t)
		change(&x.profile)
		if _, err := render.New(x.profile, x.template, nil); err == nil {
			t.Errorf("%+v is accepted", x.profile)
		}
	}
	if _, err := render.New(clean(t).profile, "{% if %}", nil); err == nil {
		t.Error("a template that does not parse is accepted")
	}
}

func TestAProfileIsReadWithTheFilesThatItNames(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := clean(t)
	file := standin.ToyTokenizer(x.added, "")
	tokenizer, err := bpe.Parse(file, "toy")
	if err != nil {
		t.Fatal(err)
	}
	write("toy.jinja", []byte(x.template))
	write("tokenizer.json", file)
	profile := "name: toy\ntemplate: toy.jinja\ntokenizer:\n  file: tokenizer.json\n  sha256: " + tokenizer.Digest() + "\n  known:\n    - text: ab\n      ids: [97, 98]\n" +
		"variables:\n  bos_token: <s>\nbos: <s>\ncontent_tokens: none\ncontext_window: 4096\nk: 2\n"
	write("toy.yaml", []byte(profile))
	s, err := render.Load(filepath.Join(dir, "toy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	report := render.Check(s)
	if r := report.Result("R19"); !report.OK() || r.Verdict != render.Pass {
		t.Errorf("ok %v, R19 %+v", report.OK(), r)
	}
	write("toy.yaml", []byte(strings.Replace(profile, "[97, 98]", "[97, 99]", 1)))
	if s, err = render.Load(filepath.Join(dir, "toy.yaml")); err != nil {
		t.Fatal(err)
	}
	if r := render.Check(s).Result("R19"); r.Verdict != render.Fail {
		t.Errorf("wrong known ids: R19 %+v", r)
	}
	write("toy.yaml", []byte(profile+"colour: red\n"))
	if _, err := render.Load(filepath.Join(dir, "toy.yaml")); err == nil {
		t.Error("an unknown field is accepted")
	}
}
