package scenarios

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// The stage of this process. It is set when the first spec asks for it, so that
// a run that selects nothing starts nothing.
var theStage struct {
	mu      sync.Mutex
	options stage.Options
	stage   *stage.Stage
	failed  error
}

// Configure says how the stage of this process is set. Call it before specs run.
func Configure(o stage.Options) {
	theStage.mu.Lock()
	defer theStage.mu.Unlock()
	theStage.options = o
}

// Close takes the stage down, if it was set, and removes all that it made.
func Close() error {
	theStage.mu.Lock()
	defer theStage.mu.Unlock()
	s := theStage.stage
	theStage.stage, theStage.failed = nil, nil
	if s == nil {
		return nil
	}
	return s.Close()
}

// StageText says in one line what the stage is made of; empty before it is set.
func StageText() string {
	theStage.mu.Lock()
	defer theStage.mu.Unlock()
	if theStage.stage == nil {
		return ""
	}
	return theStage.stage.Describe()
}

// setStage returns the stage, setting it at the first call. A stage that could
// not be set is not tried again for every spec.
func setStage(ctx context.Context) (*stage.Stage, error) {
	theStage.mu.Lock()
	defer theStage.mu.Unlock()
	if theStage.stage == nil && theStage.failed == nil {
		theStage.stage, theStage.failed = stage.Start(ctx, withFallbacks(theStage.options))
		if theStage.failed == nil {
			theStage.failed = theStage.stage.Probe(ctx)
		}
	}
	if theStage.failed != nil {
		return nil, theStage.failed
	}
	return theStage.stage, nil
}

// SetStage sets the stage now, so that what it lacks is known before any spec runs.
func SetStage(ctx context.Context) error {
	_, err := setStage(ctx)
	return err
}

// StageLevel is how deep a stage with the reference service can be looked into.
const StageLevel invariant.Level = 4

// World is the part of the stage that one scenario plays on.
type World struct {
	*stage.World
	info    Info
	set     *stage.Stage
	before  stage.Holdings // held before the scenario
	stopped string         // why the scenario could not go on, where that says nothing about the target
}

// begin opens the world of the running scenario, and has its history judged when
// the spec is over, whatever happened in between.
func begin(ctx ginkgo.SpecContext, options ...stage.WorldOption) *World {
	ginkgo.GinkgoHelper()
	slug := slugOf(ginkgo.CurrentSpecReport().ContainerHierarchyTexts)
	info, ok := Find(slug)
	if !ok {
		ginkgo.Fail(fmt.Sprintf("the first word of the spec's text, %q, names no scenario", slug))
	}
	theRun.begins(slug)
	info.Expect = info.at(theLevel())
	w := &World{info: info}
	if isForeign() {
		switch {
		case info.Level > theLevel():
			leaveOut(fmt.Sprintf("needs %s, the target is seen at %s", info.Level, theLevel()))
		case len(options) > 0:
			leaveOut("needs a service of its own, and the target is run by somebody else")
		case info.Group == Failover:
			leaveOut("needs fallbacks and certificates that the stage configures")
		}
	}
	s, err := setStage(ctx)
	if err == nil {
		w.set, w.before = s, s.Holdings()
		w.World, err = s.World(ctx, slug, options...)
	}
	// One that never began is in no report. But a stage that could not be set in all
	// the time that there was says something: a target does not answer.
	if err != nil && theRun.ended() && (s != nil || !theRun.timedOut()) {
		ginkgo.Fail("the run was interrupted")
	}
	if err != nil {
		play := w.play()
		play.Verdict, play.Result.Verdict, play.Trouble = invariant.Infrastructure, invariant.Infrastructure, err.Error()
		tell(Outcome{Play: play})
		ginkgo.Fail("infrastructure: " + err.Error())
	}
	ginkgo.DeferCleanup(func(ctx ginkgo.SpecContext) { w.end(ctx) }, ginkgo.NodeTimeout(toEnd))
	return w
}

// end finishes the history, judges it and compares the verdict with the one that
// the scenario wants.
func (w *World) end(ctx context.Context) {
	spec := ginkgo.CurrentSpecReport()
	if spec.State.Is(types.SpecStateSkipped) {
		if err := w.Close(); err != nil {
			ginkgo.Fail(err.Error())
		}
		return
	}
	// A signal that ends the run must not take from this scenario what it has shown.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), toEnd)
	defer cancel()
	finish := w.Finish(ctx, toDrain)
	w.Recorder.Seal()
	if err := w.Recorder.Flush(); err != nil {
		finish = errors.Join(finish, err)
	}
	o := Outcome{Play: w.play(), Events: w.History()}
	o.Took = report.Span(o.Events)
	o.History = w.Recorder.Scenario()
	o.Result = invariant.Judge(o.Events, theLevel(), w.info.Expect)
	o.Verdict = o.Result.Verdict
	if spec.Failed() {
		o.Trouble = spec.FailureMessage()
		switch {
		case interrupted(spec):
			w.stopped = "the run was interrupted"
		case spec.State.Is(types.SpecStateTimedout) && w.stopped == "":
			w.stopped = "the scenario did not end within " + toPlay.String()
		}
		if w.stopped != "" {
			o.Trouble = w.stopped
			o.Verdict = invariant.Worse(o.Verdict, invariant.Inconclusive)
		} else {
			o.Verdict = invariant.Violation
		}
	}
	if finish != nil {
		o.Trouble = errors.Join(errors.New(o.Trouble), finish).Error()
		o.Verdict = invariant.Worse(o.Verdict, invariant.Infrastructure)
	}
	if w.kept(o) {
		tell(o)
		ginkgo.AbortSuite(o.text())
	}
	if err := w.Close(); err != nil {
		o.Trouble = err.Error()
		o.Verdict = invariant.Worse(o.Verdict, invariant.Infrastructure)
	}
	if err := w.set.Left(ctx, w.before); err != nil { // the harness's own doing, whatever the target did
		o.Trouble = errors.Join(errors.New(o.Trouble), err).Error()
		o.Verdict = invariant.Worse(o.Verdict, invariant.Infrastructure)
	}
	tell(o)
	if !o.Met() {
		ginkgo.Fail(o.text())
	}
}

