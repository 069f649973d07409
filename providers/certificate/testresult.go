package certificate

import (
	"encoding/json"
	"slices"
	"strings"
)

// TestResultType is the predicate for tools that know nothing of ours: which tests
// passed and which did not (in-toto attestation, test-result v0.1).
const TestResultType = "https://in-toto.io/attestation/test-result/v0.1"

type testResultStatement struct {
	Type          string     `json:"_type"`
	Subject       []Subject  `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     testResult `json:"predicate"`
}

type testResult struct {
	Result        string    `json:"result"` // PASSED, WARNED or FAILED
	Configuration []Subject `json:"configuration"`
	Passed        []string  `json:"passedTests"`
	Warned        []string  `json:"warnedTests"`
	Failed        []string  `json:"failedTests"`
}

// SignTestResult renders what a statement says as a plain test result about the same
// profile, with contract and fixtures as its configuration, and signs it. It opens
// no gate: the gate goes by the statement itself.
func SignTestResult(s Statement, signers ...*Signer) ([]byte, error) {
	r := testResult{Result: "PASSED", Configuration: []Subject{}, Passed: []string{}, Warned: []string{}, Failed: []string{}}
	for _, k := range s.Predicate.Checks {
		switch {
		case k.Verdict == Pass:
			r.Passed = append(r.Passed, k.ID)
		case k.Verdict == Fail && k.Severity == Must:
			r.Failed = append(r.Failed, k.ID)
		default:
			r.Warned = append(r.Warned, k.ID)
		}
	}
	switch {
	case len(r.Failed) > 0:
		r.Result = "FAILED"
	case len(r.Warned) > 0:
		r.Result = "WARNED"
	}
	profile := func(sub Subject) bool { return strings.HasPrefix(sub.Name, SubjectProfile+"/") }
	statement := testResultStatement{Type: StatementType, PredicateType: TestResultType}
	for _, sub := range s.Subject {
		if profile(sub) {
			statement.Subject = append(statement.Subject, sub)
		} else {
			r.Configuration = append(r.Configuration, sub)
		}
	}
	for _, l := range [][]string{r.Passed, r.Warned, r.Failed} {
		slices.Sort(l)
	}
	statement.Predicate = r
	payload, err := json.Marshal(statement)
	if err != nil {
		return nil, err
	}
	return SignPayload(PayloadType, payload, signers...)
}
