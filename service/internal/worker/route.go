package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/judge"
	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// Routes calls real providers: the contract renders the request, the profile
// says where it goes, and the contract judges the answer. It is the Caller and
// the Judge of a service.
type Routes struct {
	Profiles  map[string]providers.Profile  // by name
	Contracts map[string]*contract.Contract // by id
	Secret    func(variable string) string  // reads an API key; default: the environment
}

// Call sends the request of an attempt, once.
func (r Routes) Call(ctx context.Context, c job.Claimed, header http.Header) (providers.Transcript, error) {
	p, ok := r.Profiles[c.Attempt.Provider]
	if !ok {
		return providers.Transcript{}, fmt.Errorf("provider %q has no profile", c.Attempt.Provider)
	}
	request, err := r.request(c.Job.Intent, p)
	if err != nil {
		return providers.Transcript{}, err
	}
	if p.IdempotencyHeader != "" {
		header.Set(p.IdempotencyHeader, identity(c.Attempt.ID))
	}
	secret := ""
	if p.Auth.Env != "" {
		read := r.Secret
		if read == nil {
			read = os.Getenv
		}
		if secret = read(p.Auth.Env); secret == "" {
			return providers.Transcript{}, fmt.Errorf("the key of provider %s is not set: environment variable %s", p.Name, p.Auth.Env)
		}
	}
	return call.Do(ctx, p, secret, request, header)
}

// identity is the attempt's id in a form that any header or metadata field
// takes: 32 hexadecimal digits.
func identity(id job.AttemptID) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// request renders the contract's prompt for the job's input, with the parameters
// that the job changes.
func (r Routes) request(in job.Intent, p providers.Profile) (providers.Request, error) {
	c, err := r.contract(in.Contract)
	if err != nil {
		return providers.Request{}, err
	}
	input, err := strictjson.Decode(in.Input, strictjson.Defaults)
	if err != nil {
		return providers.Request{}, fmt.Errorf("input: %w", err)
	}
	request, err := c.Request(input)
	if err != nil {
		return providers.Request{}, err
	}
	request.Model = p.Model
	return request, override(&request, in.Params)
}

// contract returns the deployed contract of a reference id@version. A job keeps
// the version that it was submitted under: another one is not its contract.
func (r Routes) contract(ref string) (*contract.Contract, error) {
	for _, c := range r.Contracts {
		if c.Ref() == ref {
			return c, nil
		}
	}
	return nil, fmt.Errorf("contract %s is not deployed", ref)
}

// parameters are what a job may change of a contract's request. A name that is
// not here was refused at submit.
type parameters struct {
	Mode            *providers.Mode `json:"mode"`
	Stream          *bool           `json:"stream"`
	Temperature     *json.Number    `json:"temperature"`
	MaxOutputTokens *int64          `json:"max_output_tokens"`
	Seed            *int64          `json:"seed"`
	Stop            []string        `json:"stop"`
}

func override(request *providers.Request, params json.RawMessage) error {
	if len(params) == 0 {
		return nil
	}
	var p parameters
	decoder := json.NewDecoder(bytes.NewReader(params))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return fmt.Errorf("params: %w", err)
	}
	if p.Mode != nil {
		request.Mode = *p.Mode
	}
	if p.Stream != nil {
		request.Stream = *p.Stream
	}
	if p.Temperature != nil {
		request.Temperature = p.Temperature
	}
	if p.MaxOutputTokens != nil {
		request.MaxOutputTokens = p.MaxOutputTokens
	}
	if p.Seed != nil {
		request.Seed = p.Seed
	}
	if p.Stop != nil {
		request.Stop = p.Stop
	}
	return nil
}

// Judge says what an answer is worth under the job's contract.
func (r Routes) Judge(j job.Job, _ string, t providers.Transcript) providers.Judgement {
	c, err := r.contract(j.Intent.Contract)
	if err != nil {
		return providers.Judgement{Verdict: providers.Unknown, Reason: "unknown.contract", Detail: err.Error()}
	}
	asked := &contract.Case{}
	if input, err := strictjson.Decode(j.Intent.Input, strictjson.Defaults); err == nil {
		asked.Input = input
	}
	return judge.Judge(c, asked, t)
}
