package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	stopPostgres()
	// The stand-alone Toxiproxy of these tests runs in this process. Its limit_data
	// stops reading at the cut, and its first stage waits for ever to hand over
	// what still comes. Proxies of the embedded one drain, and leave nothing.
	standAlone := goleak.IgnoreTopFunction("github.com/Shopify/toxiproxy/v2/toxics.(*NoopToxic).Pipe")
	if err := goleak.Find(standAlone); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const toFinish = 30 * time.Second

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), toFinish)
	t.Cleanup(cancel)
	return ctx
}

// lived checks that a fault's life is in the history: armed, fired when it
// should have, healed, in this order.
func lived(t *testing.T, rec *history.Recorder, name string, fired bool) {
	t.Helper()
	all := history.Faults(rec.Events())
	if len(all) != 1 {
		t.Fatalf("%d faults in the history, want 1", len(all))
	}
	f := all[0]
	if f.Armed.Op != name {
		t.Errorf("fault is called %s, want %s", f.Armed.Op, name)
	}
	if (len(f.Fired) == 1) != fired {
		t.Errorf("fired %d times, want fired %v", len(f.Fired), fired)
	}
	if f.Healed.N == 0 {
		t.Error("it was not healed")
	}
	for _, e := range f.Fired {
		var facts history.FaultFacts
		if err := e.Decode(&facts); err != nil || facts.Evidence == "" {
			t.Errorf("it fired without evidence: %v", err)
		}
		if e.N < f.Armed.N || e.N > f.Healed.N {
			t.Error("it fired outside of its life")
		}
	}
}

// provider is a server that counts what it executed.
type provider struct {
	*httptest.Server
	executed atomic.Int64
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		p.executed.Add(1)
		_, _ = io.WriteString(w, strings.Repeat("a", 200))
	}))
	t.Cleanup(p.Close)
	return p
}

func post(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, struct{ io.Reader }{strings.NewReader(strings.Repeat("b", 300))})
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// onWire is every fault on a connection.
var onWire = map[string]struct {
	arm      func(context.Context, fault.Wire) (*fault.OnWire, error)
	executed int64 // by the server, while the fault acts
	harmless bool  // the client gets its answer all the same
	endless  bool  // the client gets none, ever
}{
	"lost-response":  {arm: fault.LostResponse, executed: 1},
	"lost-request":   {arm: fault.LostRequest},
	"reset-response": {arm: fault.ResetResponse, executed: 1},
	"reset-request":  {arm: fault.ResetRequest},
	"black-hole":     {arm: fault.BlackHole, endless: true},
	"cut-response": {executed: 1, arm: func(ctx context.Context, w fault.Wire) (*fault.OnWire, error) {
		return fault.CutResponse(ctx, w, 150)
	}},
	"cut-request": {arm: func(ctx context.Context, w fault.Wire) (*fault.OnWire, error) {
		return fault.CutRequest(ctx, w, 150)
	}},
	"slow-request": {executed: 1, harmless: true, arm: func(ctx context.Context, w fault.Wire) (*fault.OnWire, error) {
		return fault.SlowRequest(ctx, w, 50, time.Millisecond)
	}},
	"slow-response": {executed: 1, harmless: true, arm: func(ctx context.Context, w fault.Wire) (*fault.OnWire, error) {
		return fault.SlowResponse(ctx, w, 50, time.Millisecond)
	}},
}

func TestFaultsOnAWireFireAndHeal(t *testing.T) {
	for name, c := range onWire {
		t.Run(name, func(t *testing.T) {
			p, ctx, rec := newProvider(t), bounded(t), history.New()
			network := edge.Embedded()
			sw, err := edge.NewSwitch("provider", "", p.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer sw.Close()
			f, err := c.arm(ctx, fault.Wire{Network: network, Recorder: rec, Edge: fault.WorkerProvider, Switch: sw})
			if err != nil {
				t.Fatal(err)
			}
			if f.Fired() {
				t.Error("it fired before anybody came")
			}
			call, cancel := context.WithCancel(ctx)
			if c.endless {
				go func() { // it gives up when the request is gone for sure
					_ = f.Await(ctx)
					cancel()
				}()
			}
			if err := post(call, sw.URL()); (err == nil) != c.harmless {
				t.Errorf("the client saw %v", err)
			}
			cancel()
			if err := f.Await(ctx); err != nil {
				t.Error(err)
			}
			if n := p.executed.Load(); n != c.executed {
				t.Errorf("executed %d times, want %d", n, c.executed)
			}
			for range 2 {
				if err := f.Heal(ctx); err != nil {
					t.Error(err)
				}
			}
			if err := post(ctx, sw.URL()); err != nil {
				t.Errorf("after healing: %v", err)
			}
			lived(t, rec, name, true)
		})
	}
}

// TestFaultsFireOnAStandAloneToxiproxy runs the faults that a stock server can
// do, where all that is seen is seen from the client's side.
func TestFaultsFireOnAStandAloneToxiproxy(t *testing.T) {
	api := httptest.NewServer(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()).Routes())
	defer api.Close()
	ctx := bounded(t)
	network, err := edge.Remote(ctx, api.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = network.Close() }()
	for name, c := range onWire {
		t.Run(name, func(t *testing.T) {
			p, rec := newProvider(t), history.New()
			f, err := c.arm(ctx, fault.Wire{Name: "client-balancer", Network: network, Recorder: rec, Edge: fault.ClientAPI, Upstream: p.Listener.Addr().String()})
			if err != nil {
				t.Fatal(err)
			}
			call, cancel := context.WithCancel(ctx)
			if c.endless {
				go func() {
					_ = f.Await(ctx)
					cancel()
				}()
			}
			if err := post(call, f.URL()); (err == nil) != c.harmless {
				t.Errorf("the client saw %v", err)
			}
			cancel()
			if err := f.Await(ctx); err != nil {
				t.Error(err)
			}
			if n := p.executed.Load(); n != c.executed {
				t.Errorf("executed %d times, want %d", n, c.executed)
			}
			if err := f.Heal(ctx); err != nil {
				t.Error(err)
			}
			lived(t, rec, name, true)
		})
	}
}

