package certify

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/prompt/live"
	"github.com/interlock-harness/interlock/providers/prompt/render"
	promptstandin "github.com/interlock-harness/interlock/providers/prompt/standin"
	"github.com/interlock-harness/interlock/providers/standin"
)

// examinePrompt looks at how the route renders the prompts of the contract: with
// the files of the profile, and where a server shows or counts what it makes of
// prompts, with what it says, or said: play answers instead where it is not nil. nil
// where the profile says nothing about prompts.
func (o Options) examinePrompt(ctx context.Context, play http.RoundTripper) (*check.Prompt, []shownAnswer, error) {
	if o.Prompt == nil {
		return nil, nil, nil
	}
	local := *o.Prompt
	var err error
	if local.Requests, err = o.requests(); err != nil {
		return nil, nil, err
	}
	p := &check.Prompt{Oracle: local.Profile.Oracle, Agrees: agreement(&local)}
	if p.Oracle == "" {
		p.Report = render.Check(&local)
		return p, nil, nil
	}
	client, closing, err := o.promptClient(&local, play)
	if err != nil {
		return nil, nil, err
	}
	defer closing()
	kept := &keeping{base: client.HTTP.Transport, secret: o.Secret}
	client.HTTP = &http.Client{Transport: kept, Timeout: client.HTTP.Timeout}
	p.Live = o.Mode == certificate.Live
	if counter := counting(p.Oracle, client); counter != nil {
		if local.Usage, err = live.Usage(ctx, counter, &local); err != nil {
			p.Lost = "the prompts could not be counted: " + err.Error()
		}
		p.Oracle, p.Report = "", render.Check(&local)
		return p, kept.kept, ctx.Err()
	}
	server := &watched{oracle: showing(ctx, p.Oracle, client)}
	shown := local
	shown.Route = server.route()
	p.Report = o.checkShown(&local, &shown)
	p.Differences = render.Compare(&local, server, o.conversations(p.Oracle, local.Requests))
	if server.lost != nil {
		p.Lost = "the server that shows its prompts could not be asked: " + server.lost.Error()
	}
	return p, kept.kept, ctx.Err()
}

// on is the same run, held at one moment: a template may write the day.
func (o Options) on(at certificate.Time) Options {
	o.Now = func() time.Time { return at.Time }
	return o
}

// checkShown checks what a server shows, and with the files of the profile what
// no server lets be asked: the clock cannot be moved, and only vLLM leaves the
// header of the answer out.
func (o Options) checkShown(local, shown *render.Subject) *render.Report {
	offline := *local
	offline.Requests = nil
	files := render.Check(&offline)
	report := render.Check(shown)
	for i, r := range report.Results {
		if r.ID == "R14" || r.ID == "R7" && local.Profile.Oracle != "vllm" {
			report.Results[i] = files.Result(r.ID)
		}
	}
	return report
}

// promptClient is the client of the server that shows or counts prompts: the
// provider's own, a stand-in for it, or play.
func (o Options) promptClient(local *render.Subject, play http.RoundTripper) (live.Client, func(), error) {
	if play != nil {
		return live.Client{Base: "http://played", Model: o.Profile.Model, Header: http.Header{}, HTTP: &http.Client{Transport: play}}, func() {}, nil
	}
	web := &http.Client{Transport: &http.Transport{}, Timeout: o.Timeout}
	c := live.Client{Model: o.Profile.Model, Header: http.Header{}, HTTP: web}
	if o.Mode == certificate.Replay {
		server, err := o.promptStandIn(local)
		if err != nil {
			return c, nil, err
		}
		c.Base = server.URL
		return c, func() {
			web.CloseIdleConnections()
			_ = server.Close()
		}, nil
	}
	c.Base = strings.TrimSuffix(strings.TrimSuffix(o.Profile.BaseURL, "/"), "/v1")
	for name, value := range o.Profile.Headers {
		c.Header.Set(name, value)
	}
	if o.Secret != "" && o.Profile.Auth.Header != "" {
		c.Header.Set(o.Profile.Auth.Header, strings.TrimSpace(o.Profile.Auth.Scheme+" "+o.Secret))
	}
	return c, web.CloseIdleConnections, nil
}

// counting is the client of a server that counts prompts and shows none, nil for
// others.
func counting(kind string, client live.Client) live.Counter {
	switch kind {
	case "anthropic":
		return &live.Anthropic{Client: client}
	case "gemini":
		return &live.Gemini{Client: client}
	}
	return nil
}

