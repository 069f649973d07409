package certify

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/prompt/live"
	"github.com/interlock-harness/interlock/providers/prompt/render"
	promptstandin "github.com/interlock-harness/interlock/providers/prompt/standin"
	"github.com/interlock-harness/interlock/providers/standin"
)

// examinePrompt looks at how the route renders the prompts of the contract: with
// the files of the profile, and where a server shows what it makes of prompts,
// with what it shows. nil where the profile says nothing about prompts.
func (o Options) examinePrompt(ctx context.Context) (*check.Prompt, error) {
	if o.Prompt == nil {
		return nil, nil
	}
	local := *o.Prompt
	var err error
	if local.Requests, err = o.requests(); err != nil {
		return nil, err
	}
	p := &check.Prompt{Oracle: local.Profile.Oracle, Agrees: agreement(&local)}
	if p.Oracle == "" {
		p.Report = render.Check(&local)
		return p, nil
	}
	base, header := strings.TrimSuffix(strings.TrimSuffix(o.Profile.BaseURL, "/"), "/v1"), http.Header{}
	if o.Mode == certificate.Replay {
		server, err := o.promptStandIn(&local)
		if err != nil {
			return nil, err
		}
		defer func() { _ = server.Close() }()
		base = server.URL
	} else {
		p.Live = true
		if o.Secret != "" && o.Profile.Auth.Header != "" {
			header.Set(o.Profile.Auth.Header, strings.TrimSpace(o.Profile.Auth.Scheme+" "+o.Secret))
		}
	}
	client := &http.Client{Transport: &http.Transport{}, Timeout: o.Timeout}
	defer client.CloseIdleConnections()
	shown := local
	shown.Route = oracle(ctx, p.Oracle, live.Client{Base: base, Model: o.Profile.Model, Header: header, HTTP: client})
	if err := answers(shown.Route); err != nil {
		return nil, err
	}
	p.Report = render.Check(&shown)
	offline := local
	offline.Requests = nil
	clock := render.Check(&offline).Result("R14") // the clock of a server cannot be moved
	for i := range p.Report.Results {
		if p.Report.Results[i].ID == clock.ID {
			p.Report.Results[i] = clock
		}
	}
	p.Differences = render.Compare(&local, shown.Route.(render.Tokenizing), o.conversations(local.Requests))
	return p, ctx.Err()
}

// oracle is the client of a server that shows its prompts.
func oracle(ctx context.Context, kind string, client live.Client) render.Route {
	switch kind {
	case "llamacpp":
		return &live.LlamaCpp{Client: client, Context: ctx}
	case "tgi":
		return &live.TGI{Client: client, Context: ctx}
	}
	return &live.VLLM{Client: client, Context: ctx}
}

// answers tells a server that cannot be asked from one that refuses a prompt.
func answers(server render.Route) error {
	_, err := server.Render(render.Conversation{Messages: []render.Message{{Role: "user", Content: "Hello."}}, Generate: true})
	var refused *live.StatusError
	if err != nil && !errors.As(err, &refused) {
		return &UnreachableError{"the server that shows its prompts cannot be asked: " + err.Error()}
	}
	return nil
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
// that servers speak which show their prompts, one shows them.
func selfTestPrompt(p providers.Protocol) (*render.Subject, error) {
	toy, err := promptstandin.Toy()
	if err != nil {
		return nil, err
	}
	profile := promptstandin.ToyProfile(toy.Tokenizer)
	profile.ContextWindow = selfTestWindow
	if p == providers.OpenAIChat {
		profile.Oracle = "vllm"
	}
	return render.New(profile, promptstandin.ToyTemplate, toy.Tokenizer)
}

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
func (o Options) conversations(requests []providers.Request) []render.Conversation {
	hello := []render.Message{{Role: "user", Content: "Hello."}}
	all := []render.Conversation{{Messages: hello}, {Messages: hello, Generate: true}}
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
