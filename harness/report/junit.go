package report

import (
	"encoding/xml"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

type junitSuite struct {
	XMLName   xml.Name    `xml:"testsuite"`
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

// junitCase is one scenario, or one try of it where the run repeats its scenarios.
// Class and name never change between runs: no seed, no label, no time in them.
type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
}

type junitProblem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit writes one test case per scenario, or try: a violation is a failure; what is
// inconclusive or broke is an error, so that nothing takes it for a pass.
func junit(r *Run, events map[string][]history.Event) ([]byte, error) {
	suite := junitSuite{
		Name: "interlock", Time: seconds(r.Took), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, s := range r.cases() {
		c := junitCase{Class: "interlock." + s.Group, Name: s.Slug, Time: seconds(s.Took)}
		suite.Tests++
		if s.Verdict != invariant.Pass {
			problem := &junitProblem{Type: string(s.Verdict), Message: Untrusted(s.why()).XML()}
			for _, p := range s.Plays {
				if !p.Met() {
					problem.Text += r.Violation(*p, events[p.History], Places{}, Style{})
				}
			}
			problem.Text = lines(problem.Text)
			if s.Verdict == invariant.Violation {
				suite.Failures++
				c.Failure = problem
			} else {
				suite.Errors++
				c.Error = problem
			}
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, n := range r.Skipped {
		suite.Tests++
		suite.Skipped++
		suite.Cases = append(suite.Cases, junitCase{
			Class: "interlock." + n.Group, Name: n.Slug, Time: "0.000",
			Skipped: &junitProblem{Type: "not-applicable", Message: n.reason(r.Level)},
		})
	}
	body, err := xml.MarshalIndent(suite, "", " ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(body, '\n')...), nil
}

// lines makes a text of several lines safe for XML, line by line.
func lines(text string) string {
	out := ""
	for _, line := range splitLines(text) {
		out += visible(line, true, 0) + "\n"
	}
	return out
}

func seconds(m Milliseconds) string { return fmt.Sprintf("%.3f", time.Duration(m).Seconds()) }
