package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
)

func defaultKeyFile() string { return filepath.Join(outFolder, "keys", "issuer.key") }

// signer reads the key that signs. The default one is made when it is missing: a
// key for trying things out, trusted by nobody but the trust file beside it.
func (c *certification) signer() (*certificate.Signer, error) {
	file := c.keyFile
	if file == "" {
		file = defaultKeyFile()
	}
	key, err := certificate.ReadKeyFile(file)
	if err == nil {
		return key, nil
	}
	if c.keyFile != "" || !errors.Is(err, fs.ErrNotExist) {
		return nil, keyFileError(err)
	}
	if key, err = certificate.NewSigner(); err != nil {
		return nil, infrastructuref("make a key: %v", err)
	}
	if err := certificate.WriteKeyFile(file, key); err != nil {
		return nil, infrastructuref("write key file %s: %v", shellWord(file), err)
	}
	return key, nil
}

// folder makes the folder of this run; one that holds a report is refused.
func (c *certification) folder() (string, error) {
	dir := c.out
	if dir == "" {
		dir = filepath.Join(outFolder, time.Now().UTC().Format("20060102-150405.000")+"-certify-"+c.profile.Name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", infrastructuref("make the folder %s: %v", shellWord(dir), errors.Unwrap(err))
	}
	for _, name := range []string{"plan.json", "report.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "", usagef("%s holds the report of another run; choose another --out", shellWord(dir))
		}
	}
	return dir, nil
}

func writeJSON(dir, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, name), append(data, '\n'), 0o644)
}

func writeTranscripts(dir string, list []*check.Observation) error {
	data, err := certify.Transcripts(list)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, "transcripts.jsonl"), data, 0o644)
}

// signed is where a certificate went, and what is to be said about it.
type signed struct {
	Envelope []byte
	File     string
	NotAfter certificate.Time
	Notes    []string
}

// sign writes the certificate, and beside it a trust file where there is none.
func (c *certification) sign(r *certify.Report, out string, key *certificate.Signer) (*signed, error) {
	statement, err := r.Statement(c.issuer, c.valid)
	if errors.Is(err, certify.ErrNoVerdict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	envelope, err := certificate.Sign(statement, c.signers(key)...)
	if err != nil {
		return nil, err
	}
	result := &signed{Envelope: envelope, File: filepath.Join(c.certs, certificate.FileName(r.Profile, r.Contract)), NotAfter: statement.Predicate.NotAfter}
	plain, err := certificate.SignTestResult(statement, c.signers(key)...)
	if err != nil {
		return nil, err
	}
	if err := writeWhole(filepath.Join(out, "test-result.dsse.json"), plain, 0o644); err != nil {
		return nil, err
	}
	own := filepath.Join(out, "certificate.dsse.json")
	if c.bad != "" { // not what the gate shall go by
		result.File = own
		return result, writeWhole(own, envelope, 0o644)
	}
	if err := os.MkdirAll(c.certs, 0o755); err != nil {
		return nil, err
	}
	for _, file := range []string{own, result.File} {
		if err := writeWhole(file, envelope, 0o644); err != nil {
			return nil, err
		}
	}
	note, err := c.trusted(key)
	if err != nil {
		return nil, err
	}
	if note != "" {
		result.Notes = append(result.Notes, note)
	}
	c.remember()
	return result, nil
}

func (c *certification) trustFile() string {
	if c.trust != "" {
		return c.trust
	}
	return filepath.Join(c.certs, certificate.TrustFile)
}

// trusted makes a trust file where there is none. One that is there is left as it
// is; a key that it does not list is told.
func (c *certification) trusted(key *certificate.Signer) (string, error) {
	file := c.trustFile()
	data, err := certificate.ReadRegular(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", writeWhole(file, certificate.DefaultTrust(c.issuer, key.Public(), demos()...).Write(), 0o644)
	}
	if err != nil {
		return "", fmt.Errorf("trust file %s: %w", shellWord(file), err)
	}
	trust, err := certificate.ReadTrust(data)
	if err != nil {
		return fmt.Sprintf("%s cannot be used as it is: %v", shellWord(file), err), nil
	}
	if !slices.ContainsFunc(trust.Issuers, func(i certificate.Issuer) bool { return i.Key == key.Public() }) {
		return fmt.Sprintf("%s does not list the key that signed; add the issuer %q with key %s", shellWord(file), c.issuer, key.Public()), nil
	}
	return "", nil
}

// demos are the built-in providers for which a trust file that certify makes
// accepts recordings: they are stand-ins anyway.
func demos() []string { return []string{"openai-demo", "anthropic-demo", "vllm-demo"} }

// remember starts the gate's memory where there is none.
func (c *certification) remember() {
	src := certificate.SourcesIn(c.certs)
	src.Trust = c.trustFile()
	if _, err := os.Lstat(src.Seen); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	e, err := src.Read()
	if err != nil || e.Trust == nil {
		return
	}
	gate := certificate.NewGate(e)
	if len(gate.List()) > 0 {
		_ = writeWhole(src.Seen, gate.Seen(time.Now()).Write(), 0o644)
	}
}
