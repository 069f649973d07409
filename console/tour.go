package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers/standin"
)

// stop is one card of the tour: a break point, a prediction, one button.
type stop struct {
	N                  int
	Name, What, Button string
	Choices            []choice
	Lesson             string
	play               func(*tour, context.Context, *playing) error
}

type choice struct {
	ID, Text string
	Right    bool
}

// playing is a card that was or is being played.
type playing struct {
	Choice  string
	Right   bool
	Running bool
	Steps   []string
	Job     string
	Trouble string
	name    string // of its intents: no switch of a provider acts on them
	console *Console
	lock    *sync.Mutex
}

// step tells what happened, as it happens.
func (p *playing) step(format string, args ...any) {
	p.lock.Lock()
	p.Steps = append(p.Steps, fmt.Sprintf(format, args...))
	p.lock.Unlock()
	p.console.hub.tell("tour", "")
}

func (p *playing) on(job string) {
	p.lock.Lock()
	p.Job = job
	p.lock.Unlock()
	p.console.hub.tell("tour", "")
}

// tour plays the cards, one at a time.
type tour struct {
	*Console

	mu     sync.Mutex
	last   map[int]*playing
	busy   bool
	played int
}

// Deadlines of the tour's jobs: one that a person sees pass, and one that does
// not pass by itself.
const (
	soon = 700 * time.Millisecond
	calm = time.Minute
)

var stops = []stop{
	{
		N: 1, Name: "The double click", What: "An impatient customer clicks Submit two times at once. Both clicks carry the same idempotency key, and land on two replicas.",
		Button: "Click twice",
		Choices: []choice{
			{"two", "two jobs, and two bills", false},
			{"one", "one job, and both clicks are told of it", true},
			{"refused", "one job, and the second click is an error", false},
		},
		Lesson: "A unique constraint on owner and key decides which click makes the job; the other reads it. No lock in a process could: the clicks met on two replicas.",
		play:   (*tour).doubleClick,
	},
	{
		N: 2, Name: "The provider that is silent", What: "The provider takes the request and says nothing. The deadline passes. Then the customer clicks Retry.",
		Button: "Let it stall",
		Choices: []choice{
			{"failed", "the attempt failed, and a second one starts", false},
			{"unknown", "the attempt is unknown, and no second one may start", true},
			{"cancelled", "the attempt is cancelled, and its answer will be dropped", false},
		},
		Lesson: "A timeout proves nothing about the other side: the work may be done, and billed. So it is unknown, never failed, and the late answer is still the result.",
		play:   (*tour).stall,
	},
	{
		N: 3, Name: "Answers in reverse order", What: "An operator releases the silent attempt, so that a second may start. The second answers first. Then the first comes back after all.",
		Button: "Race them",
		Choices: []choice{
			{"first", "the first answer: it was asked for first", false},
			{"last", "the first answer: it came last and overwrites", false},
			{"second", "the second answer; the late one is discarded and on record", true},
		},
		Lesson: "The result is written by compare-and-swap: the late attempt finds the job complete, writes 0 rows, and leaves a race record with the size and hash of what it brought.",
		play:   (*tour).reverse,
	},
	{
		N: 4, Name: "The failover nobody proved", What: "The provider refuses for good. The job may fail over by itself, to newcomer-demo, which speaks the same protocol and has no certificate.",
		Button: "Fail over",
		Choices: []choice{
			{"goes", "the job goes on at newcomer-demo: better any answer than none", false},
			{"shut", "nothing: the gate is shut, and the job says why", true},
			{"asks", "the answer of newcomer-demo, marked as unproven", false},
		},
		Lesson: "The gate is shut unless a signed certificate for this very route and contract opens it. A person cannot get around it either: the manual retry is refused as well.",
		play:   (*tour).uncertified,
	},
}

// stopView is a card on its page.
type stopView struct {
	stop
	Played *playing
	Job    *jobView
}

func (c *Console) tourPage(*http.Request) page {
	var list []stopView
	c.tour.mu.Lock()
	defer c.tour.mu.Unlock()
	for _, s := range stops {
		v := stopView{stop: s}
		if p := c.tour.last[s.N]; p != nil {
			copied := *p
			copied.Steps = slices.Clone(p.Steps)
			v.Played = &copied
			if j, ok := c.board.job(p.Job); ok {
				view := c.jobView(j)
				v.Job = &view
			}
		}
		list = append(list, v)
	}
	return page{Name: "tour", Title: "Guided tour", Topics: "tour job provider", View: list}
}

