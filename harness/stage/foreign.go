package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

// Foreign is a target that somebody else runs. What is known of it says how deep
// the harness can look into it.
type Foreign struct {
	// URLs are the base URLs of its replicas, http only. One that stands for a
	// balancer is enough.
	URLs    []string
	Adapter *target.Adapter // nil for the contract's own words
	// Owners are the credentials of at least two owners. They are handed out in
	// turn: a target with few sees the jobs of several scenarios under one owner.
	// At L2 rows are read by owner, so that there it takes ownersToRead of them.
	Owners   []Credential
	Operator Credential // without a key nothing can be released or cancelled out of band
	// Providers are the addresses, host:port, at which the target was told to find
	// its providers. The stand-ins listen there (level L1).
	Providers map[string]string
	// PGURL is its database, and PGListen the address, host:port, at which it was
	// told to find it: the relay listens there (level L2).
	PGURL    string
	PGListen string
	// AllowLinkLocal lets the target have a link-local address.
	AllowLinkLocal bool
}

// ownersToRead is more owners than all scenarios together use.
const ownersToRead = 200

// WhyNotL4 is why nobody sees a foreign target at level L4.
const WhyNotL4 = "L4 sets the clock that the service reads, and a service that somebody else runs reads one that only its own code can set"

// Level is how deep the harness can look into the target. It is never L4: see
// WhyNotL4.
func (f *Foreign) Level() invariant.Level {
	switch {
	case len(f.Providers) == 0:
		return 0
	case f.PGURL == "" || f.PGListen == "":
		return 1
	case f.Adapter == nil || len(f.Adapter.Commands) == 0:
		return 2
	}
	return 3
}

// Check finds what is missing or misspelt, before anything is started.
func (f *Foreign) Check() error {
	for _, text := range f.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
			// The text may hold a password: do not repeat it.
			return errors.New("the target's URL must look like http://127.0.0.1:8080, without a password; put a plain listener in front of one that speaks TLS")
		}
	}
	for _, text := range f.URLs {
		u, _ := url.Parse(text)
		if err := edge.CheckHost(u.Hostname()); err != nil && !f.AllowLinkLocal {
			return fmt.Errorf("the target is at %w, where no job service is; --allow-link-local takes it all the same", err)
		}
	}
	if len(f.URLs) == 0 {
		return errors.New("the target has no URL")
	}
	if len(f.Owners) < 2 {
		return fmt.Errorf("the target needs keys of at least 2 owners, and %d were given", len(f.Owners))
	}
	for name, addr := range f.Providers {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return fmt.Errorf("the address of provider %s must look like 127.0.0.1:18081, not %q", name, addr)
		}
		if !slices.ContainsFunc(demoProviders(), func(p Provider) bool { return p.Name == name }) {
			return fmt.Errorf("there is no stand-in for provider %q; there are %s and %s", name, OpenAI, Anthropic)
		}
	}
	if len(f.Providers) > 0 && len(f.Providers) < len(demoProviders()) {
		return fmt.Errorf("the scenarios need both providers, %s and %s, or none", OpenAI, Anthropic)
	}
	if (f.PGURL == "") != (f.PGListen == "") {
		return errors.New("the database's URL and the address at which the target finds it belong together")
	}
	if f.PGURL != "" && len(f.Owners) < ownersToRead {
		return fmt.Errorf("level L2 needs keys of at least %d owners, because rows are read by owner, and %d were given", ownersToRead, len(f.Owners))
	}
	if f.PGURL != "" && len(f.Providers) == 0 {
		return errors.New("level L2 includes L1: say at which address the target finds its providers")
	}
	return f.checkCommands()
}

// checkCommands finds a command that is missing, or whose program is.
func (f *Foreign) checkCommands() error {
	if f.Adapter == nil || len(f.Adapter.Commands) == 0 {
		return nil
	}
	if f.Level() < 3 {
		return fmt.Errorf("the adapter has commands, which are for level L3, and L3 includes L2: say at which address the target finds its database and its providers, or ask for level %s", f.Level())
	}
	for _, name := range target.Commands() {
		argv := f.Adapter.Commands[name]
		if len(argv) == 0 {
			return fmt.Errorf("commands: %s is missing, and level L3 needs %s", name, strings.Join(target.Commands(), ", "))
		}
		if _, err := exec.LookPath(argv[0]); err != nil {
			return fmt.Errorf("commands: %s: there is no program %q that can be run: %w", name, argv[0], errors.Unwrap(err))
		}
	}
	return nil
}

// Level is how deep the harness can look into the target of this stage.
func (s *Stage) Level() invariant.Level {
	if s.o.Foreign == nil {
		return 4
	}
	return s.o.Foreign.Level()
}

// ErrForeign is returned for what only a service that the stage started can do.
var ErrForeign = errors.New("the target is not run by the stage")

