package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// samples are proposed in turn as the text of a job.
var samples = []string{
	"The printer on floor 2 is out of paper.",
	"I was charged twice for invoice 4711, please refund one of them.",
	"Since the update the app closes when I open a photo.",
	"How do I add a colleague to our account?",
	"Our order of 12 March has not arrived.",
}

// tryView is the first page: a form, and the job that came of it.
type tryView struct {
	Order     order
	Providers []stage.Provider
	Job       *jobView
}

func (c *Console) tryPage(r *http.Request) page {
	key := c.hands.peekKey()
	v := tryView{
		Order:     order{Key: key, Text: samples[(int(c.o.Seed%int64(len(samples)))+len(c.board.all()))%len(samples)], Provider: primary, Deadline: deadline},
		Providers: doubles(),
	}
	id := r.FormValue("job")
	if id == "" {
		if all := c.board.all(); len(all) > 0 {
			id = all[0].ID
		}
	}
	if j, ok := c.board.job(id); ok {
		view := c.jobView(j)
		v.Job = &view
	}
	return page{Name: "try", Title: "Try it", Topics: "job provider fault store", View: v}
}

// hundred is how many clicks "100 clicks" makes, so many of them at once.
const (
	hundred = 100
	atOnce  = 20
)

// submit carries out the buttons of the form.
func (c *Console) submit(r *http.Request) answer {
	o, no := readOrder(r)
	if no != "" {
		return bad("%s", no)
	}
	if o.Key == c.hands.peekKey() {
		c.hands.key() // taken: the form proposes the next one from now on
	}
	ctx := r.Context()
	switch r.PostFormValue("how") {
	case "twice":
		return c.twice(ctx, o)
	case "other":
		first := c.hands.submit(ctx, o)
		o.Text += " And one thing more."
		second := c.hands.submit(ctx, o)
		a := answer{Replies: []reply{first, second}, Job: first.Job, Sentence: "The same key came with another payload. " + saying(second)}
		if second.Reason == "idempotency-key-reused" {
			a.Sentence = "The same key with another payload is a conflict. The first job stands as it was, and no second one was made."
		}
		return a
	case "hundred":
		return c.hundredTimes(ctx, o)
	case "leave":
		return c.leave(ctx, o)
	}
	one := c.hands.submit(ctx, o)
	return answer{Replies: []reply{one}, Job: one.Job, Sentence: saying(one)}
}

// saying is a reply to a submit in one sentence.
func saying(r reply) string {
	switch {
	case r.Lost != "":
		return "No answer came. Whether a job was made is unknown to you; sending the same key again is safe, and tells."
	case r.Refused():
		return "The service refused: " + r.Problem.Detail + "."
	case r.Replayed:
		return "This key has a job already, and that is the answer: nothing was made."
	case r.Status == http.StatusCreated:
		return "One click, one job."
	}
	return "The service answered " + r.Word() + "."
}

// twice clicks two times at once.
func (c *Console) twice(ctx context.Context, o order) answer {
	replies := make([]reply, 2)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = c.hands.submit(ctx, o) })
	}
	wg.Wait()
	a := answer{Replies: replies, Job: replies[0].Job}
	switch {
	case replies[0].Lost != "" || replies[1].Lost != "":
		a.Sentence = "An answer was lost. Send the same key again: it is safe, and tells."
	case replies[0].Job != "" && replies[0].Job == replies[1].Job:
		a.Sentence = "Two clicks at once, one job: both answers name it. The unique constraint on owner and key decided, not luck."
	default:
		a.Sentence = "Two clicks, and the answers do not name one job: look at them."
	}
	return a
}

// hundredTimes clicks a hundred times with one key.
func (c *Console) hundredTimes(ctx context.Context, o order) answer {
	replies := make([]reply, hundred)
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			slots <- struct{}{}
			replies[i] = c.hands.submit(ctx, o)
			<-slots
		})
	}
	wg.Wait()
	var jobs []string
	made, again, other := 0, 0, 0
	for _, r := range replies {
		switch {
		case r.Status == http.StatusCreated:
			made++
		case r.Replayed:
			again++
		default:
			other++
		}
		if r.Job != "" && !slices.Contains(jobs, r.Job) {
			jobs = append(jobs, r.Job)
		}
	}
	a := answer{Sentence: strconv.Itoa(hundred) + " clicks with one key, " + strconv.Itoa(atOnce) + " at a time: " + count(len(jobs), "job") + ". " +
		strconv.Itoa(made) + " answered 201, " + strconv.Itoa(again) + " were replayed"}
	if other > 0 {
		a.Sentence += ", " + strconv.Itoa(other) + " got another answer"
	}
	a.Sentence += "."
	if len(jobs) > 0 {
		a.Job = jobs[0]
	}
	for _, r := range replies { // one of each kind is enough to see
		if !slices.ContainsFunc(a.Replies, func(s reply) bool { return s.Status == r.Status && s.Reason == r.Reason }) {
			a.Replies = append(a.Replies, r)
		}
	}
	return a
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// leave submits with the wish to wait for the end, and goes away as soon as the
// job is seen in the database.
func (c *Console) leave(ctx context.Context, o order) answer {
	waiting, gone := context.WithCancel(ctx)
	defer gone()
	done := make(chan reply, 1)
	go func() { done <- c.hands.submit(waiting, o, target.Wait(10)) }()
	limit := time.NewTimer(toAct)
	defer limit.Stop()
	var r reply
	for left := false; ; {
		moved := c.board.moved()
		if j, ok := c.board.byKey(o.Key); ok && !left {
			left = true
			gone()
			r = <-done
			r.Job = j.ID
			break
		}
		select {
		case r = <-done: // it was over before we could leave
			return answer{Replies: []reply{r}, Job: r.Job, Sentence: "The answer was quicker than you. Hold the provider's calls first (page Providers), then you can leave in the middle."}
		case <-moved:
			continue
		case <-limit.C:
			gone()
			r = <-done
		}
		break
	}
	return answer{Replies: []reply{r}, Job: r.Job, Sentence: "You went away while the service waited for the provider. To you the outcome is unknown; the job goes on without you, and the same key finds it again."}
}

// readOrder reads the form. The second value says what is wrong with it.
func readOrder(r *http.Request) (order, string) {
	o := order{Key: r.PostFormValue("key"), Name: tried, Text: r.PostFormValue("text"), Provider: r.PostFormValue("provider"), Race: r.PostFormValue("race") != ""}
	if text := r.PostFormValue("deadline_ms"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > time.Hour.Milliseconds() {
			return o, "The deadline must be a whole number of milliseconds, 1 to 3600000."
		}
		o.Deadline = time.Duration(n) * time.Millisecond
	}
	if r.PostFormValue("failover") != "" {
		o.Fallback = r.PostFormValue("fallback")
		if o.Fallback == o.Provider {
			return o, "A job fails over to another provider: choose a fallback that is not " + o.Provider + "."
		}
	}
	return o, ""
}