// onTour plays a card.
func (c *Console) onTour(r *http.Request) answer {
	n, _ := strconv.Atoi(r.PathValue("n")) // 0 is no card
	if n < 1 || n > len(stops) {
		return bad("The tour has no such card.")
	}
	s := stops[n-1]
	i := slices.IndexFunc(s.Choices, func(o choice) bool { return o.ID == r.PostFormValue("guess") })
	if i < 0 {
		return bad("Say first what will be stored: choose one of the three.")
	}
	if len(c.faults.inPlace()) > 0 {
		return bad("A fault is in place, and the tour wants a whole stage: heal all on the page Faults first.")
	}
	p, err := c.tour.begin(n, s.Choices[i])
	if err != nil {
		return bad("%v.", err)
	}
	ctx, cancel := context.WithTimeout(c.ctx, 2*toAct) // it ends in order when the browser leaves
	defer cancel()
	err = s.play(c.tour, ctx, p)
	c.tour.end(p, err)
	switch {
	case err != nil:
		return bad("The tour could not be finished: %v.", err)
	case p.Right:
		return answer{Sentence: "You were right. " + s.Lesson}
	}
	return answer{Sentence: "Not so. " + s.Lesson}
}

var errBusy = errors.New("another card is being played: wait for its end")

func (t *tour) begin(n int, guess choice) (*playing, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy {
		return nil, errBusy
	}
	t.busy = true
	t.played++
	p := &playing{Choice: guess.ID, Right: guess.Right, Running: true, name: fmt.Sprintf("tour-%d", t.played), console: t.Console, lock: &t.mu}
	if t.last == nil {
		t.last = map[int]*playing{}
	}
	t.last[n] = p
	return p, nil
}

func (t *tour) end(p *playing, err error) {
	t.mu.Lock()
	t.busy = false
	p.Running = false
	if err != nil {
		p.Trouble = err.Error()
	}
	t.mu.Unlock()
	t.hub.tell("tour", "")
}

// until waits for what the board shows of a job.
func (t *tour) until(ctx context.Context, job, what string, holds func(target.LiveJob) bool) error {
	for {
		moved := t.board.moved()
		if j, ok := t.board.job(job); ok && holds(j) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %s", what)
		}
	}
}

func is(status string) func(target.LiveJob) bool {
	return func(j target.LiveJob) bool { return j.Status == status }
}

func attemptIs(n int, state string) func(target.LiveJob) bool {
	return func(j target.LiveJob) bool { return len(j.Attempts) >= n && j.Attempts[n-1].State == state }
}

func (t *tour) order(p *playing, text string, deadline time.Duration) order {
	return order{Key: "key-" + p.name, Name: p.name, Text: text, Provider: primary, Deadline: deadline}
}

// submitted hands in a job and expects that it is made.
func (t *tour) submitted(ctx context.Context, p *playing, o order) (string, error) {
	r := t.hands.submit(ctx, o)
	if r.Status != http.StatusCreated {
		return "", fmt.Errorf("the service answered %s to a submit", r.Word())
	}
	p.on(r.Job)
	p.step("Submit: %s.", r.Word())
	return r.Job, nil
}

func (t *tour) doubleClick(ctx context.Context, p *playing) error {
	o := t.order(p, "I was charged twice for invoice 4711, please refund one of them.", calm)
	replies := make([]reply, 2)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = t.hands.submit(ctx, o) })
	}
	wg.Wait()
	p.on(replies[0].Job)
	for i, r := range replies {
		p.step("Click %d: %s by %s, job %s.", i+1, r.Word(), r.Replica, short(r.Job))
	}
	if replies[0].Job == "" || replies[0].Job != replies[1].Job {
		return errors.New("the clicks were not told of one job")
	}
	if err := t.until(ctx, replies[0].Job, "the job is over", is("succeeded")); err != nil {
		return err
	}
	p.step("Stored: one job, one attempt, one call to the provider, one result.")
	return nil
}

