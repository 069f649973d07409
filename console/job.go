package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/docs/problems"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/target"
)

// jobView is one job with its attempts, events, late results and lanes.
type jobView struct {
	target.LiveJob
	Text     string
	Attempts []attemptView
	Moves    []moveView
	Races    []raceView
	Lanes    lanes
	Sentence string // what to make of it
	Over     bool
	Trigger  string // proposed for the next attempt
	Curls    []curl
	Keys     string   // sets the variables of the commands
	Fallback []string // providers that a retry may name
}

type attemptView struct {
	target.LiveAttempt
	Label  string // a1
	Winner bool
	Waits  bool // its call is held at the stand-in
}

type moveView struct {
	target.LiveMove
	Label string
	After time.Duration // since the job was made
}

type raceView struct {
	target.LiveRace
	Label, Winner string
}

// curl is how to do an action from a terminal.
type curl struct{ Name, Command string }

func (c *Console) jobView(j target.LiveJob) jobView {
	v := jobView{LiveJob: j, Text: textOf(j), Over: j.Status == "succeeded" || j.Status == "cancelled"}
	label := map[string]string{}
	for _, a := range j.Attempts {
		label[a.ID] = fmt.Sprintf("a%d", a.N)
		view := attemptView{LiveAttempt: a, Label: label[a.ID], Winner: a.ID == j.CompletedBy}
		if d := c.dolls[a.Provider]; d != nil {
			_, _, list := d.holding()
			for _, h := range list {
				view.Waits = view.Waits || h.Attempt == a.ID
			}
		}
		v.Attempts = append(v.Attempts, view)
	}
	for _, m := range j.Moves {
		v.Moves = append(v.Moves, moveView{LiveMove: m, Label: label[m.AttemptID], After: m.When.Sub(j.Created)})
	}
	for _, r := range j.Races {
		v.Races = append(v.Races, raceView{LiveRace: r, Label: label[r.AttemptID], Winner: label[r.WinnerID]})
	}
	v.Sentence = sentence(v)
	v.Trigger = fmt.Sprintf("retry-%d", len(j.Attempts))
	v.Lanes = c.lanesOf(j, time.Now())
	v.Curls = c.curls(v)
	v.Keys = "export OWNER_KEY=" + c.world.Owner(1).Key
	if key, err := c.world.OperatorKey(); err == nil {
		v.Keys += " OPERATOR_KEY=" + key
	}
	for _, p := range doubles() {
		v.Fallback = append(v.Fallback, p.Name)
	}
	return v
}

// sentence says what to make of a job.
func sentence(v jobView) string {
	switch v.Status {
	case "unknown":
		return "The deadline passed without an answer. That is unknown, not failed: the provider may still finish. No other attempt may start until this one is over, released, resolved or cancelled."
	case "running":
		return "The provider is at work. A second attempt would be refused now."
	case "starting":
		return "An attempt waits for a worker."
	case "succeeded":
		if len(v.Races) > 0 {
			return "One attempt wrote the result. What came later wrote nothing, and is on record."
		}
		return "One attempt wrote the result, by compare-and-swap. It does not change any more."
	case "cancelled":
		return "The job is cancelled: no attempt can win any more."
	case "failed":
		for _, m := range v.Moves {
			if m.Type == "failover.denied" {
				return "The attempt ended without a result, and the gate let no other provider take over."
			}
		}
		return "The last attempt ended without a result. Another may be started."
	case "open":
		return "The attempt was released: it does not block any more, but may still win. A second one may start beside it."
	}
	return ""
}

func (c *Console) jobPage(r *http.Request) page {
	id := r.PathValue("id")
	p := page{Name: "job", Title: "Job " + short(id), Topics: "job:" + id + " provider fault store"}
	j, ok := c.board.job(id)
	if !ok {
		return page{Name: "missing", Title: "No such job", Status: http.StatusNotFound, Topics: "job:" + id,
			View: "There is no job " + report.Untrusted(id).Terminal() + " on this stage. A console that is started anew begins with an empty one."}
	}
	p.View = c.jobView(j)
	return p
}

// onJob carries out a verb on a job.
func (c *Console) onJob(r *http.Request) answer {
	id, verb := r.PathValue("id"), r.PathValue("verb")
	if _, ok := c.board.job(id); !ok {
		return bad("There is no such job on this stage any more.")
	}
	var one reply
	switch verb {
	case "retry":
		one = c.hands.retry(r.Context(), id, r.PostFormValue("trigger"), r.PostFormValue("provider"))
	case "cancel":
		reason := strings.TrimSpace(r.PostFormValue("reason"))
		if reason == "" {
			return bad("Say why: the reason is kept with the event.")
		}
		one = c.hands.cancelJob(r.Context(), id, reason)
	default:
		return bad("A job has no verb %q.", report.Untrusted(verb).Terminal())
	}
	return answer{Replies: []reply{one}, Sentence: said(one)}
}