// showing is the client of a server that shows its prompts.
func showing(ctx context.Context, kind string, client live.Client) render.Tokenizing {
	switch kind {
	case "llamacpp":
		return &live.LlamaCpp{Client: client, Context: ctx}
	case "tgi":
		return &live.TGI{Client: client, Context: ctx}
	}
	return &live.VLLM{Client: client, Context: ctx}
}

func (o Options) promptStandIn(local *render.Subject) (*promptstandin.Server, error) {
	var faults []promptstandin.Fault
	if o.Fault != nil && o.Fault.Prompt != "" {
		faults = append(faults, promptstandin.Fault(o.Fault.Prompt))
	}
	return promptstandin.Start(local, "", faults...)
}

// selfTestWindow is the context window of the toy route, whose tokens are bytes.
const selfTestWindow = 1 << 16

// selfTestPrompt is a small route whose prompts are rendered well. In the protocol
// that servers speak which show their prompts, one shows them, and where prompts
// can be counted, they are.
func selfTestPrompt(p providers.Protocol) (*render.Subject, error) {
	route, err := toyRoute()
	if err != nil {
		return nil, err
	}
	s := *route
	s.Profile.Oracle = map[providers.Protocol]string{
		providers.OpenAIChat: "vllm", providers.VLLMChat: "vllm", providers.AnthropicMessages: "anthropic", providers.Gemini: "gemini",
	}[p]
	return &s, nil
}

// toyRoute is the toy route of all runs of a self-test, which ask for the same
// prompts.
var toyRoute = sync.OnceValues(func() (*render.Subject, error) {
	toy, err := promptstandin.Toy()
	if err != nil {
		return nil, err
	}
	profile := promptstandin.ToyProfile(toy.Tokenizer)
	profile.ContextWindow = selfTestWindow
	s, err := render.New(profile, promptstandin.ToyTemplate, toy.Tokenizer)
	if err == nil {
		s.Remember()
	}
	return s, err
})

// requests are the prompts of the contract's cases, in each output mode that a run
// asks for.
func (o Options) requests() ([]providers.Request, error) {
	modes := []providers.Mode{o.Contract.Mode}
	if o.Contract.Tool.Name != "" {
		modes = append(modes, other(o.Contract.Mode))
	}
	var all []providers.Request
	for _, mode := range modes {
		for _, k := range o.Contract.Cases {
			r, err := o.Contract.Request(k.Input)
			if err != nil {
				return nil, err
			}
			r.Mode = mode
			all = append(all, r)
		}
	}
	return all, nil
}

// conversations are what is compared with a server: the prompts of the contract,
// and a plain turn with and without the header of its answer.
func (o Options) conversations(oracle string, requests []providers.Request) []render.Conversation {
	hello := []render.Message{{Role: "user", Content: "Hello."}}
	all := []render.Conversation{{Messages: hello, Generate: true}}
	if oracle == "vllm" { // the others always ask for an answer
		all = append(all, render.Conversation{Messages: hello})
	}
	for _, r := range requests {
		all = append(all, render.FromRequest(r))
	}
	now := o.Now()
	for i := range all {
		all[i].Now = now // a server's template sees today
	}
	return all
}

// agreement compares stated counts with our own, once for each prompt and count.
func agreement(local *render.Subject) func(providers.Request, int) string {
	type question struct {
		mode         providers.Mode
		system, user string
		stated       int
	}
	known := map[question]string{}
	return func(r providers.Request, stated int) string {
		q := question{r.Mode, r.System, r.User, stated}
		differ, ok := known[q]
		if !ok {
			differ, _ = local.Agrees(r, stated) // of a prompt that the template refuses P01 speaks
			known[q] = differ
		}
		return differ
	}
}

// counter lets the stand-in count prompts as the route does.
func (o Options) counter() func(standin.Ask) int64 {
	if o.Prompt == nil {
		return nil
	}
	var mu sync.Mutex
	counted := map[string]int64{}
	return func(a standin.Ask) int64 {
		r := providers.Request{System: a.System, User: a.User}
		if len(a.Tools) > 0 {
			tool := o.Contract.Tool
			r.Mode, r.ToolName, r.ToolDescription, r.Schema = providers.ModeTool, tool.Name, tool.Description, o.Contract.Output.JSON()
		}
		key := string(r.Mode) + "\x00" + r.System + "\x00" + r.User
		mu.Lock()
		defer mu.Unlock()
		if _, ok := counted[key]; !ok {
			ids, _ := o.Prompt.Tokenize(render.FromRequest(r)) // a prompt that is refused has none
			counted[key] = int64(len(ids))
		}
		return counted[key]
	}
}