// interrupted says whether a signal ended the spec: what failed then says nothing
// about the target.
func interrupted(spec ginkgo.SpecReport) bool {
	return spec.State.Is(types.SpecStateInterrupted|types.SpecStateAborted) || theRun.ended()
}

// play is what a report says of this scenario before it is judged.
func (w *World) play() report.Play {
	return report.Play{
		Slug: w.info.Slug, Title: w.info.Title, Text: ginkgo.CurrentSpecReport().LeafNodeText, Group: string(w.info.Group), Fault: w.info.Fault,
		Expect: w.info.Expect, MustBreak: w.info.MustBreak,
	}
}

// exercises says which invariants this spec exercises, where that is not what its
// scenario says of all its specs.
func (w *World) exercises(ids ...invariant.ID) { w.info.Expect.Invariants = ids }

// breaks says which faults must fire in this spec, where that is not what its
// scenario says of all its specs.
func (w *World) breaks(faults ...string) { w.info.Expect.Faults = faults }

// arrives waits until the play has come to a place that it needs: a gate, a
// fault that fired, a lock that is waited for. Where it does not come there, the
// scenario has proved nothing about the target, and is inconclusive.
func (w *World) arrives(err error) {
	ginkgo.GinkgoHelper()
	if err != nil {
		w.stopped = err.Error()
		ginkgo.Fail("inconclusive: " + err.Error())
	}
}

// works is for steps of the stage itself: when one fails the target was not
// judged.
func (w *World) works(err error) {
	ginkgo.GinkgoHelper()
	if err != nil && theRun.ended() {
		w.stopped = "the run was interrupted"
		ginkgo.Fail(w.stopped)
	}
	if err != nil {
		w.Recorder.Infrastructure(err)
		w.stopped = err.Error()
		ginkgo.Fail("infrastructure: " + err.Error())
	}
}

// expect is for what the contract promises: when it does not hold, the target
// broke it. An error that says that a bound ran out is no answer of the target: it
// may be slow, and what it owes after that the invariants say.
func (w *World) expect(actual any, extra ...any) gomega.Assertion {
	ginkgo.GinkgoHelper()
	w.arrives(ranOut(actual))
	return gomega.Expect(actual, extra...)
}

// ranOut returns what is expected to hold where it is an error that says that a
// bound of a wait ran out, else nil.
func ranOut(actual any) error {
	if err, ok := actual.(error); ok && errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// Outcome is a spec of a scenario that was played and judged.
type Outcome struct {
	report.Play
	Events []history.Event
}

func (o Outcome) violated() bool { return o.Reported() == invariant.Violation }

func (o Outcome) text() string {
	text := fmt.Sprintf("%s: %s, and %s was wanted", o.Slug, o.Verdict, o.Expect.Wanted())
	for _, f := range o.Result.Findings {
		text += fmt.Sprintf("\n  %s %s: %s", f.Invariant, f.Verdict, f.Sentence)
	}
	if o.Trouble != "" {
		text += "\n  " + o.Trouble
	}
	return text
}

var listeners struct {
	mu sync.Mutex
	of []func(Outcome)
}

// Listen has f told of each scenario that was judged, until the returned
// function is called.
func Listen(f func(Outcome)) (stop func()) {
	listeners.mu.Lock()
	defer listeners.mu.Unlock()
	listeners.of = append(listeners.of, f)
	n := len(listeners.of) - 1
	return func() {
		listeners.mu.Lock()
		defer listeners.mu.Unlock()
		listeners.of[n] = nil
	}
}

func tell(o Outcome) {
	ginkgo.AddReportEntry("outcome", ginkgo.ReportEntryVisibilityNever, o.Verdict)
	listeners.mu.Lock()
	defer listeners.mu.Unlock()
	for _, f := range listeners.of {
		if f != nil {
			f(o)
		}
	}
}

// soonDue is an intent whose soft deadline passes while the scenario looks on.
func (w *World) soonDue(name string) target.Intent {
	i := w.Intent(name)
	i.DeadlineMS = soon.Milliseconds()
	return i
}

// staysPut expects that look goes on returning want for a while in which a
// careless service would have moved on.
func (w *World) staysPut(ctx ginkgo.SpecContext, what string, look func() int, want int) {
	ginkgo.GinkgoHelper()
	gomega.Consistently(ctx, look).WithTimeout(toStayPut).WithPolling(toStayPut/10).Should(gomega.Equal(want), what)
}
