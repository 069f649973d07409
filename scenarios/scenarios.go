// Package scenarios breaks a job service in one way per file and lets the
// history be judged. It is a library of Ginkgo specs: any suite that imports it
// runs them, `interlock verify` runs them without a Go toolchain.
//
// It keeps three rules. A spec reads as a sentence; the how lives in harness.
// Order comes from gates that are held and released, never from time. And a spec
// passes only when the judge of its history says what the scenario wants: pass,
// and for the canaries inconclusive or violation.
package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"github.com/interlock-harness/interlock/harness/invariant"
)

// Group is the part of the service that a scenario is about.
type Group string

// Groups in the order of a report.
const (
	Submit     Group = "submit"
	Attempts   Group = "attempts"
	Completion Group = "completion"
	Failover   Group = "failover"
	Database   Group = "database"
	Canary     Group = "canary"
)

// Groups lists them in that order.
func Groups() []Group { return []Group{Submit, Attempts, Completion, Failover, Database, Canary} }

// Breakpoints labels the four fractures that everybody asks for first.
const Breakpoints = "breakpoints"

// Info says what a scenario is, beside its text.
type Info struct {
	Number int             `json:"number"` // in the catalogue
	Slug   string          `json:"slug"`   // first word of the text, and the file's name with underscores
	Title  string          `json:"title"`  // the rest of the text
	Group  Group           `json:"group"`
	Level  invariant.Level `json:"level"` // least level of a target
	Fault  string          `json:"fault"` // one line for people
	// Expect is what the judge must find: the invariants that the scenario
	// exercises, the faults that must fire, the verdict that is right.
	Expect invariant.Expect `json:"expect"`
	// MustBreak is the invariant by which a canary must come out violated.
	MustBreak invariant.ID `json:"must_break,omitempty"`
	Labels    []string     `json:"labels,omitempty"`
}

var registered = map[string]Info{}

// about registers a scenario and returns the decorators of its container.
// The container's text is "<slug>: <title>".
func about(i Info) ginkgo.Labels {
	if _, twice := registered[i.Slug]; twice {
		panic(fmt.Sprintf("scenario %s is registered twice", i.Slug))
	}
	registered[i.Slug] = i
	return append(ginkgo.Labels{string(i.Group), i.Level.String()}, i.Labels...)
}

// text is what a container of scenario i is called.
func (i Info) text() string { return i.Slug + ": " + i.Title }

// All lists the scenarios by their number in the catalogue.
func All() []Info {
	all := make([]Info, 0, len(registered))
	for _, i := range registered {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Slug, b.Slug)) // two halves of a pair share a number
	})
	return all
}

// Find returns one scenario by its slug.
func Find(slug string) (Info, bool) {
	i, ok := registered[slug]
	return i, ok
}

// slugOf reads the slug from the first container text of a spec.
func slugOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	slug, _, _ := strings.Cut(texts[0], ":")
	return slug
}
