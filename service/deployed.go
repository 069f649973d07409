package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/judge"
	"github.com/interlock-harness/interlock/providers/lock"
	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/tracing"
)

// deployed are the contracts and provider profiles that this process goes by.
// It is read once at start and does not change.
type deployed struct {
	profiles  map[string]providers.Profile
	contracts map[string]*contract.Contract // by id
	facts     map[string]certificate.Contract
	mutant    mutant.Active
	tracing   *tracing.Tracing // nil: no spans
}

// readDeployed reads the folders of --profiles and --contracts; without them the
// built-in demos.
func readDeployed(c *config) (*deployed, error) {
	d := &deployed{}
	fsys, dir, err := folder(c.Profiles, "profiles")
	if err == nil {
		d.profiles, err = profile.LoadAll(fsys, dir)
	}
	if err != nil {
		return nil, usage("%s", oneLine(err.Error()))
	}
	if fsys, dir, err = folder(c.Contracts, "contracts"); err == nil {
		d.contracts, err = contract.LoadAll(fsys, dir)
	}
	if err == nil {
		d.facts, err = certificate.ReadContracts(fsys, dir)
	}
	if err != nil {
		return nil, usage("%s", oneLine(err.Error()))
	}
	return d, nil
}

// folder is a folder of the machine, or the built-in one of that kind.
func folder(path, kind string) (fs.FS, string, error) {
	if path == "" {
		return fixtures.FS, kind, lock.Check(fixtures.FS, kind, "providers/fixtures/"+kind)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, "", fmt.Errorf("--%s must be a folder that can be read", kind)
	}
	fsys := os.DirFS(path)
	return fsys, ".", lock.Check(fsys, ".", path)
}

// Known and List are the providers as clients see them.
func (d *deployed) Known(name string) bool { _, ok := d.profiles[name]; return ok }

