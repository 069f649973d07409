package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/metrics"
)

// rereadEvery is how old the gate's evidence may be: a certificate or trust file
// that was changed counts after this time at the latest.
const rereadEvery = time.Second

// gate asks the failover gate over the files of --certificates and --trust, and
// reads them again when they change. Without a folder it is always shut.
type gate struct {
	sources  certificate.Sources
	deployed *deployed
	count    func(from, to, contract string, allowed bool, reason string)
	tell     func(context.Context, job.ID, job.Denial) error // that a provider is suspected
	log      *slog.Logger

	mu      sync.Mutex
	asked   *certificate.Gate
	print   string            // of the files that asked was made of
	looked  time.Time         // when print was compared last
	seen    *certificate.Seen // newest memory, kept beside the certificates too
	problem string            // last trouble that was logged

	drift     drift
	suspected map[string]suspicion // by provider, as this process knows them
}

func newGate(c *config, d *deployed, log *slog.Logger) *gate {
	sources := certificate.Sources{Trust: c.Trust}
	if c.Certificates != "" {
		sources = certificate.SourcesIn(c.Certificates)
		if c.Trust != "" {
			sources.Trust = c.Trust
		}
	}
	return &gate{sources: sources, deployed: d, log: log, count: func(string, string, string, bool, string) {},
		tell: func(context.Context, job.ID, job.Denial) error { return nil }}
}

// current is the gate over the files as they are now.
func (g *gate) current() *certificate.Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.asked != nil && now.Sub(g.looked) < rereadEvery {
		return g.asked
	}
	g.looked = now
	if print := g.footprint(); g.asked == nil || print != g.print {
		g.asked, g.print = g.read(now), print
	}
	return g.asked
}

// read makes a gate of the files. What cannot be read shuts it.
func (g *gate) read(now time.Time) *certificate.Gate {
	evidence, err := g.sources.Read()
	g.complain(err)
	if err != nil {
		evidence = certificate.Evidence{TrustErr: err}
	}
	if g.seen != nil {
		evidence.Seen = g.seen
	}
	evidence.Profiles, evidence.Contracts = g.deployed.profiles, g.deployed.facts
	asked := certificate.NewGate(evidence)
	g.suspected = g.suspicions()
	if evidence.Suspected = standing(g.suspected, asked); evidence.Suspected != nil {
		asked = certificate.NewGate(evidence)
	}
	if seen := asked.Seen(now); g.seen == nil || !seen.Equal(g.seen) {
		g.seen = seen
		if g.sources.Seen != "" {
			g.complain(writeWhole(g.sources.Seen, seen.Write()))
		}
	}
	return asked
}

// complain logs a trouble once, not at every look.
func (g *gate) complain(err error) {
	text := ""
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		text = err.Error()
	}
	if text != "" && text != g.problem {
		g.log.Warn("certificates", "error", text)
	}
	g.problem = text
}

// footprint changes whenever a file that counts changes.
func (g *gate) footprint() string {
	var print strings.Builder
	add := func(path string) {
		if info, err := os.Lstat(path); err == nil {
			fmt.Fprintf(&print, "%s %d %d %v\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
	}
	add(g.sources.Trust)
	add(filepath.Join(g.sources.Certificates, suspicionFile))
	entries, _ := os.ReadDir(g.sources.Certificates)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), certificate.FileSuffix) {
			add(filepath.Join(g.sources.Certificates, e.Name()))
		}
	}
	return print.String()
}

func (g *gate) ask(from, to, contract string, at time.Time) certificate.Answer {
	a := g.current().Ask(certificate.Question{From: from, To: to, Contract: contract, At: at})
	code := ""
	if len(a.Reasons) > 0 {
		code = string(a.Reasons[0].Code)
	}
	g.count(from, to, contract, a.Allow, code)
	return a
}

// sentences are the reasons of an answer: none for yes, never none for no.
func sentences(a certificate.Answer) []string {
	reasons := []string{}
	if !a.Allow && len(a.Reasons) == 0 {
		reasons = append(reasons, "the gate is shut")
	}
	for _, r := range a.Reasons {
		reasons = append(reasons, string(r.Code)+": "+r.Sentence)
	}
	return reasons
}

// Refuses is the question of the failover policy.
func (g *gate) Refuses(from, to, contract string, at time.Time) []string {
	a := g.ask(from, to, contract, at)
	if a.Allow {
		return nil
	}
	return sentences(a)
}

// Ask is the question of a client.
func (g *gate) Ask(_ context.Context, from, to, contract string) (httpapi.GateAnswer, error) {
	a := g.ask(from, to, contract, time.Now())
	return httpapi.GateAnswer{From: from, To: to, Contract: contract, Allowed: a.Allow, Reasons: sentences(a)}, nil
}

// expiries are the ends of all certificates by trusted keys.
func (g *gate) expiries() []metrics.Expiry {
	var all []metrics.Expiry
	for _, s := range g.current().List() {
		all = append(all, metrics.Expiry{Provider: s.Profile, Contract: s.Contract, At: s.NotAfter.Time})
	}
	return all
}