// foreignService is the target behind a balancer of ours.
func (s *Stage) foreignService() (*Service, error) {
	f := s.o.Foreign
	v := &Service{Name: "target", stage: s, foreign: f}
	var backends []edge.Backend
	addrs, err := f.addrs()
	if err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		p := &Process{Name: fmt.Sprintf("replica-%d", i+1), Role: "api", addr: addr, log: &logFile{}, target: s.target}
		v.replicas = append(v.replicas, p)
		backends = append(backends, edge.Backend{Name: p.Name, URL: p.URL()})
	}
	if s.target != nil {
		v.workers = []*Process{{Name: "target", Role: "worker", addr: addrs[0], log: &logFile{}, target: s.target}}
	}
	if v.Balancer, err = edge.NewBalancer(backends...); err != nil {
		return nil, err
	}
	if f.AllowLinkLocal {
		v.Balancer.AllowLinkLocal()
	}
	s.mu.Lock()
	s.services[v] = true
	s.mu.Unlock()
	return v, nil
}

// addrs are host and port of each replica.
func (f *Foreign) addrs() ([]string, error) {
	var addrs []string
	for _, text := range f.URLs {
		u, err := url.Parse(text)
		if err != nil {
			return nil, err
		}
		addr := u.Host
		if u.Port() == "" {
			addr = net.JoinHostPort(u.Hostname(), "80")
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

// setForeign makes ready what a foreign target was told to find, the relay to its
// database, and starts the target where its adapter says how. The relay is open
// before the first scenario, and stays open.
func (s *Stage) setForeign(ctx context.Context) error {
	f := s.o.Foreign
	if f.PGURL == "" {
		return nil
	}
	u, err := url.Parse(f.PGURL)
	if err != nil || u.Hostname() == "" {
		return errors.New("the URL of the target's database must look like postgres://user@host:port/database")
	}
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), "5432")
	}
	if s.relay, err = edge.NewPostgresAt(f.PGListen, addr); err != nil {
		return err
	}
	addrs, err := f.addrs()
	if err != nil {
		return err
	}
	return s.setCommands(ctx, addrs)
}

// Probe submits one job to a foreign target and sees that it is accepted and, at
// level L1, that it is the stand-in that is asked. It fails with the remedy.
func (s *Stage) Probe(ctx context.Context) error {
	f := s.o.Foreign
	if f == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, toProbe)
	defer cancel()
	w, err := s.World(ctx, theProbe)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	var job target.Job
	var refused *target.Refused
	err = Until(ctx, "the target answers", func(ctx context.Context) (bool, error) {
		var e error
		job, e = w.Client("probe").Submit(ctx, w.Key("probe"), w.Intent("probe"))
		if errors.As(e, &refused) {
			return true, nil
		}
		return e == nil, e // one that waits for the relay may just be starting
	})
	switch {
	case refused != nil:
		return fmt.Errorf("the target at %s does not speak the contract, or not with these keys and this adapter: it refuses a plain submit with %d (%s %s)", f.URLs[0], refused.Status, refused.Problem.Type, refused.Problem.Detail)
	case err != nil:
		return fmt.Errorf("the target at %s does not take a job: %w; start it, or mend --target", f.URLs[0], err)
	case job.ID == "":
		return fmt.Errorf("the target at %s took a job and did not say its id: does the adapter name the field?", f.URLs[0])
	}
	if s.Level() >= 1 {
		if err := w.Provider(OpenAI).Await(ctx, Match{}, 1); err != nil {
			return fmt.Errorf("the target at %s does not ask %s at %s: is it configured to? Without providers the target is judged at level L0", f.URLs[0], OpenAI, f.Providers[OpenAI])
		}
	}
	return nil
}

// toProbe bounds the first job of a foreign target.
const toProbe = 15 * time.Second

// quietEdge waits, through the target's own answers, until no job that the world
// knows moves by itself any more.
func (w *World) quietEdge(ctx context.Context) error {
	settled := []string{"succeeded", "failed", "cancelled", "unknown", "open"}
	return w.eachJob(func(owner int, id string) error {
		_, err := w.Status(ctx, w.ClientOf(owner, "audit"), id, settled...)
		return err
	})
}

// auditEdge reads each job that the world knows once more, with its attempts and
// races where the target shows them, into the history.
func (w *World) auditEdge(ctx context.Context) error {
	return w.eachJob(func(owner int, id string) error {
		c := w.ClientOf(owner, "audit")
		_, err := c.Job(ctx, id)
		for _, read := range []func() error{
			func() error { _, err := c.Attempts(ctx, id); return err },
			func() error { _, err := c.Races(ctx, id); return err },
		} {
			if e := read(); !errors.Is(e, target.ErrNotOffered) {
				err = errors.Join(err, e)
			}
		}
		return err
	})
}

func (w *World) eachJob(do func(owner int, id string) error) error {
	w.mu.Lock()
	numbers := map[string]int{}
	for i, c := range w.owners {
		numbers[c.Owner] = i
	}
	w.mu.Unlock()
	seen := map[string]bool{}
	var failed error
	for _, op := range history.Operations(w.Recorder.Events()) {
		id, owner := op.End.Job, numbers[op.Invoke.Owner]
		if op.Invoke.Op != history.OpSubmit || op.Kind() != history.OK || id == "" || owner == 0 || seen[id] {
			continue
		}
		seen[id] = true
		failed = errors.Join(failed, do(owner, id))
	}
	return failed
}
