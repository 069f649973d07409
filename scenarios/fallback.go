package scenarios

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
)

// The fallback providers of the stage, beside anthropic, which is certified.
const (
	neverCertified   = "fallback-none"    // no certificate at all
	expiredFallback  = "fallback-expired" // a certificate that has ended
	otherModel       = "fallback-model"   // a certificate of the same name for another model
	contractOfStage  = "triage"
	fallbackTemplate = "profiles/" + anthropic + ".yaml"
)

// uncertified are the bad fallbacks: the gate's word for why each must stay out,
// and the same for people.
var uncertified = map[string]struct{ code, why string }{
	neverCertified:  {"none", "it has no certificate"},
	expiredFallback: {"expired", "its certificate has expired"},
	otherModel:      {"profile", "its certificate is for another model"},
}

// withFallbacks adds the fallback providers to a stage, and the certificates
// that they have or lack.
func withFallbacks(o stage.Options) stage.Options {
	o.Providers = []stage.Provider{{Name: openai, Protocol: providers.OpenAIChat}, {Name: anthropic, Protocol: providers.AnthropicMessages}}
	for name := range uncertified {
		o.Providers = append(o.Providers, stage.Provider{Name: name, Protocol: providers.AnthropicMessages})
	}
	o.Files = fallbackProfiles{fixtures.FS}
	o.Configure = certifyStage
	return o
}

// fallbackProfiles is the fixtures with a profile for each bad fallback: that of
// the good one under another name.
type fallbackProfiles struct{ fs.FS }

// ReadFile implements fs.ReadFileFS, which is how the stage reads profiles.
func (f fallbackProfiles) ReadFile(name string) ([]byte, error) {
	for bad := range uncertified {
		if name == "profiles/"+bad+".yaml" {
			text, err := fs.ReadFile(f.FS, fallbackTemplate)
			return bytes.Replace(text, []byte("name: "+anthropic), []byte("name: "+bad), 1), err
		}
	}
	return fs.ReadFile(f.FS, name)
}

// certifyStage signs the certificates of the stage with a key of its own that
// nobody else trusts, and writes the trust file that does.
func certifyStage(c stage.Config) error {
	profiles, err := profile.LoadAll(os.DirFS(c.Profiles), ".")
	if err != nil {
		return err
	}
	facts, err := certificate.ReadContracts(os.DirFS(c.Contracts), ".")
	if err != nil {
		return err
	}
	signer, err := certificate.NewSigner()
	if err != nil {
		return err
	}
	now := time.Now()
	other := profiles[otherModel]
	other.Model += "-before"
	for _, sign := range []struct {
		profile    providers.Profile
		begin, end time.Time
	}{
		{profiles[anthropic], now.Add(-time.Minute), now.Add(time.Hour)},
		{profiles[expiredFallback], now.Add(-2 * time.Hour), now.Add(-time.Hour)},
		{other, now.Add(-time.Minute), now.Add(time.Hour)},
	} {
		envelope, err := certificate.Sign(StatementOf(sign.profile, facts[contractOfStage], sign.begin, sign.end), signer)
		if err != nil {
			return fmt.Errorf("sign the certificate of %s: %w", sign.profile.Name, err)
		}
		if err := os.WriteFile(filepath.Join(c.Certificates, certificate.FileName(sign.profile.Name, contractOfStage)), envelope, 0o600); err != nil {
			return err
		}
	}
	trust := certificate.DefaultTrust("stage", signer.Public(), anthropic, expiredFallback, otherModel)
	return os.WriteFile(c.Trust, trust.Write(), 0o600)
}

// StatementOf is what a run of the checks would have stated about p: that it
// passed all that the contract demands. It is good on the stage only, where its
// key is trusted.
func StatementOf(p providers.Profile, c certificate.Contract, begin, end time.Time) certificate.Statement {
	s := certificate.Statement{
		Type: certificate.StatementType, PredicateType: certificate.PredicateType,
		Subject: []certificate.Subject{
			{Name: certificate.SubjectProfile + "/" + p.Name, Digest: certificate.Digest{SHA256: certificate.ProfileDigest(p)}},
			{Name: certificate.SubjectContract + "/" + c.Name(), Digest: certificate.Digest{SHA256: c.Digest}},
			{Name: certificate.SubjectFixtures, Digest: certificate.Digest{SHA256: c.Fixtures}},
			{Name: certificate.SubjectTranscripts, Digest: certificate.Digest{SHA256: certificate.Hash(nil)}},
		},
		Predicate: certificate.Predicate{
			Suite: certificate.Suite{Version: "stage"}, Issuer: "stage", Serial: 1, Mode: certificate.Replay,
			Profile: p.Name, Contract: c.Name(), Protocol: string(p.Protocol), Model: p.Model, Served: []string{p.Model}, Fingerprints: []string{}, Upstream: p.Upstream,
			Plan:    certificate.Plan{SHA256: certificate.Hash(nil), Registered: certificate.At(begin), Cases: c.Cases, Repeats: c.Repeats, Calls: c.Cases * c.Repeats},
			Started: certificate.At(begin), Ended: certificate.At(begin), NotBefore: certificate.At(begin), NotAfter: certificate.At(end),
			Baseline: certificate.Baseline{Structure: map[string]int{}, Finish: map[string]int{}, PromptSize: map[string]int{}},
			Scope:    certificate.Scope{Modes: []string{string(providers.ModeJSONSchema), string(providers.ModeTool)}, Streaming: true, MaxInput: 100_000, Languages: []string{"en"}},
		},
	}
	for _, id := range c.Must {
		s.Predicate.Checks = append(s.Predicate.Checks, certificate.Check{
			ID: id, Severity: certificate.Must, Verdict: certificate.Pass, N: c.Cases, K: c.Repeats, Passes: c.Cases, Lower95: 1, Basis: certificate.Replay, Evidence: []string{},
		})
	}
	return s
}