func (d *deployed) List() []httpapi.Provider {
	list := make([]httpapi.Provider, 0, len(d.profiles))
	for _, p := range d.profiles {
		list = append(list, httpapi.Provider{Name: p.Name, Protocol: string(p.Protocol), Model: p.Model, Upstream: p.Upstream})
	}
	slices.SortFunc(list, func(a, b httpapi.Provider) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// find returns the contract of `id` or `id@version`, at the deployed version only.
func (d *deployed) find(ref string) (*contract.Contract, error) {
	id, _, _ := strings.Cut(ref, "@")
	c, ok := d.contracts[id]
	if !ok || ref != id && ref != c.Ref() {
		return nil, fmt.Errorf("the contract is not deployed")
	}
	return c, nil
}

// Resolve names the deployed version.
func (d *deployed) Resolve(ref string) (string, error) {
	c, err := d.find(ref)
	if err != nil {
		return "", err
	}
	return c.Ref(), nil
}

// CheckInput judges the input of a submit.
func (d *deployed) CheckInput(ref string, input json.RawMessage) error {
	c, value, err := d.read(ref, input)
	if err != nil || c.Input == nil {
		return err
	}
	if fault := c.Input.Check(value); fault != nil {
		return fmt.Errorf("%s%s", at(fault.Path), fault.Detail)
	}
	return nil
}

// CheckResult judges a result that a person brings, as an answer is judged.
func (d *deployed) CheckResult(ref string, input, result json.RawMessage) error {
	c, output, err := d.read(ref, result)
	if err != nil {
		return err
	}
	asked, err := strictjson.Decode(input, strictjson.Limits{})
	if err != nil {
		return err
	}
	fault, broken := c.Verify(asked, output, nil)
	switch {
	case fault != nil:
		return fmt.Errorf("%s%s", at(fault.Path), fault.Detail)
	case broken != nil:
		return fmt.Errorf("rule %s: %s", broken.Rule.ID, broken.Why)
	}
	return nil
}

func at(pointer string) string {
	if pointer == "" {
		return ""
	}
	return "at " + pointer + ": "
}

func (d *deployed) read(ref string, text json.RawMessage) (*contract.Contract, any, error) {
	c, err := d.find(ref)
	if err != nil {
		return nil, nil, err
	}
	value, err := strictjson.Decode(text, strictjson.Limits{})
	return c, value, err
}

// params is what a job may ask of a provider beyond its contract; see
// httpapi.readIntent.
type params struct {
	Temperature     *json.Number    `json:"temperature"`
	MaxOutputTokens *json.Number    `json:"max_output_tokens"`
	Seed            *json.Number    `json:"seed"`
	Stop            []string        `json:"stop"`
	Stream          *bool           `json:"stream"`
	Mode            *providers.Mode `json:"mode"`
}

// Call sends the one request of an attempt over the route of its provider.
func (d *deployed) Call(ctx context.Context, c job.Claimed, header http.Header, known func(ref string)) (t providers.Transcript, err error) {
	r, err := d.route(c.Attempt.Provider, c.Job.Intent)
	if err != nil {
		return providers.Transcript{}, err
	}
	if d.tracing != nil {
		var end func(providers.Transcript, error)
		ctx, end = d.tracing.Call(ctx, r.profile, r.request)
		defer func() { end(t, err) }()
	}
	t, err = call.Follow(ctx, r.profile, r.secret, r.request, header, known)
	if d.mutant.Is(mutant.TLSNotVerified) && err == nil && t.Reach == providers.ReachNotSent {
		return unverified(ctx, r, t, header)
	}
	return t, err
}

// Ask asks the provider of an attempt how its work stands, or to stop it when the
// attempt is cancelled.
func (d *deployed) Ask(ctx context.Context, q job.Question) (providers.Transcript, providers.Kept, error) {
	r, err := d.route(q.Attempt.Provider, q.Job.Intent)
	if err != nil {
		return providers.Transcript{}, providers.Kept{}, err
	}
	if q.Attempt.State == job.StateCancelled {
		return call.Stop(ctx, r.profile, r.secret, r.request, q.Ref)
	}
	return call.Ask(ctx, r.profile, r.secret, r.request, q.Ref)
}

// route is where a request goes, and what it says.
type route struct {
	profile providers.Profile
	secret  string
	request providers.Request
}

func (d *deployed) route(provider string, in job.Intent) (route, error) {
	p, ok := d.profiles[provider]
	if !ok {
		return route{}, fmt.Errorf("provider %s is not deployed", provider)
	}
	agreed, input, err := d.read(in.Contract, in.Input)
	if err != nil {
		return route{}, err
	}
	request, err := agreed.Request(input)
	if err != nil {
		return route{}, err
	}
	request.Model = p.Model
	if err := apply(&request, in.Params); err != nil {
		return route{}, err
	}
	secret := ""
	if p.Auth.Env != "" {
		if secret = os.Getenv(p.Auth.Env); secret == "" {
			return route{}, fmt.Errorf("environment variable %s holds no key", p.Auth.Env)
		}
	}
	return route{p, secret, request}, nil
}

// apply puts the job's own parameters in the place of the contract's.
func apply(r *providers.Request, text json.RawMessage) error {
	if len(text) == 0 {
		return nil
	}
	var p params
	if err := json.Unmarshal(text, &p); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	if p.Temperature != nil {
		r.Temperature = p.Temperature
	}
	if p.Stop != nil {
		r.Stop = p.Stop
	}
	if p.Stream != nil {
		r.Stream = *p.Stream
	}
	if p.Mode != nil {
		r.Mode = *p.Mode
	}
	for _, n := range []struct {
		from *json.Number
		to   **int64
	}{{p.MaxOutputTokens, &r.MaxOutputTokens}, {p.Seed, &r.Seed}} {
		if n.from == nil {
			continue
		}
		whole, err := wholeNumber(*n.from)
		if err != nil {
			return err
		}
		*n.to = &whole
	}
	return nil
}

// wholeNumber reads a whole number however it is spelt (300, 3e2).
func wholeNumber(n json.Number) (int64, error) {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, fmt.Errorf("parameters: %s is no whole number", n)
	}
	return r.Num().Int64(), nil
}

// Judge says what an answer is worth under the job's contract.
func (d *deployed) Judge(j job.Job, _ string, t providers.Transcript) providers.Judgement {
	c, input, err := d.read(j.Intent.Contract, j.Intent.Input)
	if err != nil { // it was deployed when the request was built
		return providers.Judgement{Verdict: providers.Unknown, Reason: "contract.gone"}
	}
	return judge.Judge(c, &contract.Case{Input: input}, t)
}
