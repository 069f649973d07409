package certificate_test

import (
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestF27AndF28WhatAKeyMaySign(t *testing.T) {
	issuer := func(change func(*certificate.Issuer)) func(*world) {
		return func(w *world) { w.trust(func(tr *certificate.Trust) { change(&tr.Issuers[0]) }) }
	}
	cases := []struct {
		name   string
		change func(*world)
		want   int
	}{
		{"F27 bound to another provider", issuer(func(i *certificate.Issuer) { i.Providers = []string{"openai-demo"} }), 13},
		{"F27 bound to another contract", issuer(func(i *certificate.Issuer) { i.Contracts = []string{"triage"} }), 13},
		{"F27 bound to this provider and contract", issuer(func(i *certificate.Issuer) {
			i.Providers, i.Contracts = []string{"anthropic-demo"}, []string{"invoice"}
		}), 0},
		{"F28 retired after it signed", issuer(func(i *certificate.Issuer) { i.Status, i.Until = certificate.Retired, at(-time.Hour) }), 0},
		{"F28 retired before it signed", issuer(func(i *certificate.Issuer) {
			i.Status, i.Until = certificate.Retired, at(-time.Hour-time.Second)
		}), 13},
		{"F28 compromised", issuer(func(i *certificate.Issuer) { i.Status = certificate.Compromised }), 16},
		{"F28 compromised, with a date", issuer(func(i *certificate.Issuer) { i.Status, i.Until = certificate.Compromised, at(0) }), 16},
		{"nobody is trusted", func(w *world) { w.trust(func(tr *certificate.Trust) { tr.Issuers[0].Key = key(w.t).Public() }) }, 13},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w)
			w.expect(c.want, "")
		})
	}
}

func TestF29WhatTheCertificateIsAbout(t *testing.T) {
	cases := []struct {
		name   string
		change func(*world)
		want   int
		part   string
	}{
		{"F29 text of the contract", func(w *world) {
			w.contract(func(c *certificate.Contract) { c.Digest = certificate.Hash([]byte("c1")) })
		}, 14, "changed since"},
		{"another version is deployed", func(w *world) { w.contract(func(c *certificate.Contract) { c.Version = "2.0.0" }) }, 14, "is for invoice@1.0.0"},
		{"another version is asked for", func(w *world) { w.question.Contract = "invoice@2.0.0" }, 14, "asked for is invoice@2.0.0"},
		{"this version is asked for", func(w *world) { w.question.Contract = "invoice@1.0.0" }, 0, ""},
		{"fixtures", func(w *world) { w.contract(func(c *certificate.Contract) { c.Fixtures = certificate.Hash(nil) }) }, 12, "fixtures"},
		{"another model", func(w *world) { w.profile(func(p *providers.Profile) { p.Model = "standin-lyra-2" }) }, 12, "route"},
		{"another protocol", func(w *world) { w.profile(func(p *providers.Profile) { p.Protocol = providers.Gemini }) }, 12, "route"},
		{"another header", func(w *world) { w.profile(func(p *providers.Profile) { p.Headers = map[string]string{"X": "1"} }) }, 12, "route"},
		{"the key variable has another name", func(w *world) { w.profile(func(p *providers.Profile) { p.Auth.Env = "OTHER" }) }, 0, ""},
		{"suspected", func(w *world) { w.evidence.Suspected = map[string]string{"anthropic-demo": "another model answered"} }, 12, "another model answered"},
		{"F31 recordings", func(w *world) { w.statement.Predicate.Mode = certificate.Replay }, 15, "recordings"},
		{"recordings accepted by name", func(w *world) {
			w.statement.Predicate.Mode = certificate.Replay
			w.trust(func(tr *certificate.Trust) { tr.AcceptReplay = []string{"anthropic-demo"} })
		}, 0, "from recordings"},
		{"recordings accepted for another", func(w *world) {
			w.statement.Predicate.Mode = certificate.Replay
			w.trust(func(tr *certificate.Trust) { tr.AcceptReplay = []string{"openai-demo"} })
		}, 15, ""},
		{"mode within scope", func(w *world) {
			w.question.Needs = certificate.Needs{Mode: providers.ModeJSONSchema, Stream: true, Input: 900, Language: "ml"}
		}, 0, ""},
		{"mode out of scope", func(w *world) { w.question.Needs.Mode = providers.ModeTool }, 14, "tool"},
		{"streaming out of scope", func(w *world) { w.question.Needs.Stream = true; w.statement.Predicate.Scope.Streaming = false }, 14, "streaming"},
		{"input out of scope", func(w *world) { w.question.Needs.Input = 901 }, 14, "901 tokens"},
		{"language out of scope", func(w *world) { w.question.Needs.Language = "fi" }, 14, "fi"},
		{"same primary", func(w *world) {
			w.statement.Predicate.Primary = &certificate.Primary{Profile: "openai-demo", SHA256: certificate.ProfileDigest(profiles["openai-demo"])}
		}, 0, ""},
		{"other primary", func(w *world) {
			w.statement.Predicate.Primary = &certificate.Primary{Profile: "gemini", SHA256: certificate.Hash(nil)}
		}, 14, "compared with"},
		{"primary changed", func(w *world) {
			w.statement.Predicate.Primary = &certificate.Primary{Profile: "openai-demo", SHA256: certificate.Hash(nil)}
		}, 14, "compared with"},
		{"independent", func(w *world) { w.contract(func(c *certificate.Contract) { c.Independent = true }) }, 0, ""},
		{"not independent", func(w *world) {
			w.contract(func(c *certificate.Contract) { c.Independent = true })
			w.profile(func(p *providers.Profile) { p.Upstream = "Orion" })
		}, 12, "route"}, // the upstream is part of the route too; the second reason says the rest
		{"upstream not stated", func(w *world) {
			w.contract(func(c *certificate.Contract) { c.Independent = true })
			from := w.evidence.Profiles["openai-demo"]
			from.Upstream = ""
			w.evidence.Profiles["openai-demo"] = from
		}, 14, "upstream"},
		{"contract is not deployed", func(w *world) { w.evidence.Contracts = nil }, 14, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.evidence.Profiles = map[string]providers.Profile{"openai-demo": profiles["openai-demo"], "anthropic-demo": profiles["anthropic-demo"]}
			c.change(w)
			w.expect(c.want, c.part)
		})
	}
}