// onAttempt carries out one of the operator's verbs.
func (c *Console) onAttempt(r *http.Request) answer {
	id, verb := r.PathValue("id"), r.PathValue("verb")
	n, err := strconv.Atoi(r.PathValue("n"))
	if _, ok := c.board.job(id); !ok || err != nil {
		return bad("There is no such attempt on this stage any more.")
	}
	how := target.Resolution{Reason: strings.TrimSpace(r.PostFormValue("reason"))}
	if how.Reason == "" {
		return bad("Say why: the reason is kept with the event, under the operator's name.")
	}
	switch verb {
	case "release", "cancel":
	case "resolve":
		how.Outcome, how.Evidence = r.PostFormValue("outcome"), strings.TrimSpace(r.PostFormValue("evidence"))
		if how.Evidence == "" {
			return bad("Say what the outcome rests on: without evidence an unknown attempt stays unknown.")
		}
		if how.Outcome == "succeeded" {
			text := r.PostFormValue("result")
			if !json.Valid([]byte(text)) {
				return bad("The result is not JSON: paste the object that the provider made.")
			}
			how.Result = json.RawMessage(text)
		}
	default:
		return bad("An attempt has no verb %q.", report.Untrusted(verb).Terminal())
	}
	one := c.hands.operate(r.Context(), verb, id, n, how)
	return answer{Replies: []reply{one}, Sentence: said(one)}
}

// said is the reply to a verb in one sentence.
func said(r reply) string {
	switch {
	case r.Lost != "":
		return "No answer came: whether it was done is unknown to you. The events below tell."
	case r.Refused():
		return "Refused, and that is right: " + lowerFirst(r.Problem.Detail) + "."
	}
	return "Done: " + r.Verb + "."
}

func lowerFirst(text string) string {
	text = strings.TrimSuffix(text, ".")
	if len(text) > 1 && text[1] >= 'a' && text[1] <= 'z' {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// curls lists how to do the actions from a terminal, with the key of an
// environment variable.
func (c *Console) curls(v jobView) []curl {
	base := c.world.Service.Balancer.URL() + "/v1/jobs/" + v.ID
	post := func(path, key string, headers []string, body string) string {
		words := []string{"curl", "-X", "POST", base + path}
		for _, h := range headers {
			words = append(words, "-H", h)
		}
		return report.Shell(words...) + ` -H "Authorization: Bearer $` + key + `" ` + report.Shell("-H", "Content-Type: application/json", "-d", body)
	}
	reason := `{"reason":"the provider is silent"}`
	list := []curl{
		{"read", report.Shell("curl", base) + ` -H "Authorization: Bearer $OWNER_KEY"`},
		{"retry", post("/attempts", "OWNER_KEY", []string{"Idempotency-Key: " + v.Trigger}, "{}")},
	}
	if n := len(v.Attempts); n > 0 {
		at := fmt.Sprintf("/attempts/%d", v.Attempts[n-1].N)
		list = append(list,
			curl{"release", post(at+"/release", "OPERATOR_KEY", nil, reason)},
			curl{"cancel the attempt", post(at+"/cancel", "OPERATOR_KEY", nil, reason)},
			curl{"resolve", post(at+"/resolve", "OPERATOR_KEY", nil, `{"outcome":"failed","evidence":"the provider's log","reason":"asked the provider"}`)})
	}
	return append(list, curl{"cancel the job", post("/cancel", "OWNER_KEY", nil, reason)})
}

// piece is a part of a paragraph: words, or code that stood between backticks.
type piece struct {
	Text string
	Code bool
}

// problemPage shows what a type of problem means.
func (c *Console) problemPage(r *http.Request) page {
	name := r.PathValue("name")
	text, err := fs.ReadFile(problems.FS, name+".md")
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			name += " (" + err.Error() + ")"
		}
		return page{Name: "missing", Title: "No such problem", Status: http.StatusNotFound, View: "The service has no problem of type " + report.Untrusted(name).Terminal() + "."}
	}
	var paragraphs [][]piece
	for p := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(string(text), "# "+name, ""), "**", "")), "\n\n") {
		var pieces []piece
		for i, words := range strings.Split(p, "`") {
			pieces = append(pieces, piece{Text: words, Code: i%2 == 1})
		}
		paragraphs = append(paragraphs, pieces)
	}
	return page{Name: "problem", Title: name, View: paragraphs}
}
