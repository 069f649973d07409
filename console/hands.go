package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/target"
)

// Names of intents: the first ends up in the prompt of what a person submits, so
// that the switches of a provider act on those calls and on no others.
const tried = "try"

// reply is one call to the service and what came back.
type reply struct {
	Actor, Method, Path string
	Verb                string // in one word, for the lanes
	Key                 string // idempotency key or trigger, where there is one
	Status              int    // 0: no answer
	Problem             history.Problem
	Reason              string // the end of the problem's type
	Replayed            bool
	Replica             string
	Job                 string // that it is about
	Body                string // as it came
	Own                 bool   // the console refused it, not the service
	Lost                string // why no answer that can be believed came
	Took                time.Duration
}

// Refused says whether the service, or the console, said no.
func (r reply) Refused() bool { return r.Own || r.Reason != "" && r.Lost == "" }

// Word is the status in words.
func (r reply) Word() string {
	if r.Status == 0 {
		return "no answer"
	}
	return fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
}

// act is one call as the lanes of its job show it.
type act struct {
	Actor, What, Outcome string
	Job                  string
	Refused, Lost        bool
	From, To             time.Time
}

// maxActs is how many calls are kept for the lanes.
const maxActs = 2000

// hands make the calls of the person at the console.
type hands struct {
	*Console
	owner, operator *target.Client

	mu   sync.Mutex
	acts []act
	keys int
}

func newHands(c *Console) *hands {
	return &hands{Console: c, owner: c.world.Client("you"), operator: c.world.Operator()}
}

// key is the next idempotency key that the form proposes.
func (h *hands) key() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys++
	return fmt.Sprintf("k-%d-%d", h.o.Seed, h.keys)
}

// peekKey is what key would return.
func (h *hands) peekKey() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("k-%d-%d", h.o.Seed, h.keys+1)
}

// call makes one call and keeps it. op makes it and names the job it is about.
func (h *hands) call(ctx context.Context, r reply, op func(context.Context, *target.Client) (string, target.Answer, bool, error)) reply {
	ctx, cancel := context.WithTimeout(ctx, toAct)
	defer cancel()
	client := h.faults.route(h.owner)
	if r.Actor == "operator" {
		client = h.faults.route(h.operator)
	}
	from := time.Now()
	job, answer, replayed, err := op(ctx, client)
	r.Took, r.Replayed = time.Since(from), replayed
	if job != "" {
		r.Job = job
	}
	r.Status, r.Body = answer.Status, string(answer.Body)
	if answer.Header != nil {
		r.Replica = answer.Header.Get(target.ServedBy)
	}
	if refused, ok := errors.AsType[*target.Refused](err); ok {
		r.Status, r.Body, r.Problem, r.Reason = refused.Status, string(refused.Body), refused.Problem, string(refused.Reason())
		if r.Job == "" {
			r.Job = refused.Problem.JobID
		}
	} else if err != nil {
		r.Lost = err.Error()
	}
	h.keep(r, from)
	return r
}

func (h *hands) keep(r reply, from time.Time) {
	a := act{Actor: r.Actor, What: r.Verb, Outcome: r.Word(), Job: r.Job, Refused: r.Refused(), Lost: r.Lost != "", From: from, To: from.Add(r.Took)}
	if r.Refused() {
		a.Outcome += " " + r.Reason
	} else if r.Replayed {
		a.Outcome += " replayed"
	}
	h.mu.Lock()
	h.acts = append(h.acts, a)
	if len(h.acts) > maxActs {
		h.acts = append(h.acts[:0:0], h.acts[len(h.acts)-maxActs:]...)
	}
	h.mu.Unlock()
	if r.Job != "" {
		h.hub.tell("job", r.Job)
	}
}

// actsOn lists the calls about a job.
func (h *hands) actsOn(job string) []act {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []act
	for _, a := range h.acts {
		if a.Job == job {
			list = append(list, a)
		}
	}
	return list
}

// order is what the form on the first page asks for.
type order struct {
	Key      string
	Name     string // of the intent: tried, or that of a tour
	Text     string
	Provider string
	Fallback string // goes on there after a definite failure
	Deadline time.Duration
	Race     bool
}

func (h *hands) intent(o order) target.Intent {
	i := h.world.Intent(o.Name)
	reference, _ := i.Input.(map[string]any)["text"].(string)
	i.Input = map[string]any{"text": strings.TrimSpace(o.Text + " (ref " + reference + ")")}
	i.Provider, i.Race = o.Provider, o.Race
	if o.Deadline > 0 {
		i.DeadlineMS = o.Deadline.Milliseconds()
	}
	if o.Fallback != "" {
		i.Failover = &target.Failover{Mode: "automatic", Providers: []string{o.Fallback}}
	}
	return i
}

// submit hands in an order.
func (h *hands) submit(ctx context.Context, o order, options ...target.Option) reply {
	r := reply{Actor: "you", Method: "POST", Path: "/v1/jobs", Verb: "submit", Key: o.Key}
	return h.call(ctx, r, func(ctx context.Context, c *target.Client) (string, target.Answer, bool, error) {
		j, err := c.Submit(ctx, o.Key, h.intent(o), options...)
		return j.ID, j.Answer, j.Replayed, err
	})
}

// retry starts one more attempt.
func (h *hands) retry(ctx context.Context, job, trigger, provider string) reply {
	r := reply{Actor: "you", Method: "POST", Path: "/v1/jobs/" + job + "/attempts", Verb: "retry", Key: trigger, Job: job}
	return h.call(ctx, r, func(ctx context.Context, c *target.Client) (string, target.Answer, bool, error) {
		a, err := c.StartAttempt(ctx, job, trigger, provider)
		return job, a.Answer, a.Replayed, err
	})
}

// cancelJob cancels a job.
func (h *hands) cancelJob(ctx context.Context, job, reason string) reply {
	r := reply{Actor: "you", Method: "POST", Path: "/v1/jobs/" + job + "/cancel", Verb: "cancel job", Job: job}
	return h.call(ctx, r, func(ctx context.Context, c *target.Client) (string, target.Answer, bool, error) {
		j, err := c.CancelJob(ctx, job, reason)
		return job, j.Answer, false, err
	})
}

// operate does one of the operator's verbs on attempt n.
func (h *hands) operate(ctx context.Context, verb, job string, n int, resolution target.Resolution) reply {
	r := reply{Actor: "operator", Method: "POST", Path: fmt.Sprintf("/v1/jobs/%s/attempts/%d/%s", job, n, verb), Verb: fmt.Sprintf("%s a%d", verb, n), Job: job}
	return h.call(ctx, r, func(ctx context.Context, c *target.Client) (string, target.Answer, bool, error) {
		var a target.Attempt
		var err error
		switch verb {
		case "release":
			a, err = c.Release(ctx, job, n, resolution.Reason)
		case "cancel":
			a, err = c.CancelAttempt(ctx, job, n, resolution.Reason)
		default:
			a, err = c.Resolve(ctx, job, n, resolution)
		}
		return job, a.Answer, false, err
	})
}

// indented shows JSON in lines, and anything else as it is.
func indented(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}
