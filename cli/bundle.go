package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/interlock-harness/interlock/providers/archive"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
)

// pack writes the evidence of a run into one file.
func (c *certification) pack(r *certify.Report, paper *signed, key *certificate.Signer) error {
	contracts, dir, err := c.deployed.contractAt(c.contractName)
	if err != nil {
		return err
	}
	var envelope []byte
	if paper != nil {
		envelope = paper.Envelope
	}
	files, err := r.Bundle(contracts, dir, envelope, key.Public())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := archive.Write(&b, files); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.bundle), 0o755); err != nil {
		return err
	}
	return writeWhole(c.bundle, b.Bytes(), 0o644)
}

// signers are the keys of a certificate: the issuer's, and the vendor's where it
// signs too.
func (c *certification) signers(key *certificate.Signer) []*certificate.Signer {
	if c.vendorSigner == nil {
		return []*certificate.Signer{key}
	}
	return []*certificate.Signer{key, c.vendorSigner}
}

// maxBundle bounds a bundle as it lies on disk.
const maxBundle = 64 << 20

// readBundle unpacks a bundle into memory.
func readBundle(name string) (map[string][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, infrastructuref("%s cannot be read: %v", shellWord(name), errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxBundle+1))
	if err != nil || len(data) > maxBundle {
		return nil, usagef("%s cannot be read, or has more than %d bytes", shellWord(name), maxBundle)
	}
	files, err := archive.Read(data)
	if err != nil {
		return nil, usagef("%s: %v", shellWord(name), err)
	}
	return files, nil
}

// reportBundle shows the verdict of a certification, computed anew from its bundle.
// With check it says nothing but whether the bundle agrees with itself.
func reportBundle(s *streams, name string, checkOnly bool, trust string) error {
	files, err := readBundle(name)
	if err != nil {
		return err
	}
	again, err := certify.Recheck(files)
	if err != nil {
		return usagef("%s: %v", shellWord(name), err)
	}
	believed, err := believe(again, trust)
	if err != nil {
		return err
	}
	code := bundleExit(again)
	if s.json {
		if err := json.NewEncoder(s.out).Encode(map[string]any{
			"type": "bundle", "provider": again.Profile, "contract": again.Contract, "mode": again.Mode, "verdict": again.Verdict,
			"transcripts": again.Transcripts, "signed": again.Signed, "key": again.Key, "believed": believed, "problems": list(again.Problems), "exit": code,
		}); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(code)
	}
	var b bytes.Buffer
	for _, problem := range again.Problems {
		_, _ = fmt.Fprintf(&b, "  ✗ %s\n", problem)
	}
	if !checkOnly {
		for _, res := range again.Results {
			if res.Verdict == check.Fail || res.Verdict == check.Inconclusive && res.N > 0 {
				_, _ = fmt.Fprintf(&b, "  %s %s: %s\n", map[check.Verdict]string{check.Fail: "✗", check.Inconclusive: "?"}[res.Verdict], res.ID, res.Reason)
			}
		}
	}
	_, _ = fmt.Fprintf(&b, "%s against %s, %s: %s judged anew: %s\n", again.Profile, again.Contract, again.Mode, plural(again.Transcripts, "transcript"), again.Verdict)
	switch {
	case !again.Signed:
		b.WriteString("Not signed: nobody stands for it.\n")
	case trust == "":
		_, _ = fmt.Fprintf(&b, "Signed by %s; whether to believe that key says your trust file (--trust).\n", again.Key)
	default:
		_, _ = fmt.Fprintf(&b, "Signed by %s, %s\n", again.Key, map[bool]string{true: "which the trust file believes.", false: "which the trust file does not believe."}[believed])
	}
	if code != 0 {
		_, _ = fmt.Fprintf(&b, "exit %d\n", code)
	}
	if _, err := fmt.Fprint(s.out, printable(b.String())); err != nil {
		return infrastructuref("write: %v", err)
	}
	return exitWith(code)
}

// believe looks the key of a bundle up in a trust file.
func believe(again *certify.Rechecked, file string) (bool, error) {
	if file == "" || !again.Signed {
		return false, nil
	}
	data, err := certificate.ReadRegular(file)
	if err != nil {
		return false, infrastructuref("trust file %s: %v", shellWord(file), err)
	}
	trust, err := certificate.ReadTrust(data)
	if err != nil {
		return false, infrastructuref("trust file %s: %v", shellWord(file), err)
	}
	for _, i := range trust.Issuers {
		if i.Key.String() == again.Key && i.Status == certificate.Active {
			return true, nil
		}
	}
	return false, nil
}

// bundleExit: what does not agree is worse than a verdict that nobody signed.
func bundleExit(again *certify.Rechecked) int {
	switch {
	case len(again.Problems) > 0 || again.Verdict == certify.NotCertified:
		return ExitViolation
	case !again.Signed || again.Verdict == certify.NotKnown:
		return ExitInconclusive
	}
	return ExitOK
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
