package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
)

// The parts of SARIF 2.1.0 that a certification fills.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Automation  sarifAutomation   `json:"automationDetails"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string           `json:"id"`
		Short   sarifText        `json:"shortDescription"`
		Default sarifRuleDefault `json:"defaultConfiguration"`
	}
	sarifRuleDefault struct {
		Level string `json:"level"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifInvocation struct {
		Successful bool `json:"executionSuccessful"`
		Exit       int  `json:"exitCode"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Kind         string            `json:"kind"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
)

// mostSarifResults is how many results GitHub shows of one run; the rest would be
// dropped there.
const mostSarifResults = 5000

// sarif tells the checks that did not pass, one result for each answer that a
// check objects to, for tools that take static analysis results. What a provider
// wrote is quoted, cut and cannot be taken for a link.
func (c *certification) sarif(r *certify.Report, exit int) ([]byte, error) {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "interlock", Version: readBuildInfo().Version, Rules: []sarifRule{}}},
		Automation:  sarifAutomation{"interlock/" + sarifWord(r.Profile) + "/" + sarifWord(r.Contract) + "/"},
		Invocations: []sarifInvocation{{Successful: r.Verdict != certify.NotKnown, Exit: exit}},
		Results:     []sarifResult{},
	}
	for i, res := range c.shown(r) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: res.ID, Short: sarifText{res.Title}, Default: sarifRuleDefault{sarifLevel(res)}})
		if res.Verdict != check.Fail && res.Verdict != check.Inconclusive {
			continue
		}
		findings := res.Findings
		if len(findings) == 0 {
			findings = []check.Finding{{Reason: or(res.Reason, res.Title)}}
		}
		for _, f := range findings {
			if len(run.Results) < mostSarifResults {
				run.Results = append(run.Results, c.sarifResult(r, res, i, f))
			}
		}
	}
	return json.MarshalIndent(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}, "", " ")
}

func (c *certification) sarifResult(r *certify.Report, res check.Result, rule int, f check.Finding) sarifResult {
	kind, level := "fail", sarifLevel(res)
	if res.Verdict == check.Inconclusive {
		kind, level = "review", "none" // the standard has no level for what is not decided
	}
	text := f.Reason
	if f.Case != "" {
		text = fmt.Sprintf("case %s, answer %d: %s", f.Case, f.Repeat, or(f.Reason, res.Title))
	}
	for _, more := range []string{f.Place, f.Detail} {
		if more != "" {
			text += "; " + more
		}
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Profile, r.Contract, res.ID, f.Case, f.Reason}, "\x00")))
	return sarifResult{
		Rule: res.ID, Index: rule, Kind: kind, Level: level, Message: sarifText{sarifWord(text)},
		Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{c.contractPath()}, sarifRegion{1}}}},
		Fingerprints: map[string]string{"interlock/1": hex.EncodeToString(sum[:])},
	}
}

func sarifLevel(res check.Result) string {
	if res.Severity == check.Must {
		return "error"
	}
	return "warning"
}

// sarifWord is a text without control characters, of which no part is a link: in a
// message of SARIF brackets make one.
func sarifWord(text string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(report.Untrusted(text).Terminal())
}

// contractPath is the file of the contract, as a repository would name it.
func (c *certification) contractPath() string {
	folder := "contracts"
	if c.deployed.contractsDir != "" && filepath.IsLocal(c.deployed.contractsDir) {
		folder = filepath.ToSlash(filepath.Clean(c.deployed.contractsDir))
	}
	return path.Join(folder, c.facts.ID, contractFile)
}
