package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
)

const (
	// canaryOwner owns the jobs of canaries. No key can be its: names of keys have
	// no colon.
	canaryOwner job.Owner = "interlock:canary"
	// canaries is how many are sent to one provider for one contract in the time of
	// --canary-every.
	canaries = 32
)

// canary asks the providers of live certificates the cases of their contracts, one
// after the other and around again, evenly over time.
//
// A canary is a job like any other, so that its answer is judged, watched for drift
// and kept like any other's. Its key names the certificate and the moment: several
// processes together send it once, and what was missed is not made up for.
type canary struct {
	gate   *gate
	every  time.Duration
	limit  time.Duration // soft deadline of each
	submit func(context.Context, job.Submission) (job.Job, bool, error)
	sent   map[string]int64 // newest moment, by digest of the certificate
}

// run sends canaries until ctx ends.
func (c *canary) run(ctx context.Context) {
	every(ctx, max(c.every/canaries/8, time.Millisecond), func() {
		if err := c.look(ctx, time.Now()); err != nil && ctx.Err() == nil {
			c.gate.log.Warn("canary", "error", err)
		}
	})
}

// look sends the canaries of this moment that this process has not sent yet.
func (c *canary) look(ctx context.Context, now time.Time) error {
	var failed error
	moment := now.UnixNano() / int64(c.every/canaries)
	for _, s := range c.gate.canaried(now) {
		if c.sent[s.Digest] == moment {
			continue
		}
		in, err := c.submission(s, moment)
		if err == nil {
			_, _, err = c.submit(ctx, in)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", s.Profile, s.Contract, err))
			continue
		}
		c.sent[s.Digest] = moment
	}
	return failed
}

func (c *canary) submission(s certificate.Summary, moment int64) (job.Submission, error) {
	agreed, err := c.gate.deployed.find(s.Contract)
	if err != nil {
		return job.Submission{}, err
	}
	asked := agreed.Cases[moment%int64(len(agreed.Cases))]
	intent := job.Intent{
		Contract: s.Contract, Provider: s.Profile, Input: strictjson.AppendCanonical(nil, asked.Input),
		Failover: job.Failover{Mode: "manual"}, DeadlineMS: c.limit.Milliseconds(),
	}
	body, err := json.Marshal(map[string]job.Intent{"intent": intent})
	if err != nil {
		return job.Submission{}, err
	}
	return job.Submission{
		Owner: canaryOwner, Key: job.Key(fmt.Sprintf("%s/%d", s.Digest, moment)), RawBody: body, Intent: intent,
		FingerprintAlgorithm: httpapi.FingerprintV1, Fingerprint: httpapi.Fingerprint("POST", "/v1/jobs", "", "application/json", []byte(asked.ID)),
	}, nil
}

// canaried are the certificates whose provider is worth asking now: live, in their
// time, the newest of their kind, with cases that are deployed, and not suspected
// already.
func (g *gate) canaried(now time.Time) []certificate.Summary {
	var list []certificate.Summary
	asked := g.current()
	for _, s := range asked.List() {
		_, digest, ok := asked.Deciding(s.Profile, s.Contract)
		if !ok || digest != s.Digest || s.Mode != certificate.Live || s.NotBefore.After(now) || !s.NotAfter.After(now) || !g.deployed.Known(s.Profile) {
			continue
		}
		if c, err := g.deployed.find(s.Contract); err != nil || len(c.Cases) == 0 {
			continue
		}
		if !asked.Suspects(s.Profile) {
			list = append(list, s)
		}
	}
	return list
}
