package certificate

import (
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// CanonicalProfile is the one form of a route that all profiles of equal
// meaning share. It leaves out what does not change where or how a request goes:
// the name of the environment variable with the key, and the permission to use a
// loopback address.
func CanonicalProfile(p providers.Profile) []byte {
	headers := map[string]string{}
	for name, value := range p.Headers {
		headers[strings.ToLower(name)] = value
	}
	served := slices.Compact(slices.Sorted(slices.Values(p.Served)))
	refused := slices.Compact(slices.Sorted(slices.Values(p.RefusedStatuses)))
	data, err := json.Marshal(struct {
		Name        string            `json:"name"`
		Protocol    string            `json:"protocol"`
		BaseURL     string            `json:"base_url"`
		Model       string            `json:"model"`
		Served      []string          `json:"served"`
		AuthHeader  string            `json:"auth_header"`
		AuthScheme  string            `json:"auth_scheme"`
		Headers     map[string]string `json:"headers"`
		Idempotency string            `json:"idempotency_header"`
		Refused     []int             `json:"refused_statuses"`
		Upstream    string            `json:"upstream"`
		Background  bool              `json:"background,omitempty"` // absent in profiles of before it was known
		Prompt      *providers.Prompt `json:"prompt,omitempty"`
	}{
		p.Name, string(p.Protocol), CanonicalURL(p.BaseURL), p.Model, served, strings.ToLower(p.Auth.Header), p.Auth.Scheme,
		headers, strings.ToLower(p.IdempotencyHeader), refused, p.Upstream, p.Background, canonicalPrompt(p.Prompt),
	})
	if err != nil {
		panic("certificate: " + err.Error()) // strings and numbers only
	}
	return data
}

// canonicalPrompt leaves out where files lie: their digests say what is in them.
func canonicalPrompt(p *providers.Prompt) *providers.Prompt {
	if p == nil {
		return nil
	}
	c := *p
	c.Template, c.Tokenizer.File = "", ""
	c.Deviations = slices.Compact(slices.Sorted(slices.Values(p.Deviations)))
	return &c
}

// ProfileDigest is the digest that a certificate binds.
func ProfileDigest(p providers.Profile) string { return Hash(CanonicalProfile(p)) }

// CanonicalURL writes a base URL in its one form: scheme and host in lower case,
// no default port, no slash at the end. Escapes in the path stay as they are. What
// cannot be parsed, or holds more than host and path, stays as it is.
func CanonicalURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return raw
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	switch {
	case port != "" && port != map[string]string{"https": "443", "http": "80"}[scheme]:
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/")
}
