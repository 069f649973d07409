package console

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/scenarios"
)

// The stand-ins of the console: a primary, a fallback with a certificate, and
// one that nobody has ever certified.
const (
	primary  = stage.OpenAI
	fallback = stage.Anthropic
	newcomer = "newcomer-demo"

	contractOfConsole = "triage"
)

func doubles() []stage.Provider {
	return []stage.Provider{
		{Name: primary, Protocol: providers.OpenAIChat},
		{Name: fallback, Protocol: providers.AnthropicMessages},
		{Name: newcomer, Protocol: providers.AnthropicMessages},
	}
}

// profiles is the fixtures with a profile for the newcomer: that of the fallback
// under its own name.
type profiles struct{}

// Open implements fs.FS.
func (profiles) Open(name string) (fs.File, error) { return fixtures.FS.Open(name) }

// ReadFile implements fs.ReadFileFS, which is how the stage reads profiles.
func (profiles) ReadFile(name string) ([]byte, error) {
	if name == "profiles/"+newcomer+".yaml" {
		text, err := fs.ReadFile(fixtures.FS, "profiles/"+fallback+".yaml")
		text = bytes.Replace(text, []byte("name: "+fallback), []byte("name: "+newcomer), 1)
		return bytes.Replace(text, []byte("upstream: lyra"), []byte("upstream: vega"), 1), err
	}
	return fs.ReadFile(fixtures.FS, name)
}

// intent is an intent of the console, whose prompt holds text alone.
func intent(text string) target.Intent {
	return target.Intent{Contract: contractOfConsole, Provider: primary, Input: map[string]any{"text": text}}
}

// certificates are those of the stage: signed here, with a key that only its
// trust file believes.
type certificates struct {
	mu       sync.Mutex
	dir      string
	signer   *certificate.Signer
	profiles map[string]providers.Profile
	facts    map[string]certificate.Contract
	serial   int64
}

// configure implements stage.Options.Configure.
func (c *certificates) configure(config stage.Config) (err error) {
	c.dir = config.Certificates
	if c.profiles, err = profile.LoadAll(os.DirFS(config.Profiles), "."); err != nil {
		return err
	}
	if c.facts, err = certificate.ReadContracts(os.DirFS(config.Contracts), "."); err != nil {
		return err
	}
	if c.signer, err = certificate.NewSigner(); err != nil {
		return err
	}
	trust := certificate.DefaultTrust("console", c.signer.Public(), primary, fallback, newcomer)
	if err := os.WriteFile(config.Trust, trust.Write(), 0o600); err != nil {
		return err
	}
	return errors.Join(c.certify(primary, contractOfConsole), c.certify(fallback, contractOfConsole))
}

// valid is how long a certificate of the console holds.
const valid = 14 * 24 * time.Hour

// certify signs a certificate that begins now.
func (c *certificates) certify(provider, contract string) error {
	now := time.Now()
	return c.sign(provider, contract, now.Add(-time.Second), now.Add(valid-time.Minute))
}

// expire puts a certificate there that has ended.
func (c *certificates) expire(provider, contract string) error {
	now := time.Now()
	return c.sign(provider, contract, now.Add(-25*time.Hour), now.Add(-time.Hour))
}

// withdraw takes the certificate away.
func (c *certificates) withdraw(provider, contract string) error {
	path, err := c.path(provider, contract)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *certificates) sign(provider, contract string, begin, end time.Time) error {
	path, err := c.path(provider, contract)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	s := scenarios.StatementOf(c.profiles[provider], c.facts[contract], begin, end)
	s.Predicate.Serial = c.serial
	envelope, err := certificate.Sign(s, c.signer)
	if err != nil {
		return fmt.Errorf("sign the certificate of %s: %w", provider, err)
	}
	// Whoever reads it must never see half of it.
	if err := os.WriteFile(path+".new", envelope, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// errNotDeployed is a name that no form of ours sends.
var errNotDeployed = errors.New("no such provider or contract is deployed here")

func (c *certificates) path(provider, contract string) (string, error) {
	if c.profiles[provider].Name == "" || c.facts[contract].ID == "" {
		return "", errNotDeployed
	}
	return filepath.Join(c.dir, certificate.FileName(provider, contract)), nil
}
