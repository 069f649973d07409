package service

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/wire"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// MutantInfo describes one deliberate fault that `serve --mutant` accepts on a
// throw-away database: in which scenario and by which invariant it must be caught.
type MutantInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Scenario    string `json:"scenario"`
	Invariant   string `json:"invariant"`
}

// Mutants lists every fault, by name.
func Mutants() []MutantInfo {
	all := mutant.All()
	infos := make([]MutantInfo, len(all))
	for i, m := range all {
		infos[i] = MutantInfo{Name: m.Name, Description: m.Description, Scenario: m.Scenario, Invariant: m.Invariant}
	}
	return infos
}

// unverified sends a request that could not be sent, to whoever answers there.
func unverified(ctx context.Context, r route, t providers.Transcript, header http.Header) (providers.Transcript, error) {
	encoded, err := wire.Encode(r.profile, r.request)
	if err != nil {
		return t, err
	}
	request, err := http.NewRequestWithContext(ctx, encoded.Method, encoded.URL, bytes.NewReader(encoded.Body))
	if err != nil {
		return t, err
	}
	for _, from := range []http.Header{encoded.Header, header} {
		for name, values := range from {
			request.Header[name] = values
		}
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} // that is the mutant
	response, err := transport.RoundTrip(request)
	if err != nil {
		return t, nil
	}
	defer response.Body.Close()
	t.Reach, t.Status, t.Header, t.End = providers.ReachSent, response.StatusCode, response.Header, providers.EndEOF
	t.Body, t.Err = io.ReadAll(response.Body)
	return t, nil
}
