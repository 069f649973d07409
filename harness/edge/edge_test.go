package edge_test

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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/harness/edge"
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

const toFinish = 20 * time.Second

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), toFinish)
	t.Cleanup(cancel)
	return ctx
}

// server counts the requests that it executed and answers each at length.
type server struct {
	*httptest.Server
	executed atomic.Int64
}

func (s *server) addr() string { return s.Listener.Addr().String() }

func newServer(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		s.executed.Add(1)
		_, _ = io.WriteString(w, strings.Repeat("a", 200))
	}))
	t.Cleanup(s.Close)
	return s
}

// post sends one request on a connection of its own.
func post(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, struct{ io.Reader }{strings.NewReader("body")})
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// networks are both kinds: inside the process, and a stand-alone server.
func networks(t *testing.T) map[string]*edge.Network {
	t.Helper()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	alone := httptest.NewServer(api.Routes())
	t.Cleanup(alone.Close)
	remote, err := edge.Remote(bounded(t), alone.URL)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*edge.Network{"embedded": edge.Embedded(), "stand-alone": remote}
	for _, n := range all {
		t.Cleanup(func() {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return all
}

func TestToxicsLoseExactlyWhatTheySay(t *testing.T) {
	for kind, network := range networks(t) {
		for _, c := range []struct {
			name     string
			toxic    []edge.Toxic
			executed int64
			err      error
			proof    func(edge.Count) bool
		}{
			{"nothing", nil, 1, nil, func(c edge.Count) bool { return c.InUp == c.OutUp && c.InDown == c.OutDown && c.OutDown > 200 }},
			{"the response", []edge.Toxic{edge.Cut(edge.Down, 0)}, 1, io.EOF, func(c edge.Count) bool { return c.OutDown == 0 && c.OutUp > 0 }},
			{"the request", []edge.Toxic{edge.Cut(edge.Up, 0)}, 0, io.EOF, func(c edge.Count) bool { return c.OutUp == 0 && c.InUp > 0 }},
			{"half the response", []edge.Toxic{edge.Cut(edge.Down, 150)}, 1, io.ErrUnexpectedEOF, func(c edge.Count) bool { return c.OutDown == 150 }},
			{"the response by reset", []edge.Toxic{edge.Reset(edge.Down)}, 1, syscall.ECONNRESET, func(c edge.Count) bool { return c.OutDown == 0 && c.OutUp > 0 }},
			{"the request by reset", []edge.Toxic{edge.Reset(edge.Up)}, 0, syscall.ECONNRESET, func(c edge.Count) bool { return c.OutUp == 0 && c.InUp > 0 }},
		} {
			t.Run(kind+"/"+c.name, func(t *testing.T) {
				s, ctx := newServer(t), bounded(t)
				p, err := network.Open(ctx, "client-1", s.addr(), c.toxic...)
				if err != nil {
					t.Fatal(err)
				}
				_, err = post(ctx, p.URL())
				// A client that was still writing may have another word for it.
				if c.executed == 1 && !errors.Is(err, c.err) || err == nil && c.err != nil {
					t.Errorf("client saw %v, want %v", err, c.err)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				if got := s.executed.Load(); got != c.executed {
					t.Errorf("executed %d times, want %d", got, c.executed)
				}
				if count := p.Meter().Count(); !c.proof(count) {
					t.Errorf("counted %s", count)
				}
				if _, err := post(ctx, p.URL()); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("a dropped proxy answers: %v", err)
				}
			})
		}
	}
}

func TestGateHoldsTheResponseWithoutLoss(t *testing.T) {
	s, ctx := newServer(t), bounded(t)
	network := edge.Embedded()
	gate := edge.NewGate("g")
	p, err := network.Open(ctx, "client-1", s.addr(), gate.Hold(edge.Down))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = network.Close() }()
	type outcome struct {
		body string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		body, err := post(ctx, p.URL())
		done <- outcome{body, err}
	}()
	if err := gate.Await(ctx); err != nil {
		t.Fatal(err)
	}
	if s.executed.Load() != 1 {
		t.Error("the request did not get through")
	}
	select {
	case o := <-done:
		t.Fatalf("the client has an answer while it is held: %v", o)
	default:
	}
	gate.Release()
	if o := <-done; o.err != nil || len(o.body) != 200 {
		t.Errorf("after release: %d bytes, %v", len(o.body), o.err)
	}
}

func TestClosingAProxyEndsWhatItHolds(t *testing.T) {
	s, ctx := newServer(t), bounded(t)
	network := edge.Embedded()
	gate := edge.NewGate("g")
	p, err := network.Open(ctx, "client-1", s.addr(), gate.Hold(edge.Up))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := post(ctx, p.URL())
		done <- err
	}()
	if err := gate.Await(ctx); err != nil {
		t.Fatal(err)
	}
	if err := network.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the held client got an answer")
	}
	if s.executed.Load() != 0 {
		t.Error("the held request got through")
	}
}

