// Package console is what `interlock up` serves: a stage with the reference
// service on it, and pages on which a person clicks jobs, breaks things and
// watches what happens.
//
// It keeps four rules. It shows what the database holds, never what it hopes:
// every page is rendered anew from one board, and a lost connection is said. It
// refuses nothing itself that the service can refuse: refusal is the lesson. It
// answers only to this machine's own browser, and only to the one that was given
// the token. And text from outside stays text.
package console

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// Options say what console is wanted.
type Options struct {
	Port  int    // on 127.0.0.1; where it is taken the next free one
	Seed  int64  // of keys, samples and the runs that are started here
	Token string // who opens the console must show it; "" for the one of this user
	Runs  string // folder below which runs leave their reports
	Keep  bool   // leave the database behind

	PGURL     string       // use this PostgreSQL instead of a private one
	Toxiproxy string       // use this Toxiproxy instead of the embedded one
	Command   []string     // starts service, workers and runs; nil is this executable
	Note      func(string) // told in one line what a user should know
}

// Bounds of everything that waits.
const (
	every    = 40 * time.Millisecond // between two looks at the database
	toAct    = 15 * time.Second      // one click
	toSee    = time.Second           // a click, on the board
	toClose  = 20 * time.Second      // the service's end
	tries    = 100                   // ports that are tried
	deadline = 2 * time.Second       // soft deadline of a job where the form names none
)

// Console is a running console.
type Console struct {
	o      Options
	token  string
	addr   string
	stage  *stage.Stage
	world  *stage.World
	certs  *certificates
	hub    *hub
	board  *board
	hands  *hands
	dolls  map[string]*provider
	faults *faults
	runs   *runs
	tour   *tour

	server *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// Start sets the stage and serves until Close.
func Start(ctx context.Context, o Options) (_ *Console, err error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if len(o.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		o.Command = []string{self}
	}
	listener, err := listen(o.Port)
	if err != nil {
		return nil, err
	}
	c := &Console{o: o, addr: listener.Addr().String(), hub: newHub()}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			_ = listener.Close()
			err = errors.Join(err, c.Close())
		}
	}()
	if c.token = o.Token; c.token == "" {
		c.token = userToken()
	}
	if err := c.set(ctx); err != nil {
		return nil, err
	}
	c.watch()
	c.server = &http.Server{
		Handler: c.guard(c.routes()), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog:    log.New(quiet{}, "", 0), // who breaks a connection off is no news
		BaseContext: func(net.Listener) context.Context { return c.ctx },
	}
	c.work.Go(func() { _ = c.server.Serve(listener) })
	return c, nil
}

type quiet struct{}

func (quiet) Write(p []byte) (int, error) { return len(p), nil }

// set sets the stage and everything that stands on it.
func (c *Console) set(ctx context.Context) (err error) {
	c.certs = &certificates{}
	c.stage, err = stage.Start(ctx, stage.Options{
		PGURL: c.o.PGURL, Toxiproxy: c.o.Toxiproxy, Command: c.o.Command, Keep: c.o.Keep, Note: c.o.Note,
		Providers: doubles(), Files: profiles{}, Configure: c.certs.configure, Intent: intent, Owners: 4,
		Service: stage.ServiceOptions{Deadline: deadline, HardLimit: 15 * time.Minute, Concurrency: 64, MaxAttempts: 32},
	})
	if err != nil {
		return err
	}
	if c.world, err = c.stage.World(ctx, "console"); err != nil {
		return err
	}
	c.board = newBoard(c.hub)
	c.hands = newHands(c)
	c.dolls = map[string]*provider{}
	for _, p := range doubles() {
		c.dolls[p.Name] = newProvider(c.world.Provider(p.Name), p)
	}
	c.faults = &faults{Console: c}
	c.runs = newRuns(c)
	c.tour = &tour{Console: c}
	return nil
}

// watch keeps the board up to date, and tells of what moved beside it.
func (c *Console) watch() {
	c.work.Go(func() {
		c.world.Rows().Watch(c.ctx, every, target.Watcher{Changed: c.board.changed, Looked: c.board.looked, Lost: c.board.lost})
	})
	c.work.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		calls, fired := 0, 0
		for {
			n := 0
			for _, d := range c.dolls {
				n += d.moved()
			}
			if n != calls {
				calls = n
				c.hub.tell("provider", "")
			}
			if f := c.faults.fired(); f != fired {
				fired = f
				c.hub.tell("fault", "")
			}
			select {
			case <-c.ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// URL is what to open: it carries the token.
func (c *Console) URL() string { return c.Address() + "/?token=" + c.token }

// Address is the URL without the token.
func (c *Console) Address() string { return "http://" + c.addr }

// Describe says in one line what the stage is made of.
func (c *Console) Describe() string { return c.stage.Describe() }

// Farewell says, after Close, what is gone and what was left.
func (c *Console) Farewell() string {
	pg := c.stage.PG()
	switch {
	case !c.o.Keep:
		return "Stopped. The processes, the database and its files are removed."
	case pg.Private():
		return "Stopped. The data of PostgreSQL stay in " + pg.Data() + "."
	}
	return "Stopped. These databases stay at " + pg.Addr() + ": " + strings.Join(pg.Databases(), ", ") + "."
}

// Close ends the runs and the pages, and takes the stage down.
func (c *Console) Close() error {
	c.cancel()
	var failed error
	if c.server != nil {
		failed = errors.Join(failed, c.server.Close())
	}
	if c.runs != nil {
		c.runs.close()
	}
	if c.faults != nil {
		ctx, cancel := context.WithTimeout(context.Background(), toClose)
		failed = errors.Join(failed, c.faults.healAll(ctx))
		cancel()
	}
	c.work.Wait()
	if c.world != nil {
		failed = errors.Join(failed, c.world.Close())
	}
	if c.stage != nil {
		failed = errors.Join(failed, c.stage.Close())
	}
	return failed
}

// ErrNoPort means that nothing could be had on 127.0.0.1 at or after the port.
var ErrNoPort = errors.New("no port is free")

// listen takes the port, or the next one that is free. Port 0 takes any.
func listen(port int) (net.Listener, error) {
	var last error
	for n := port; n < port+tries && n <= 65535; n++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n)))
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, fmt.Errorf("%w from %d on: %w", ErrNoPort, port, last)
}