func (t *tour) stall(ctx context.Context, p *playing) error {
	gate := t.world.Provider(primary).Hold(stage.Match{Text: p.name})
	defer gate.Release()
	job, err := t.submitted(ctx, p, t.order(p, "Since the update the app closes when I open a photo.", soon))
	if err != nil {
		return err
	}
	if err := gate.Await(ctx); err != nil {
		return err
	}
	p.step("The provider has the request, and is silent.")
	if err := t.until(ctx, job, "the attempt is unknown", attemptIs(1, "unknown")); err != nil {
		return err
	}
	p.step("The deadline of %s passed: unknown.", span(soon))
	retry := t.hands.retry(ctx, job, "retry-"+p.name, "")
	p.step("Retry: %s, %s.", retry.Word(), retry.Reason)
	gate.Release()
	if err := t.until(ctx, job, "the late answer is taken", is("succeeded")); err != nil {
		return err
	}
	p.step("The provider answered after all, and that is the result. It was called once.")
	return nil
}

// saysSo is a good answer that can be told from another.
func saysSo(word string) stage.Answer {
	return standin.Says(`{"queue":"billing","urgency":"normal","summary":"The ` + word + ` answer."}`)
}

func (t *tour) reverse(ctx context.Context, p *playing) error {
	provider := t.world.Provider(primary)
	call := func(n int) stage.Match { return stage.Match{Text: p.name, Nth: n} }
	provider.Script(call(1), saysSo("first"), history.Accept)
	provider.Script(call(2), saysSo("second"), history.Accept)
	first, second := provider.Hold(call(1)), provider.Hold(call(2))
	defer first.Release()
	defer second.Release()
	job, err := t.submitted(ctx, p, t.order(p, "Our order of 12 March has not arrived.", soon))
	if err != nil {
		return err
	}
	if err := t.until(ctx, job, "the first attempt is unknown", attemptIs(1, "unknown")); err != nil {
		return err
	}
	p.step("The first attempt is silent past its deadline: unknown.")
	released := t.hands.operate(ctx, "release", job, 1, target.Resolution{Reason: "the provider is silent"})
	p.step("The operator releases it: %s.", released.Word())
	retry := t.hands.retry(ctx, job, "retry-"+p.name, "")
	p.step("Retry: %s. Two attempts are under way.", retry.Word())
	if err := second.Await(ctx); err != nil {
		return err
	}
	second.Release()
	if err := t.until(ctx, job, "the second attempt wins", is("succeeded")); err != nil {
		return err
	}
	p.step("The second answers first: 1 row, it is the result.")
	first.Release()
	if err := t.until(ctx, job, "the late result is on record", func(j target.LiveJob) bool { return len(j.Races) == 1 }); err != nil {
		return err
	}
	j, _ := t.board.job(job)
	p.step("The first comes back: 0 rows. Discarded: %d bytes, on record with their hash.", j.Races[0].PayloadBytes)
	return nil
}

var errCertified = errors.New("you have certified " + newcomer + ": take its certificate away on the page Gate first")

func (t *tour) uncertified(ctx context.Context, p *playing) error {
	allowed, err := t.ask(ctx, primary, newcomer, contractOfConsole)
	if err != nil {
		return err
	}
	if allowed.Allowed {
		return errCertified
	}
	t.world.Provider(primary).Fails(stage.Match{Text: p.name}, http.StatusForbidden)
	o := t.order(p, "How do I add a colleague to our account?", calm)
	o.Fallback = newcomer
	job, err := t.submitted(ctx, p, o)
	if err != nil {
		return err
	}
	denied := func(j target.LiveJob) bool {
		return slices.ContainsFunc(j.Moves, func(m target.LiveMove) bool { return m.Type == "failover.denied" })
	}
	if err := t.until(ctx, job, "the gate is asked", denied); err != nil {
		return err
	}
	p.step("The provider refused for good: 403.")
	p.step("The gate was asked, and is shut: %s.", allowed.Sentence)
	retry := t.hands.retry(ctx, job, "retry-"+p.name, newcomer)
	p.step("Retry there by hand: %s, %s.", retry.Word(), retry.Reason)
	if n := len(t.world.Provider(newcomer).Calls(stage.Match{Job: job})); n > 0 {
		return fmt.Errorf("%s was called %d times, and must not be", newcomer, n)
	}
	p.step("%s was not called.", newcomer)
	return nil
}
