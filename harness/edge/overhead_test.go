package edge_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/edge"
)

// BenchmarkProxiedRequest says what a proxy without a fault adds to one request and
// its answer on a connection that is kept. Bare, through the smallest relay that
// there can be (io.Copy in both directions: the floor) and through ours are taken by
// turns, so that all see the same machine. All figures are medians.
func BenchmarkProxiedRequest(b *testing.B) {
	b.Run("http through toxiproxy", func(b *testing.B) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"status":"open"}`)
		}))
		b.Cleanup(server.Close)
		network := edge.Embedded()
		b.Cleanup(func() { _ = network.Close() })
		addr := server.Listener.Addr().String()
		proxy, err := network.Open(context.Background(), "overhead", addr)
		if err != nil {
			b.Fatal(err)
		}
		turns(b, get(b, addr), get(b, floor(b, addr)), get(b, proxy.Addr()))
	})
	b.Run("postgres through the relay", func(b *testing.B) {
		server, err := postgres()
		if err != nil {
			b.Skip(err)
		}
		relay, err := edge.NewPostgres(server.Addr())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = relay.Close() })
		through := func(addr string) func() error {
			return query(b, strings.Replace(server.URL("postgres"), server.Addr(), addr, 1))
		}
		turns(b, through(server.Addr()), through(floor(b, server.Addr())), through(relay.Addr()))
	})
}

// turns measures the three ways by turns and reports their medians.
func turns(b *testing.B, ways ...func() error) {
	names := []string{"bare", "floor", "proxied"}
	took := make([][]time.Duration, len(ways))
	first := 0
	for b.Loop() {
		for i := range ways {
			way := (first + i) % len(ways) // none is always the one after a pause
			begin := time.Now()
			if err := ways[way](); err != nil {
				b.Fatal(err)
			}
			took[way] = append(took[way], time.Since(begin))
		}
		first++
	}
	median := make([]float64, len(ways))
	for i := range ways {
		slices.Sort(took[i])
		median[i] = float64(took[i][len(took[i])/2].Nanoseconds()) / 1000
		b.ReportMetric(median[i], "us-median-"+names[i])
	}
	b.ReportMetric(median[1]-median[0], "us-added-floor")
	b.ReportMetric(median[2]-median[0], "us-added-proxied")
	b.ReportMetric(median[2]-median[1], "us-added-to-floor")
	b.ReportMetric(0, "ns/op") // of three requests at once: says nothing
}

// get asks addr on a connection that it keeps.
func get(b *testing.B, addr string) func() error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	b.Cleanup(client.CloseIdleConnections)
	return func() error {
		resp, err := client.Get("http://" + addr)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return firstOf(err, resp.Body.Close())
	}
}

// query asks a database on a connection that it keeps.
func query(b *testing.B, url string) func() error {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return func() error {
		var n int
		return conn.QueryRow(context.Background(), "SELECT 1").Scan(&n)
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// floor is a relay of one connection that does nothing but pass on.
func floor(b *testing.B, upstream string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	b.Cleanup(func() { _ = listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", upstream)
			if err != nil {
				_ = client.Close()
				return
			}
			pass := func(to, from net.Conn) {
				// Not by splice(2): a proxy that looks at the bytes cannot have it.
				_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
				_, _ = to.Close(), from.Close()
			}
			go pass(server, client)
			go pass(client, server)
		}
	}()
	return listener.Addr().String()
}
