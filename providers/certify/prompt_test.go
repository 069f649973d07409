package certify_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/providers/prompt/render"
	promptstandin "github.com/interlock-harness/interlock/providers/prompt/standin"
	"github.com/interlock-harness/interlock/providers/standin"
)

// vllmDemo is the shipped profile of a server that shows its prompts.
func vllmDemo(t *testing.T) certify.Options {
	t.Helper()
	p, err := profile.Load(fixtures.FS, "profiles/vllm-demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, p.Protocol, "invoice")
	o.Profile = p
	o.Prompt, err = render.Open(*p.Prompt, func(name string) ([]byte, error) { return fixtures.FS.ReadFile("profiles/" + name) })
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func result(t *testing.T, r *certify.Report, id string) check.Result {
	t.Helper()
	i := slices.IndexFunc(r.Results, func(x check.Result) bool { return x.ID == id })
	if i < 0 {
		t.Fatalf("there is no check %s", id)
	}
	return r.Results[i]
}

// stated returns what the certificate of a run says about one check.
func stated(t *testing.T, r *certify.Report, id string) (certificate.Check, bool) {
	t.Helper()
	s, err := r.Statement("test", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range s.Predicate.Checks {
		if k.ID == id {
			return k, true
		}
	}
	return certificate.Check{}, false
}

// The three faults by which a real vLLM deployment lost most of its valid tool
// calls. Each is caught without a request to anybody outside, and the certificate
// says so.
func TestACertificateOfAServerWithAPromptFaultNamesIt(t *testing.T) {
	for fault, want := range map[string]struct{ check, requirement string }{
		"no-generation-prompt": {"P01", "R7"},
		"list-literal-content": {"P01", "R12"},
		"system-dropped":       {"P02", "R1"},
	} {
		t.Run(fault, func(t *testing.T) {
			o := vllmDemo(t)
			var err error
			if o.Fault, err = standin.BadProvider(fault); err != nil {
				t.Fatal(err)
			}
			r, err := certify.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, x := range r.Results {
				if x.Verdict == check.Fail {
					failed = append(failed, x.ID)
				}
			}
			if r.Verdict != certify.NotCertified || !slices.Equal(failed, []string{want.check}) {
				t.Errorf("%s, failed %v, want %s alone", r.Verdict, failed, want.check)
			}
			if k, ok := stated(t, r, want.check); !ok || k.Verdict != certificate.Fail || !strings.HasPrefix(k.Reason, want.requirement+": ") {
				t.Errorf("the certificate states %+v, want that %s failed", k, want.requirement)
			}
		})
	}
}

func TestWithoutASectionPromptTheCertificateSaysThatItsChecksDoNotApply(t *testing.T) {
	r, err := certify.Run(t.Context(), options(t, providers.OpenAIChat, "invoice"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"P01", "P02", "P03", "P04", "P05"} {
		if x := result(t, r, id); x.Verdict != check.NotApplicable || !strings.Contains(x.Reason, "no section prompt") {
			t.Errorf("%s: %s, %s", id, x.Verdict, x.Reason)
		}
	}
	for _, id := range []string{"U01", "U02"} {
		if x := result(t, r, id); x.Verdict != check.Pass {
			t.Errorf("%s: %s, %s", id, x.Verdict, x.Reason)
		}
	}
}

func TestADemandedCheckThatDoesNotApplyIsNotKnown(t *testing.T) {
	o := options(t, providers.OpenAIChat, "invoice")
	demanding := *o.Contract
	demanding.Must = []string{"S01", "P02"}
	o.Contract = &demanding
	r, err := certify.Run(t.Context(), o)
	if err != nil || r.Verdict != certify.NotKnown {
		t.Errorf("%+v, %v", r.Verdict, err)
	}
}

func TestADeclaredDeviationPassesAndIsListed(t *testing.T) {
	o := vllmDemo(t)
	source := strings.Replace(promptstandin.ToyTemplate, "{{- bos_token -}}",
		"{{- bos_token + strftime_now('%d %b %Y') + '<|im_start|>system\\nYou are a helpful assistant made by nobody.<|im_end|>\\n' -}}", 1)
	for declared, want := range map[string]check.Verdict{"R14 clock": check.Pass, "": check.Fail} {
		p := o.Prompt.Profile
		if p.Deviations = nil; declared != "" {
			p.Deviations = []string{declared}
		}
		var err error
		if o.Prompt, err = render.New(p, source, o.Prompt.Tokenizer); err != nil {
			t.Fatal(err)
		}
		r, err := certify.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		x := result(t, r, "P01")
		if x.Verdict != want || want == check.Pass && (len(x.Notes) != 1 || !strings.HasPrefix(x.Notes[0], "R14 clock, as declared: ")) {
			t.Errorf("declared %q: %s %s %v", declared, x.Verdict, x.Reason, x.Notes)
		}
		if x := result(t, r, "P02"); x.Verdict != check.Pass || len(x.Notes) != 1 || !strings.HasPrefix(x.Notes[0], "R15: ") {
			t.Errorf("a system prompt of the template's own: %s %v", x.Verdict, x.Notes)
		}
	}
}

// vLLM is what the bad providers of the matrix play.
func TestOtherKindsOfOracleShowAFault(t *testing.T) {
	for _, kind := range []string{"llamacpp", "tgi"} {
		for fault, want := range map[string]string{"": "", "no-generation-prompt": "P01", "system-dropped": "P02", "history-dropped": "P03"} {
			o := vllmDemo(t)
			o.Prompt.Profile.Oracle = kind
			o.Only, o.Repeats = []string{o.Contract.Cases[0].ID}, 1
			if fault != "" {
				var err error
				if o.Fault, err = standin.BadProvider(fault); err != nil {
					t.Fatal(err)
				}
			}
			r, err := certify.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"P01", "P02", "P03", "P04", "P05"} {
				if kind == "llamacpp" && id == "P04" {
					continue // such a server tokenizes the whole prompt at once: P04 is right to fail
				}
				if x := result(t, r, id); (x.Verdict == check.Fail) != (id == want) || fault == "" && x.Verdict != check.Pass {
					t.Errorf("%s, %q: %s %s %s", kind, fault, id, x.Verdict, x.Reason)
				}
			}
		}
	}
}

// A server that cannot be asked is neither right nor wrong.
func TestAnOracleThatIsAwayLeavesItsChecksInconclusive(t *testing.T) {
	o := vllmDemo(t)
	refs, err := certify.References(o.Contract)
	if err != nil {
		t.Fatal(err)
	}
	server, err := standin.Start(standin.Options{Protocol: o.Profile.Protocol, Model: o.Profile.Model, References: refs})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	o.Mode, o.Profile.BaseURL, o.Secret = certificate.Live, server.URL()+"/v1", "sk-test"
	o.Only = []string{o.Contract.Cases[0].ID}
	r, err := certify.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"P01", "P02", "P03", "P04", "P05"} {
		if x := result(t, r, id); x.Verdict != check.Inconclusive || !strings.Contains(x.Reason, "could not be asked") {
			t.Errorf("%s: %s %s", id, x.Verdict, x.Reason)
		}
	}
}

func TestTheShippedDemoIsTheToyRoute(t *testing.T) {
	o := vllmDemo(t)
	toy := promptstandin.ToyTokenizer(promptstandin.ToyTokens, "")
	shipped, err := fixtures.FS.ReadFile("profiles/vllm-demo.tokenizer.json")
	if err != nil || !bytes.Equal(bytes.TrimSpace(shipped), toy) {
		t.Errorf("the tokenizer is another one, %v", err)
	}
	source, err := fixtures.FS.ReadFile("profiles/vllm-demo.jinja")
	if err != nil || string(source) != promptstandin.ToyTemplate {
		t.Errorf("the template is another one, %v", err)
	}
	if report := render.Check(o.Prompt); !report.OK() {
		t.Errorf("%+v", report.Results)
	}
}
