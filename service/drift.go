package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/providers/wire"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// suspicionFile lies beside the certificates, so that every process of the service
// goes by what one of them saw, also after a restart.
const suspicionFile = "suspected.json"

// suspicion is why a provider may have changed since it was certified.
type suspicion struct {
	Why         string    `json:"why"`
	At          time.Time `json:"at"`
	Certificate string    `json:"certificate"`   // that it no longer meets; a newer one ends it
	Job         job.ID    `json:"job,omitempty"` // whose answer showed it
}

// drift watches live answers. What it suspects shuts the gate until the provider is
// certified anew.
type drift struct {
	mu    sync.Mutex
	watch map[string]*certificate.Watch // by digest of the certificate
	cases map[string]map[string]string  // by contract: canonical input -> id of the case
}

// usual tells whether a job leaves all parameters to its contract, as the requests
// of a certificate do.
func usual(in job.Intent) bool {
	p := string(bytes.TrimSpace(in.Params))
	return p == "" || p == "{}" || p == "null"
}

// caseOf is the id of the case that asks exactly what a job asks, or "".
func (d *drift) caseOf(known *deployed, in job.Intent) string {
	c, input, err := known.read(in.Contract, in.Input)
	if err != nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	cases, ok := d.cases[c.Ref()]
	if !ok {
		cases = map[string]string{}
		for _, k := range c.Cases {
			cases[string(strictjson.AppendCanonical(nil, k.Input))] = k.ID
		}
		if d.cases == nil {
			d.cases = map[string]map[string]string{}
		}
		d.cases[c.Ref()] = cases
	}
	return cases[string(strictjson.AppendCanonical(nil, input))]
}

// observe compares one answer with the certificate of its provider.
func (g *gate) observe(j job.Job, provider string, t providers.Transcript, found providers.Judgement) {
	if t.Status < 200 || t.Status > 299 {
		return
	}
	predicate, digest, ok := g.current().Deciding(provider, j.Intent.Contract)
	if !ok || predicate.Mode != certificate.Live { // recordings are no baseline of live answers
		return
	}
	g.drift.mu.Lock()
	watch := g.drift.watch[digest]
	if watch == nil {
		if g.drift.watch == nil {
			g.drift.watch = map[string]*certificate.Watch{}
		}
		watch = certificate.NewWatch(predicate, g.deployed.profiles[provider].Served...)
		g.drift.watch[digest] = watch
	}
	g.drift.mu.Unlock()
	r := wire.Decode(t)
	live := certificate.Sighting{
		Model: r.Model, Fingerprint: check.Fingerprint(&check.Observation{Transcript: t}), Verdict: found.Verdict,
		Canary: j.Owner == canaryOwner,
	}
	if usual(j.Intent) {
		live.Case, live.Finish = g.drift.caseOf(g.deployed, j.Intent), r.Finish
	}
	if found.Verdict == providers.Accept {
		live.Structure = certificate.Structure(check.Shape(found.Output))
	}
	if r.Usage != nil {
		live.PromptSize = r.Usage.Input
	}
	if why := watch.Observe(live); why != "" {
		g.suspect(provider, suspicion{Why: why, At: time.Now().UTC(), Certificate: digest, Job: j.ID})
	}
}

// toTell bounds how long the event of a suspicion may take. The gate is shut by
// then; without its database the log tells of it alone.
const toTell = 3 * time.Second

// suspect shuts the gate for a provider, here and in every other process, and says
// so at once: in the log, and as an event of the job whose answer showed it.
func (g *gate) suspect(provider string, s suspicion) {
	if !g.shut(provider, s) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), toTell)
	defer cancel()
	if err := g.tell(ctx, s.Job, job.Denial{Provider: provider, Reasons: []string{string(certificate.Drift) + ": " + s.Why}}); err != nil {
		g.log.Error("the suspicion is no event of its job", "provider", provider, "job_id", s.Job, "error", err)
	}
}

// shut keeps a suspicion; false where it is known.
func (g *gate) shut(provider string, s suspicion) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := g.suspicions()
	if all[provider].Certificate == s.Certificate {
		return false
	}
	all[provider] = s
	g.log.Warn("provider suspected: the gate is shut for it until it is certified anew",
		"provider", provider, "why", s.Why, "job_id", s.Job, "certificate", s.Certificate)
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil && g.sources.Certificates != "" {
		err = writeWhole(filepath.Join(g.sources.Certificates, suspicionFile), data)
	}
	g.complain(err)
	g.suspected = all
	g.asked = nil // at once, not at the next look
	return true
}

// suspicions are those on disk and those of this process.
func (g *gate) suspicions() map[string]suspicion {
	all := map[string]suspicion{}
	for name, s := range g.suspected {
		all[name] = s
	}
	if g.sources.Certificates == "" {
		return all
	}
	data, err := certificate.ReadRegular(filepath.Join(g.sources.Certificates, suspicionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return all
	}
	stored := map[string]suspicion{}
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	g.complain(err)
	for name, s := range stored {
		all[name] = s
	}
	return all
}

// standing are the suspicions that no newer certificate has ended.
func standing(all map[string]suspicion, deciding *certificate.Gate) map[string]string {
	if len(all) == 0 {
		return nil
	}
	still := map[string]string{}
	for provider, s := range all {
		still[provider] = s.Why
	}
	for _, c := range deciding.List() {
		s, ok := all[c.Profile]
		if ok && c.Digest != s.Certificate && c.NotBefore.After(s.At) {
			delete(still, c.Profile)
		}
	}
	return still
}

// watched judges answers, and shows them to the gate.
type watched struct {
	*deployed
	gate *gate
}

// Judge implements worker.Judge.
func (w watched) Judge(j job.Job, provider string, t providers.Transcript) providers.Judgement {
	found := w.deployed.Judge(j, provider, t)
	w.gate.observe(j, provider, t, found)
	return found
}
