package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/harness/stage/scratch"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

// Stage is everything that scenarios play on.
type Stage struct {
	// Network makes proxies.
	Network *edge.Network
	// Recorder is the history of the whole run.
	Recorder *history.Recorder

	o       Options
	command []string
	dir     string
	pg      *pgserver.Server
	config  *config
	stands  map[string]*standIn
	worlds  worlds

	templates sync.Mutex
	template  string
	first     bool // a database was migrated

	mu       sync.Mutex
	shared   *Service
	services map[*Service]bool
	relay    *edge.Postgres // to the database of a foreign target
	target   *commanded     // a foreign target that the stage starts; nil without commands
	owner    int            // how many owners are taken
	world    int
	closed   bool
	sharing  sync.Mutex // held while the shared service starts
}

// Start sets the stage. What crashed runs left behind is removed on the way.
func Start(ctx context.Context, o Options) (_ *Stage, err error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Providers == nil {
		o.Providers = demoProviders()
	}
	if o.Files == nil {
		o.Files = fixtures.FS
	}
	if o.Intent == nil {
		o.Intent = DemoIntent
	}
	if o.Owners == 0 {
		o.Owners = 400
	}
	s := &Stage{
		o: o, command: o.Command, Recorder: o.Recorder,
		stands: map[string]*standIn{}, services: map[*Service]bool{},
	}
	s.worlds.byToken = map[string]*World{}
	if s.Recorder == nil {
		s.Recorder = history.New()
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("set the stage: %w", err), s.Close())
		}
	}()
	if len(s.command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		s.command = []string{self}
	}
	if o.Out != "" {
		if err := os.MkdirAll(filepath.Join(o.Out, "logs"), 0o755); err != nil {
			return nil, err
		}
	}
	if removed, err := pgserver.Sweep(ctx, ""); err != nil {
		o.Note("could not remove what a crashed run left behind: " + err.Error())
	} else if len(removed) > 0 {
		o.Note(fmt.Sprintf("removed what crashed runs left behind: %d folders", len(removed)))
	}
	if s.dir, err = scratch.New("", "stage"); err != nil {
		return nil, err
	}

	if o.Foreign != nil {
		if err := errors.Join(s.setRest(ctx), s.setForeign(ctx)); err != nil {
			return nil, err
		}
		return s, nil
	}

	// PostgreSQL takes longest: everything else is set up meanwhile.
	started := make(chan error, 1)
	go func() {
		pg, err := pgserver.Start(ctx, pgserver.Options{
			URL: o.PGURL, Dir: s.dir, Cache: o.PGCache, Durable: o.Durable, Note: o.Note,
		})
		s.pg = pg
		started <- err
	}()
	err = s.setRest(ctx)
	if pgErr := <-started; pgErr != nil {
		err = errors.Join(err, pgErr)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Stage) setRest(ctx context.Context) (err error) {
	if s.o.Toxiproxy == "" {
		s.Network = edge.Embedded()
	} else if s.Network, err = edge.Remote(ctx, s.o.Toxiproxy); err != nil {
		return err
	}
	for _, p := range s.o.Providers {
		if err := s.addStandIn(p); err != nil {
			return err
		}
	}
	if s.o.Foreign != nil {
		return nil
	}
	s.config, err = writeConfig(filepath.Join(s.dir, "config"), s.o, func(name string) string { return s.stands[name].edge.URL() })
	return err
}

// Service is the service that scenarios share; it is started at the first
// call.
func (s *Stage) Service(ctx context.Context) (*Service, error) {
	s.sharing.Lock()
	defer s.sharing.Unlock()
	s.mu.Lock()
	shared := s.shared
	s.mu.Unlock()
	if shared != nil {
		return shared, nil
	}
	start := func() (*Service, error) { return s.NewService(ctx, "service", s.o.Service) }
	if s.o.Foreign != nil {
		start = s.foreignService
	}
	v, err := start()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.shared = v
	s.mu.Unlock()
	return v, nil
}

// NewService starts a service of its own: own database, own processes. The
// caller closes it.
func (s *Stage) NewService(ctx context.Context, name string, o ServiceOptions) (*Service, error) {
	if s.o.Foreign != nil {
		return nil, fmt.Errorf("service %s: %w", name, ErrForeign)
	}
	v, err := s.startService(ctx, name, o)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.services[v] = true
	s.mu.Unlock()
	return v, nil
}

// Config is where the files are that services read at their start.
func (s *Stage) Config() Config { return s.config.Config }

// PG is the PostgreSQL server of the stage.
func (s *Stage) PG() *pgserver.Server { return s.pg }

// Describe says in one line what the stage is made of.
func (s *Stage) Describe() string {
	if s.o.Foreign != nil {
		return s.Network.Kind() // the target has its own name
	}
	server := "PostgreSQL " + s.pg.Version()
	if !s.pg.Private() {
		server += " at " + s.pg.Addr()
	}
	return server + ", " + s.Network.Kind()
}

// Close ends and removes everything.
func (s *Stage) Close() error {
	s.mu.Lock()
	s.closed = true
	var services []*Service
	for v := range s.services {
		services = append(services, v)
	}
	s.mu.Unlock()
	var failed error
	for _, v := range services {
		failed = errors.Join(failed, v.Close())
	}
	if s.target != nil { // while all that it needs is there
		failed = errors.Join(failed, s.target.close())
	}
	for _, p := range s.stands {
		failed = errors.Join(failed, p.close())
	}
	if s.Network != nil {
		failed = errors.Join(failed, s.Network.Close())
	}
	if s.relay != nil {
		failed = errors.Join(failed, s.relay.Close())
	}
	if s.pg != nil && s.o.Keep {
		failed = errors.Join(failed, s.pg.Leave())
	} else if s.pg != nil {
		failed = errors.Join(failed, s.pg.Close())
	}
	switch {
	case s.dir == "":
	case s.o.Keep && s.pg != nil && s.pg.Private():
		failed = errors.Join(failed, os.RemoveAll(filepath.Join(s.dir, "config")), scratch.Keep(s.dir))
	default:
		failed = errors.Join(failed, os.RemoveAll(s.dir))
	}
	return failed
}

func (s *Stage) closing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Stage) forget(v *Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.services, v)
	if s.shared == v {
		s.shared = nil
	}
}

// takeOwner hands out an owner that no world had before.
func (s *Stage) takeOwner() (Credential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.o.Foreign; f != nil {
		s.owner++
		return f.Owners[(s.owner-1)%len(f.Owners)], nil
	}
	if s.owner == len(s.config.owners) {
		return Credential{}, fmt.Errorf("all %d owners of the stage are taken", len(s.config.owners))
	}
	c := s.config.owners[s.owner]
	s.owner++
	return c, nil
}
