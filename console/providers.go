package console

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
)

// maxCalls is how many calls of a ledger a page shows, the newest.
const maxCalls = 25

// providerView is one stand-in on its page.
type providerView struct {
	Name, Protocol string
	Mood           mood
	Moods          []mood
	Holding        bool
	Held           []held
	Calls          []callView
	All            int
	PerAttempt     int // attempts with more than one call: 0, or something sent again
}

type callView struct {
	N, Status, Bytes   int
	Job, Attempt, Path string
	At                 time.Time
	Took               time.Duration // 0 while it is at it
	Outcome            string
	Body, Output       string
}

func (c *Console) providersPage(*http.Request) page {
	var list []providerView
	for _, d := range doubles() {
		list = append(list, c.dolls[d.Name].view())
	}
	return page{Name: "providers", Title: "Providers", Topics: "provider job", View: list}
}

func (p *provider) view() providerView {
	v := providerView{Name: p.Name, Protocol: p.Protocol, Moods: moods}
	v.Mood, v.Holding, v.Held = p.holding()
	calls := p.Calls(stage.Match{})
	v.All = len(calls)
	for _, n := range p.PerAttempt() {
		if n > 1 {
			v.PerAttempt++
		}
	}
	slices.Reverse(calls)
	for _, call := range calls[:min(len(calls), maxCalls)] {
		view := callView{N: call.N, Status: call.Status, Bytes: call.Bytes, Job: call.Ask.Job, Attempt: call.Ask.Attempt, Path: call.Path, At: call.At, Body: string(call.Body), Output: call.Output}
		switch {
		case slices.ContainsFunc(v.Held, func(h held) bool { return h.Call == call.N }):
			view.Outcome = "held"
		case call.Ended.IsZero():
			view.Outcome = "at work"
		case call.Gone:
			view.Outcome = "the worker left"
		case !call.Answered:
			view.Outcome = "cut"
		default:
			view.Outcome = strconv.Itoa(call.Status)
		}
		if !call.Ended.IsZero() {
			view.Took = max(call.Ended.Sub(call.At), time.Microsecond)
		}
		v.Calls = append(v.Calls, view)
	}
	return v
}

// onProvider turns a switch of a stand-in.
func (c *Console) onProvider(r *http.Request) answer {
	p := c.dolls[r.PathValue("name")]
	if p == nil {
		return bad("There is no such stand-in on this stage.")
	}
	sentence := ""
	switch r.PathValue("verb") {
	case "hold":
		p.hold()
		sentence = "Every call to " + p.Name + " waits from now on, until you let it go."
	case "let":
		p.let()
		sentence = "All calls to " + p.Name + " go on."
	case "mood":
		if err := p.be(r.PostFormValue("mood")); err != nil {
			return bad("%v.", err)
		}
		m, _, _ := p.holding()
		sentence = p.Name + " answers so from now on: " + m.Name + "."
	case "release":
		n, _ := strconv.Atoi(r.PostFormValue("call")) // 0 is no call
		if !p.release(n) {
			return bad("This call is not held any more.")
		}
		sentence = "Call " + strconv.Itoa(n) + " goes on."
	case "newest":
		if !p.newest() {
			return bad("No call is held at %s.", p.Name)
		}
		sentence = "The call that came last goes first."
	default:
		return bad("A stand-in has no such switch.")
	}
	c.hub.tell("provider", "")
	return answer{Sentence: sentence}
}
