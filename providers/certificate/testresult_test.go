package certificate_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestATestResultSaysWhatTheStatementSays(t *testing.T) {
	signer, err := certificate.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	check := func(id string, s certificate.Severity, v certificate.Verdict) certificate.Check {
		return certificate.Check{ID: id, Severity: s, Verdict: v}
	}
	for want, checks := range map[string][]certificate.Check{
		"PASSED": {check("W02", certificate.Must, certificate.Pass), check("W01", certificate.Must, certificate.Pass)},
		"WARNED": {check("W01", certificate.Must, certificate.Pass), check("R02", certificate.Should, certificate.Fail), check("W02", certificate.Must, certificate.Pass)},
		"FAILED": {check("S01", certificate.Must, certificate.Fail), check("W01", certificate.Must, certificate.Pass), check("W02", certificate.Must, certificate.Pass)},
	} {
		s := certificate.Statement{Subject: []certificate.Subject{{Name: "contract/c@1.0.0"}, {Name: "profile/p"}, {Name: "fixtures"}}, Predicate: certificate.Predicate{Checks: checks}}
		envelope, err := certificate.SignTestResult(s, signer)
		if err != nil {
			t.Fatal(err)
		}
		e, err := certificate.ReadEnvelope(envelope)
		if err != nil || e.PayloadType != certificate.PayloadType || len(e.Signatures) != 1 {
			t.Fatalf("%v %+v", err, e)
		}
		var got struct {
			Type          string                `json:"_type"`
			PredicateType string                `json:"predicateType"`
			Subject       []certificate.Subject `json:"subject"`
			Predicate     struct {
				Result        string                `json:"result"`
				Configuration []certificate.Subject `json:"configuration"`
				Passed        []string              `json:"passedTests"`
			} `json:"predicate"`
		}
		if err := json.Unmarshal(e.Payload, &got); err != nil {
			t.Fatal(err)
		}
		if got.Type != certificate.StatementType || got.PredicateType != certificate.TestResultType || got.Predicate.Result != want ||
			len(got.Subject) != 1 || got.Subject[0].Name != "profile/p" || len(got.Predicate.Configuration) != 2 || !slices.Equal(got.Predicate.Passed, []string{"W01", "W02"}) {
			t.Errorf("%s: %+v", want, got)
		}
		if _, err := certificate.Verify(envelope, signer.Public()); err == nil {
			t.Error("a test result was taken for a certificate")
		}
	}
}
