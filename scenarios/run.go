package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

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
	Keep   bool     // end at the first violation, and leave its stack up (Kept)
	// Begun is told of each spec that begins, by the slug of its scenario; nil for
	// nobody.
	Begun func(slug string)
}

// failer is the testing.T that Ginkgo wants to tell.
type failer struct{ failed bool }

func (f *failer) Fail() { f.failed = true }

// theRun is the context of the Run of this process; under `go test` and `ginkgo`
// there is none.
var theRun running

type running struct {
	mu    sync.Mutex
	ctx   context.Context
	keep  bool
	begun func(slug string)
}

func (r *running) begin(ctx context.Context, sel Selection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx, r.keep, r.begun = ctx, sel.Keep, sel.Begun
}

func (r *running) begins(slug string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun != nil {
		r.begun(slug)
	}
}

func (r *running) keeps() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keep
}

func (r *running) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx != nil && r.ctx.Err() != nil
}

// timedOut says whether it was the time that ended the run, and nobody else.
func (r *running) timedOut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx != nil && errors.Is(context.Cause(r.ctx), context.DeadlineExceeded)
}

// afterDeadline is how much later than the run Ginkgo ends: by then it is known that
// the time is over, and no scenario is blamed for it.
const afterDeadline = 100 * time.Millisecond

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
	theRun.begin(ctx, sel)
	if deadline, ok := ctx.Deadline(); ok { // and no scenario begins after it
		suite.Timeout = max(time.Until(deadline), 0) + afterDeadline
	}
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