func TestRemoteRefusesToxicsOfOursAndAWrongAddress(t *testing.T) {
	network := networks(t)["stand-alone"]
	if _, err := network.Open(bounded(t), "x", "127.0.0.1:1", edge.NewGate("g").Hold(edge.Up)); !errors.Is(err, edge.ErrNotHere) {
		t.Errorf("error is %v", err)
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	if _, err := edge.Remote(bounded(t), nobody.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error is %v", err)
	}
}

func TestSwitchTurnsRefusesAndComesBack(t *testing.T) {
	home, other, ctx := newServer(t), newServer(t), bounded(t)
	s, err := edge.NewSwitch("openai-demo", "", home.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hit := func(want error) {
		t.Helper()
		if _, err := post(ctx, s.URL()); !errors.Is(err, want) {
			t.Errorf("client saw %v, want %v", err, want)
		}
	}
	hit(nil)
	s.Turn(other.addr())
	hit(nil)
	if err := s.Refuse(); err != nil {
		t.Fatal(err)
	}
	hit(syscall.ECONNREFUSED)
	if err := s.Accept(); err != nil {
		t.Fatal(err)
	}
	s.Back()
	hit(nil)
	if home.executed.Load() != 2 || other.executed.Load() != 1 {
		t.Errorf("home executed %d, other %d, want 2 and 1", home.executed.Load(), other.executed.Load())
	}
}

func TestBalancerDeliversOnceInTurn(t *testing.T) {
	one, two, ctx := newServer(t), newServer(t), bounded(t)
	b, err := edge.NewBalancer(edge.Backend{Name: "api-1", URL: one.URL}, edge.Backend{Name: "api-2", URL: two.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	for range 4 {
		if _, err := post(ctx, b.URL()); err != nil {
			t.Fatal(err)
		}
	}
	if one.executed.Load() != 2 || two.executed.Load() != 2 {
		t.Errorf("executed %d and %d times, want 2 and 2", one.executed.Load(), two.executed.Load())
	}
	one.CloseClientConnections()
	one.Listener.Close()
	for range 2 { // the dead one got nothing, so the other may be asked
		if _, err := post(ctx, b.URL()); err != nil {
			t.Errorf("with one replica down: %v", err)
		}
	}
	if two.executed.Load() != 4 || b.Served("api-2") != 4 {
		t.Errorf("executed %d times, served %d, want 4", two.executed.Load(), b.Served("api-2"))
	}
}

func TestBalancerMisdeliversOnOrder(t *testing.T) {
	for _, how := range []edge.Delivery{edge.Both, edge.AfterLoss} {
		t.Run(string(how), func(t *testing.T) {
			one, two, ctx := newServer(t), newServer(t), bounded(t)
			b, err := edge.NewBalancer(edge.Backend{Name: "api-1", URL: one.URL}, edge.Backend{Name: "api-2", URL: two.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = b.Close() }()
			b.Misdeliver("k-1", how)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL(), strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Idempotency-Key", "k-1")
			resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if one.executed.Load() != 1 || two.executed.Load() != 1 || b.Delivered("k-1") != 2 {
				t.Errorf("executed %d and %d times, delivered %d, want once each", one.executed.Load(), two.executed.Load(), b.Delivered("k-1"))
			}
		})
	}
}
