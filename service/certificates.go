package service

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

// Put keeps a certificate in the folder of --certificates, where all processes
// find it, when it would count there: signed by a trusted key, in its time, for
// what is deployed, and not older than one that was seen.
func (g *gate) Put(_ context.Context, envelope []byte) (httpapi.Certificate, error) {
	if g.sources.Certificates == "" {
		return httpapi.Certificate{}, &httpapi.CertificateError{Reasons: []string{"this service has no folder of certificates"}}
	}
	if info, err := os.Stat(g.sources.Certificates); err != nil || !info.IsDir() {
		return httpapi.Certificate{}, errors.New("the folder of --certificates cannot be used")
	}
	found, err := g.examine(envelope)
	if err != nil {
		return httpapi.Certificate{}, err
	}
	name := certificate.FileName(found.Profile, found.Contract)
	path := filepath.Join(g.sources.Certificates, name)
	taken := httpapi.Certificate{SHA256: found.Digest, Provider: found.Profile, Contract: found.Contract, Expires: found.NotAfter.String()}
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, envelope) {
		return taken, nil
	}
	taken.New = true
	if err := writeWhole(path, envelope); err != nil {
		return httpapi.Certificate{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looked = time.Time{} // this process goes by it at once
	return taken, nil
}

// examine asks a gate that knows this certificate alone.
func (g *gate) examine(envelope []byte) (certificate.Summary, error) {
	no := func(reasons ...string) (certificate.Summary, error) {
		return certificate.Summary{}, &httpapi.CertificateError{Reasons: reasons}
	}
	now := time.Now()
	g.current() // so that the memory is that of now
	g.mu.Lock()
	seen := g.seen
	g.mu.Unlock()
	evidence, err := g.sources.Read()
	if err != nil {
		return certificate.Summary{}, err
	}
	if evidence.Trust == nil {
		return no("there is no trust file that can be read, so nobody's signature counts")
	}
	evidence.Files = []certificate.File{{Name: "certificate", Data: envelope}}
	evidence.Seen, evidence.Profiles, evidence.Contracts = seen, g.deployed.profiles, g.deployed.facts
	alone := certificate.NewGate(evidence)
	list := alone.List()
	if len(list) != 1 {
		return no("it is not a certificate that a trusted key signed")
	}
	found := list[0]
	for from := range g.deployed.profiles {
		if from == found.Profile {
			continue
		}
		a := alone.Ask(certificate.Question{From: from, To: found.Profile, Contract: found.Contract, At: now})
		if a.Allow {
			return found, nil
		}
		err = &httpapi.CertificateError{Reasons: sentences(a)}
	}
	if err == nil {
		return no("no other provider is deployed that could fail over to it")
	}
	return certificate.Summary{}, err
}

// writeWhole writes a file so that no reader ever sees half of it.
func writeWhole(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".interlock-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if _, err = temporary.Write(data); err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