func TestFaultOnAnUnusedWireDoesNotFire(t *testing.T) {
	for name, c := range onWire {
		p, ctx, rec := newProvider(t), bounded(t), history.New()
		f, err := c.arm(ctx, fault.Wire{Network: edge.Embedded(), Recorder: rec, Edge: fault.ClientAPI, Upstream: p.Listener.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		if conn, err := net.Dial("tcp", f.Addr()); err != nil { // connects and says nothing
			t.Error(err)
		} else {
			_ = conn.Close()
		}
		if err := f.Heal(ctx); err != nil {
			t.Error(err)
		}
		if f.Fired() || f.Evidence() != "" {
			t.Errorf("%s fired: %s", name, f.Evidence())
		}
		lived(t, rec, name, false)
	}
}

func TestStallHoldsUntilRelease(t *testing.T) {
	for name, c := range map[string]struct {
		arm  func(context.Context, fault.Wire) (*fault.Stalled, error)
		held int64
	}{
		"stall-response": {fault.StallResponse, 1},
		"stall-request":  {fault.StallRequest, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, ctx, rec := newProvider(t), bounded(t), history.New()
			f, err := c.arm(ctx, fault.Wire{Network: edge.Embedded(), Recorder: rec, Edge: fault.ClientAPI, Upstream: p.Listener.Addr().String()})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- post(ctx, f.URL()) }()
			if err := f.Await(ctx); err != nil {
				t.Fatal(err)
			}
			<-f.Arrived()
			if n := p.executed.Load(); n != c.held {
				t.Errorf("executed %d times while held, want %d", n, c.held)
			}
			f.Release()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := f.Heal(ctx); err != nil {
				t.Error(err)
			}
			lived(t, rec, name, true)
		})
	}
}

func TestRefusedCountsOnlyWhenSomebodySawIt(t *testing.T) {
	p, ctx := newProvider(t), bounded(t)
	for _, seen := range []bool{false, true} {
		rec := history.New()
		sw, err := edge.NewSwitch("provider", "", p.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		f, err := fault.Refuse(ctx, rec, fault.WorkerProvider, sw)
		if err != nil {
			t.Fatal(err)
		}
		if err := post(ctx, sw.URL()); err == nil {
			t.Error("nobody was refused")
		}
		if seen {
			f.Seen("connection refused")
		}
		if err := f.Heal(ctx); err != nil {
			t.Error(err)
		}
		if err := post(ctx, sw.URL()); err != nil {
			t.Errorf("after healing: %v", err)
		}
		sw.Close()
		lived(t, rec, "connection-refused", seen)
	}
}

func TestClientGone(t *testing.T) {
	ctx, rec := bounded(t), history.New()
	arrived := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	}))
	defer s.Close()
	call, f := fault.ClientGone(ctx, rec, "client-1")
	done := make(chan error, 1)
	go func() { done <- post(call, s.URL) }()
	<-arrived
	f.Leave("the request had arrived")
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the client saw %v", err)
	}
	if err := f.Heal(ctx); err != nil {
		t.Error(err)
	}
	lived(t, rec, "client-gone", true)
}

// postgres is the one server of this package's tests.
var postgres = sync.OnceValues(func() (*pgserver.Server, error) {
	server, err := pgserver.Start(context.Background(), pgserver.Options{})
	if err == nil {
		stopPostgres = func() { _ = server.Close() }
	}
	return server, err
})

var stopPostgres = func() {}

// database has the tables that faults know, reduced to what they need.
func database(t *testing.T) (*pgserver.Server, string) {
	t.Helper()
	s, err := postgres()
	if err != nil {
		t.Fatal(err)
	}
	ctx := bounded(t)
	name, err := s.Create(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	run(t, s.URL(name), `
		CREATE TABLE jobs (id uuid PRIMARY KEY, owner text, key text, fingerprint bytea, fingerprint_algorithm int,
			request bytea, intent json, version int DEFAULT 1, UNIQUE (owner, key));
		CREATE TABLE attempts (id uuid PRIMARY KEY, job_id uuid REFERENCES jobs, state text);
		INSERT INTO jobs (id, owner, key) VALUES ('`+job+`', 'o', 'k');
		INSERT INTO attempts VALUES ('`+attempt+`', '`+job+`', 'running')`)
	return s, s.URL(name)
}

const (
	job     = "01900000-0000-7000-8000-000000000001"
	attempt = "01900000-0000-7000-8000-000000000002"
)

func run(t *testing.T, url, statement string) {
	t.Helper()
	if err := try(bounded(t), url, statement); err != nil {
		t.Fatal(err)
	}
}

func try(ctx context.Context, url, statement string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