func (w *world) contract(change func(*certificate.Contract)) {
	c := w.evidence.Contracts["invoice"]
	change(&c)
	w.evidence.Contracts = map[string]certificate.Contract{"invoice": c}
}

func (w *world) profile(change func(*providers.Profile)) {
	p := w.evidence.Profiles["anthropic-demo"]
	change(&p)
	w.evidence.Profiles["anthropic-demo"] = p
}

func TestF30BaseURLs(t *testing.T) {
	pairs := []struct {
		a, b string
		same bool
	}{
		{"https://b.example/v1", "https://b.example/v1/", true},
		{"https://b.example/v1", "https://B.Example/v1", true},
		{"https://b.example/v1", "https://b.example:443/v1", true},
		{"http://b.example/v1", "http://b.example:80/v1", true},
		{"HTTPS://b.example/v1", "https://b.example/v1", true},
		{"http://[2001:DB8::1]/v1", "http://[2001:db8::1]:80/v1", true},
		{"https://b.example/v1", "https://b.example/v2", false},
		{"https://b.example/v1", "https://b.example/V1", false},
		{"https://b.example/v1", "http://b.example/v1", false},
		{"https://b.example/v1", "https://b.example:8443/v1", false},
		{"https://b.example/v1", "https://b.example.net/v1", false},
		{"https://b.example/a/b", "https://b.example/a%2Fb", false},
		{"https://b.example/v1", "https://b.example/v1?x=1", false},
		{"https://b.example:80/v1", "https://b.example/v1", false},
	}
	for _, p := range pairs {
		w := newWorld(t)
		w.evidence.Profiles = map[string]providers.Profile{"openai-demo": profiles["openai-demo"], "anthropic-demo": profiles["anthropic-demo"]}
		w.profile(func(q *providers.Profile) { q.BaseURL = p.a })
		w.statement.Subject[0].Digest.SHA256 = certificate.ProfileDigest(w.evidence.Profiles["anthropic-demo"])
		w.profile(func(q *providers.Profile) { q.BaseURL = p.b })
		if p.same {
			w.expect(0, "")
		} else {
			w.expect(12, "")
		}
	}
}
