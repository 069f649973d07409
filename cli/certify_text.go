package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
)

// finish writes what was found, signs it and says it.
func (c *certification) finish(r *certify.Report, out string, key *certificate.Signer) error {
	partial := len(c.only) > 0 || c.check != "" || c.maxCalls > 0 && len(r.Plan.Calls) >= c.maxCalls
	var paper *signed
	err := writeTranscripts(out, r.Observations)
	if err == nil {
		err = writeJSON(out, "report.json", r)
	}
	if err == nil {
		err = writeSheet(out, certifySheet(r, c.exit(r), os.Args[min(1, len(os.Args)):]))
	}
	if err == nil && !partial {
		paper, err = c.sign(r, out, key)
	}
	if err == nil && c.bundle != "" {
		err = c.pack(r, paper, key)
	}
	code := c.exit(r)
	if err == nil && c.sarifFile != "" {
		var log []byte
		if log, err = c.sarif(r, code); err == nil {
			err = writeWhole(c.sarifFile, log, 0o644)
		}
	}
	if err != nil {
		return infrastructuref("write what was found: %v", err)
	}
	if c.s.json {
		line := struct {
			Type        string            `json:"type"`
			Verdict     certify.Verdict   `json:"verdict"`
			Exit        int               `json:"exit"`
			Provider    string            `json:"provider"`
			Contract    string            `json:"contract"`
			Mode        certificate.Mode  `json:"mode"`
			Plan        string            `json:"plan_sha256"`
			Calls       int               `json:"calls"`
			Checks      []check.Result    `json:"checks"`
			Certificate string            `json:"certificate,omitempty"`
			NotAfter    *certificate.Time `json:"not_after,omitempty"`
			Report      string            `json:"report"`
		}{"certification", r.Verdict, code, r.Profile, r.Contract, r.Mode, r.Plan.SHA256, len(r.Plan.Calls), c.shown(r), "", nil, out}
		if paper != nil {
			line.Certificate, line.NotAfter = paper.File, &paper.NotAfter
		}
		if err := json.NewEncoder(c.s.out).Encode(line); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(code)
	}
	var b strings.Builder
	c.head(&b, r)
	c.checks(&b, r)
	c.verdict(&b, r, paper, partial, out)
	if code != 0 {
		_, _ = fmt.Fprintf(&b, "exit %d\n", code)
	}
	if _, err := fmt.Fprint(c.s.out, printable(b.String())); err != nil {
		return infrastructuref("write: %v", err)
	}
	return exitWith(code)
}

// exit is the code of the verdict, or of the one check that was asked for.
func (c *certification) exit(r *certify.Report) int {
	if c.check != "" {
		for _, res := range r.Results {
			if res.ID == c.check {
				return map[check.Verdict]int{check.Pass: ExitOK, check.Fail: ExitViolation, check.Inconclusive: ExitInconclusive, check.NotApplicable: ExitInconclusive}[res.Verdict]
			}
		}
	}
	return map[certify.Verdict]int{certify.Certified: ExitOK, certify.NotCertified: ExitViolation, certify.NotKnown: ExitInconclusive}[r.Verdict]
}

// shown are the results that were asked for.
func (c *certification) shown(r *certify.Report) []check.Result {
	if c.check == "" {
		return r.Results
	}
	return slices.DeleteFunc(slices.Clone(r.Results), func(res check.Result) bool { return res.ID != c.check })
}

func (c *certification) head(b *strings.Builder, r *certify.Report) {
	from := "from the stand-in"
	if r.Recorded > 0 {
		from = fmt.Sprintf("%d of them from recordings", r.Recorded)
	}
	if r.Mode == certificate.Live {
		from = "live"
	}
	_, _ = fmt.Fprintf(b, "%s (%s, model %s) against %s: %s, %s, %s, %s\n\n",
		r.Profile, r.Protocol, r.Model, r.Contract, plural(len(c.shown(r)), "check"), plural(r.Plan.Cases, "case"),
		plural(len(r.Plan.Calls), "request"), from)
}

func (c *certification) checks(b *strings.Builder, r *certify.Report) {
	for _, severity := range []check.Severity{check.Must, check.Should} {
		all, pass := 0, 0
		for _, res := range c.shown(r) {
			if res.Severity != severity || !c.counts(res) {
				continue
			}
			all++
			if res.Verdict == check.Pass {
				pass++
			}
		}
		if all > 0 {
			_, _ = fmt.Fprintf(b, "  %-8s %2d of %d pass\n", severity, pass, all)
		}
	}
	if r.Stopped != nil {
		_, _ = fmt.Fprintf(b, "  ended after %s of the plan: the sequential test says %s\n", plural(r.Stopped.Cases, "case"), r.Stopped.Decision)
	}
	for _, res := range c.shown(r) {
		if res.Verdict == check.Pass && c.check == "" || !c.counts(res) || res.Verdict == check.NotApplicable {
			continue
		}
		c.check1(b, res)
	}
	notes(b, c.shown(r))
	_, _ = fmt.Fprintln(b)
}

