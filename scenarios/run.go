package scenarios

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
)

// Selection says which scenarios run, and in which order.
type Selection struct {
	Slugs  []string // empty: all
	Labels string   // a Ginkgo label expression; empty: all
	Seed   int64    // shuffles the order
}

// failer is the testing.T that Ginkgo wants to tell.
type failer struct{ failed bool }

func (f *failer) Fail() { f.failed = true }

// theRun is the context of the Run of this process; under `go test` and `ginkgo`
// there is none.
var theRun running

type running struct {
	mu  sync.Mutex
	ctx context.Context
}

func (r *running) begin(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx = ctx
}

func (r *running) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx != nil && r.ctx.Err() != nil
}

// Run plays the selected scenarios in this process, without a test binary, and
// calls done for each that was judged. Ginkgo's own output is discarded: who
// calls Run reports. It may be called once in a process, as Ginkgo allows.
func Run(ctx context.Context, sel Selection, done func(Outcome)) error {
	for _, slug := range sel.Slugs {
		if _, ok := Find(slug); !ok {
			return fmt.Errorf("no scenario %q", slug)
		}
	}
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.RandomSeed = sel.Seed
	suite.RandomizeAllSpecs = true
	suite.LabelFilter = sel.Labels
	suite.FocusStrings = nil
	for _, slug := range sel.Slugs {
		suite.FocusStrings = append(suite.FocusStrings, `(^|\s)`+regexp.QuoteMeta(slug)+": ")
	}
	reporter.Succinct = true
	formatter.ColorableStdOut, formatter.ColorableStdErr = io.Discard, io.Discard
	gomega.RegisterFailHandler(ginkgo.Fail)
	theRun.begin(ctx)
	defer Listen(done)()
	ginkgo.RunSpecs(&failer{}, "interlock", suite, reporter)
	return context.Cause(ctx)
}

// Matching lists the scenarios that sel would run, without running them.
func Matching(sel Selection) ([]Info, error) {
	var matching []Info
	for _, i := range All() {
		if len(sel.Slugs) > 0 && !slices.Contains(sel.Slugs, i.Slug) {
			continue
		}
		ok, err := i.matches(sel.Labels)
		if err != nil {
			return nil, err
		}
		if ok {
			matching = append(matching, i)
		}
	}
	return matching, nil
}

// escapes colour a terminal.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// reasonOf is the sentence of a Ginkgo error that says what is wrong, without its
// colours, its headline and its link.
func reasonOf(err error) string {
	reason := ""
	for _, line := range strings.Split(escapes.ReplaceAllString(err.Error(), ""), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Learn more") {
			break
		}
		if line != "" {
			reason = line
		}
	}
	return reason
}

func (i Info) matches(expression string) (bool, error) {
	if strings.TrimSpace(expression) == "" {
		return true, nil
	}
	filter, err := types.ParseLabelFilter(expression)
	if err != nil {
		return false, fmt.Errorf("label expression %q: %s", expression, reasonOf(err))
	}
	return filter(append([]string{string(i.Group), i.Level.String()}, i.Labels...)), nil
}
