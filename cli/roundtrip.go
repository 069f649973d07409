package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/standin"
)

// roundTripCases is how many cases go through the job service.
const (
	roundTripCases = 3
	roundTripWait  = 20 * time.Second
)

// roundTrip sends cases through the reference job service, in front of the
// stand-in: what it stores must be what the provider said and the judge took, byte
// for byte.
func (c *certification) roundTrip(ctx context.Context, o certify.Options) (_ []check.RoundTrip, err error) {
	contracts, at, err := c.deployed.contractAt(c.contractName)
	if err != nil {
		return nil, err
	}
	dir, err := stageFiles(o.Profile, contracts, at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	refs, err := certify.References(o.Contract)
	if err != nil {
		return nil, err
	}
	answers := func(a standin.Ask) string {
		for _, r := range refs {
			if strings.Contains(a.User, r.Text) {
				return r.Answer
			}
		}
		return "{}"
	}
	st, err := stage.Start(ctx, stage.Options{
		PGURL: c.servers.databaseURL(), Answers: answers, Files: os.DirFS(dir), Owners: 4,
		Providers: []stage.Provider{{Name: o.Profile.Name, Protocol: o.Profile.Protocol}},
		Service:   stage.ServiceOptions{Replicas: 1, Workers: 1, Direct: true, Deadline: roundTripWait},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	world, err := st.World(ctx, "certify-round-trip")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	client := world.Client("certify")
	var trips []check.RoundTrip
	for i := range roundTripCases {
		k := o.Contract.Cases[i*len(o.Contract.Cases)/roundTripCases]
		trips = append(trips, oneTrip(ctx, client, world.Key(fmt.Sprint(i)), o, k, answers))
	}
	return trips, nil
}

func oneTrip(ctx context.Context, client *target.Client, key string, o certify.Options, k contract.Case, answers func(standin.Ask) string) check.RoundTrip {
	trip := check.RoundTrip{Case: k.ID}
	asked, err := o.Contract.Request(k.Input)
	if err != nil {
		trip.Problem = err.Error()
		return trip
	}
	trip.Judged = json.RawMessage(answers(standin.Ask{User: asked.User}))
	input, ok := k.Input.(map[string]any)
	if !ok {
		trip.Judged, trip.Problem = nil, "the input of the case is no object"
		return trip
	}
	job, err := client.Submit(ctx, key, target.Intent{
		Contract: o.Contract.Ref(), Provider: o.Profile.Name, Input: input, DeadlineMS: roundTripWait.Milliseconds(),
	})
	if err != nil {
		trip.Problem = "submit: " + err.Error()
		return trip
	}
	err = stage.Until(ctx, "the job is done", func(ctx context.Context) (bool, error) {
		if job, err = client.Job(ctx, job.ID); err != nil {
			return false, err
		}
		return job.Status == "succeeded" || job.Status == "failed" || job.Status == "cancelled", nil
	})
	switch {
	case err != nil:
		trip.Problem = err.Error()
	case job.Status != "succeeded":
		trip.Problem = "the job ended as " + job.Status
	default:
		trip.Stored = job.Result
	}
	return trip
}

// stageFiles writes the profile and the contract of a run in the form in which the
// stage wants them. The stage puts the address of the stand-in in the place of the
// base URL.
func stageFiles(p providers.Profile, contracts fs.FS, at string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "interlock-certify-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	sub, err := fs.Sub(contracts, at)
	if err != nil {
		return "", err
	}
	if err = os.CopyFS(filepath.Join(dir, "contracts", path.Base(at)), sub); err != nil {
		return "", err
	}
	if err = os.Mkdir(filepath.Join(dir, "profiles"), 0o700); err != nil {
		return "", err
	}
	p.AllowLoopback = true
	return dir, os.WriteFile(filepath.Join(dir, "profiles", p.Name+".yaml"), profileText(p), 0o600)
}

// profileText is a profile file; JSON texts are YAML texts.
func profileText(p providers.Profile) []byte {
	var b strings.Builder
	line := func(format string, text string) { _, _ = fmt.Fprintf(&b, format, strconv.Quote(text)) }
	line("name: %s\n", p.Name)
	line("protocol: %s\n", string(p.Protocol))
	line("base_url: %s\n", p.BaseURL)
	line("model: %s\n", p.Model)
	if p.Auth.Header != "" {
		line("auth:\n  header: %s\n", p.Auth.Header)
		if p.Auth.Scheme != "" {
			line("  scheme: %s\n", p.Auth.Scheme)
		}
		_, _ = fmt.Fprintf(&b, "  env: %s\n", p.Auth.Env)
	}
	if len(p.Headers) > 0 {
		b.WriteString("headers:\n")
		for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
			_, _ = fmt.Fprintf(&b, "  %s: %s\n", strconv.Quote(name), strconv.Quote(p.Headers[name]))
		}
	}
	if p.AllowLoopback {
		b.WriteString("allow_loopback: true\n")
	}
	for i, s := range p.RefusedStatuses {
		if i == 0 {
			b.WriteString("refused_statuses:\n")
		}
		_, _ = fmt.Fprintf(&b, "  - %d\n", s)
	}
	for i, s := range p.Served {
		if i == 0 {
			b.WriteString("served:\n")
		}
		line("  - %s\n", s)
	}
	if p.IdempotencyHeader != "" {
		line("idempotency_header: %s\n", p.IdempotencyHeader)
	}
	if p.Upstream != "" {
		line("upstream: %s\n", p.Upstream)
	}
	return []byte(b.String())
}