// notes says what passes and may be wondered at, and which checks do not apply.
func notes(b *strings.Builder, results []check.Result) {
	absent := map[string][]string{}
	for _, res := range results {
		for _, note := range res.Notes {
			_, _ = fmt.Fprintf(b, "  note  %s: %s\n", res.ID, note)
		}
		if res.Verdict == check.NotApplicable {
			absent[res.Reason] = append(absent[res.Reason], res.ID)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(absent)) {
		_, _ = fmt.Fprintf(b, "  not applicable: %s (%s)\n", strings.Join(absent[reason], ", "), reason)
	}
}

// counts leaves out checks that had nothing to look at and that nobody demands.
func (c *certification) counts(res check.Result) bool {
	return res.N > 0 || slices.Contains(c.loaded.Must, res.ID) || c.check == res.ID
}

func (c *certification) check1(b *strings.Builder, res check.Result) {
	sign := map[check.Verdict]string{check.Pass: "✓", check.Fail: "✗", check.Inconclusive: "?"}[res.Verdict]
	reason := res.Reason
	if reason == "" {
		reason = res.Title
	}
	_, _ = fmt.Fprintf(b, "  %s %-5s %s\n", sign, res.ID, reason)
	_, _ = fmt.Fprintf(b, "          %d of %d cases", res.Passes, res.N)
	if res.Inconclusive > 0 {
		_, _ = fmt.Fprintf(b, ", %d inconclusive", res.Inconclusive)
	}
	if res.Threshold > 0 {
		_, _ = fmt.Fprintf(b, "; at least %.3f with 95 %% confidence, the plan demands %.3f", res.Lower95, res.Threshold)
	}
	_, _ = fmt.Fprintln(b)
	for i, f := range res.Findings {
		if i == 2 && c.check == "" {
			break
		}
		if f.Repeat == 0 { // no answer of the provider, but what it makes of a prompt
			_, _ = fmt.Fprintf(b, "          %s: %s\n", f.Case, f.Detail)
			continue
		}
		form := "whole"
		if f.Stream {
			form = "streamed"
		}
		_, _ = fmt.Fprintf(b, "          case %s, answer %d, %s: %s at %s\n", f.Case, f.Repeat, form, f.Reason, or(f.Place, "the answer"))
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (c *certification) verdict(b *strings.Builder, r *certify.Report, paper *signed, partial bool, out string) {
	fails := 0
	for _, res := range r.Results {
		if res.Severity == check.Must && res.Verdict == check.Fail || res.Verdict == check.Fail && slices.Contains(c.loaded.Must, res.ID) {
			fails++
		}
	}
	switch {
	case partial:
		_, _ = fmt.Fprintf(b, "A part of the plan: nothing is signed.\n")
	case r.Verdict == certify.Certified:
		_, _ = fmt.Fprintf(b, "Certified until %s.\n", paper.NotAfter)
	case r.Verdict == certify.NotCertified:
		_, _ = fmt.Fprintf(b, "Not certified: %s failed.\n", plural(fails, "must check"))
	default:
		_, _ = fmt.Fprintf(b, "Not known: a must check came to no verdict, so nothing is signed.\n")
	}
	if paper != nil {
		_, _ = fmt.Fprintf(b, "Certificate: %s\n", paper.File)
		for _, n := range paper.Notes {
			_, _ = fmt.Fprintf(b, "Note:   %s\n", n)
		}
	}
	if c.bundle != "" {
		_, _ = fmt.Fprintf(b, "Bundle: %s\n", c.bundle)
	}
	if r.Mode == certificate.Replay && !partial {
		_, _ = fmt.Fprintf(b, "Also:   recordings prove the adapter, not the vendor; add --live for failover use.\n")
	}
	_, _ = fmt.Fprintf(b, "Report: %s\n", out)
	switch {
	case fails > 0:
		_, _ = fmt.Fprintf(b, "again   %s\n", c.again(r))
	case r.Verdict == certify.Certified && !partial:
		_, _ = fmt.Fprintf(b, "Next:   %s\n", c.nextGate(r.Profile))
	}
}

// again is the command that repeats the first failure alone.
func (c *certification) again(r *certify.Report) string {
	words := []string{"interlock", "certify", shellWord(r.Profile), "--contract", c.facts.ID}
	if r.Mode == certificate.Live {
		words = append(words, "--live")
	}
	if c.bad != "" {
		words = append(words, "--bad", shellWord(c.bad))
	}
	for _, res := range r.Results {
		if res.Verdict != check.Fail {
			continue
		}
		if len(res.Findings) > 0 && c.loaded.Case(res.Findings[0].Case) != nil {
			words = append(words, "--case", shellWord(res.Findings[0].Case))
		}
		words = append(words, "--check", res.ID)
		break
	}
	return strings.Join(append(words, c.folders()...), " ")
}

// folders are the flags by which another command finds the same profiles and
// contracts.
func (c *certification) folders() []string {
	var words []string
	if c.deployed.profilesDir != "" {
		words = append(words, "--profiles", shellWord(c.deployed.profilesDir))
	}
	if c.deployed.contractsDir != "" {
		words = append(words, "--contracts", shellWord(c.deployed.contractsDir))
	}
	return words
}

// nextGate is the command that asks whether another of the deployed providers may
// fail over to this one.
func (c *certification) nextGate(name string) string {
	from := "OTHER"
	if all, err := c.deployed.profiles(); err == nil {
		for _, other := range append(demos(), slices.Sorted(maps.Keys(all))...) {
			if _, ok := all[other]; ok && other != name {
				from = other
				break
			}
		}
	}
	words := append([]string{"interlock", "gate", "--from", shellWord(from), "--to", shellWord(name), "--contract", c.facts.ID}, c.folders()...)
	if c.certs != certificatesFolder() {
		words = append(words, "--certs", shellWord(c.certs))
	}
	return strings.Join(words, " ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
