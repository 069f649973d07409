package call_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// toAnswer bounds every call of these tests that is not about waiting.
const toAnswer = 5 * time.Second

// peer is a provider that reads one request and then does what play says.
type peer struct {
	url   string
	calls atomic.Int64
}

func listen(t *testing.T, play func(conn net.Conn, request *http.Request)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{url: "http://" + l.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request, err := http.ReadRequest(bufio.NewReader(conn))
			if err == nil {
				_, _ = io.Copy(io.Discard, request.Body)
				p.calls.Add(1)
				play(conn, request)
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return p
}

// says answers with these bytes and closes.
func says(answer string) func(net.Conn, *http.Request) {
	return func(conn net.Conn, _ *http.Request) { _, _ = io.WriteString(conn, answer) }
}

// resets answers with these bytes and resets the connection.
func resets(answer string) func(net.Conn, *http.Request) {
	return func(conn net.Conn, _ *http.Request) {
		_, _ = io.WriteString(conn, answer)
		_ = conn.(*net.TCPConn).SetLinger(0)
	}
}

func profile(url string) providers.Profile {
	return providers.Profile{Name: "p", Protocol: providers.OpenAIChat, BaseURL: url, Model: "m", AllowLoopback: true}
}

func do(t *testing.T, p providers.Profile, wait time.Duration) providers.Transcript {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	got, err := call.Do(ctx, p, "", providers.Request{Model: "m", User: "hello", Mode: providers.ModeJSONSchema}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const ok = "HTTP/1.1 200 OK\r\n"

func zipped(n int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(make([]byte, n))
	_ = w.Close()
	return b.String()
}

func TestDoKeepsWhatCameBackAndHowItEnded(t *testing.T) {
	whole := zipped(64 << 10)
	framed := func(encoding, body string) string {
		return ok + fmt.Sprintf("Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", encoding, len(body), body)
	}
	for _, c := range []struct {
		name   string
		play   func(net.Conn, *http.Request)
		status int
		end    providers.End
		body   int // length
		limit  string
	}{
		{"a whole body", says(ok + "Content-Length: 2\r\n\r\n{}"), 200, providers.EndEOF, 2, ""},
		{"a body that the close ends", says(ok + "\r\n{}"), 200, providers.EndEOF, 2, ""},
		{"a short body", says(ok + "Content-Length: 9\r\n\r\n{}"), 200, providers.EndUnterminated, 2, ""},
		{"chunks without the last one", says(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"), 200, providers.EndUnterminated, 2, ""},
		{"a redirect is not followed", says("HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"), 307, providers.EndEOF, 0, ""},
		{"an odd status", says("HTTP/1.1 529 X\r\nContent-Length: 0\r\n\r\n"), 529, providers.EndEOF, 0, ""},
		{"five interim answers", says(strings.Repeat("HTTP/1.1 103 X\r\n\r\n", 5) + ok + "Content-Length: 0\r\n\r\n"), 200, providers.EndEOF, 0, ""},
		{"gzip unasked", says(framed("gzip", whole)), 200, providers.EndEOF, 64 << 10, ""},
		{"a bomb", says(framed("gzip", zipped(64<<20))), 200, providers.EndEOF, -1, "oversize"},
		{"a ratio over 100 to 1", says(framed("gzip", zipped(4<<20))), 200, providers.EndEOF, -1, "oversize"},
		{"plain bytes called gzip", says(framed("gzip", `{"a":1}`)), 200, providers.EndEOF, 0, "encoding"},
		{"half of a gzip stream, said to be all", says(framed("gzip", whole[:len(whole)/2])), 200, providers.EndEOF, -1, "encoding"},
		{"gzip that is cut", says(framed("gzip", whole)[:len(framed("gzip", whole))-40]), 200, providers.EndUnterminated, -1, ""},
		{"an encoding that nobody asked for", says(framed("br", "x")), 200, providers.EndEOF, 0, "encoding"},
		{"two encodings", says(framed("gzip, gzip", whole)), 200, providers.EndEOF, 0, "encoding"},
		{"an event that does not end", says(ok + "Content-Type: text/event-stream\r\n\r\ndata: " + strings.Repeat("x", 3<<20)), 200, providers.EndEOF, -1, "oversize"},
		{"more than 8 MiB", says(ok + "\r\n" + strings.Repeat("x", 9<<20)), 200, providers.EndEOF, -1, "oversize"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := listen(t, c.play)
			got := do(t, profile(p.url), toAnswer)
			if got.Reach != providers.ReachSent || got.Status != c.status || got.End != c.end || got.Limit != c.limit {
				t.Errorf("reach %s, status %d, end %s, limit %q (%v); want sent, %d, %s, %q", got.Reach, got.Status, got.End, got.Limit, got.Err, c.status, c.end, c.limit)
			}
			if c.body >= 0 && len(got.Body) != c.body || len(got.Body) > 9<<20 {
				t.Errorf("kept %d bytes, want %d", len(got.Body), c.body)
			}
			if p.calls.Load() != 1 {
				t.Errorf("%d requests arrived, want 1", p.calls.Load())
			}
		})
	}
}

func TestDoSaysSentWhenTheRequestMayHaveArrived(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(net.Conn, *http.Request)
	}{
		{"closed without an answer", says("")},
		{"reset without an answer", resets("")},
		{"half a status line", says("HTTP/1.1 20")},
		{"a status line that is none", says("HTTP/1.1 2OO OK\r\n\r\n")},
		{"two lengths", says(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")},
		{"3 MB of headers", says(ok + "X: " + strings.Repeat("a", 3<<20) + "\r\n\r\n")},
		{"six interim answers", says(strings.Repeat("HTTP/1.1 103 X\r\n\r\n", 6) + ok + "Content-Length: 0\r\n\r\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := listen(t, c.play)
			got := do(t, profile(p.url), toAnswer)
			if got.Reach != providers.ReachSent || got.Status != 0 || got.End != providers.EndNone || got.Err == nil {
				t.Errorf("reach %s, status %d, end %s, error %v; want sent, 0, none and an error", got.Reach, got.Status, got.End, got.Err)
			}
			if p.calls.Load() != 1 {
				t.Errorf("%d requests arrived, want 1", p.calls.Load())
			}
		})
	}
}

func TestDoSaysStallOrResetWhenABodyBreaksOff(t *testing.T) {
	arrived := make(chan struct{})
	silent := listen(t, func(conn net.Conn, _ *http.Request) {
		_, _ = io.WriteString(conn, ok+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
		close(arrived)
		_, _ = conn.Read(make([]byte, 1)) // until the client gives up
	})
	ctx, cancel := context.WithTimeout(context.Background(), toAnswer)
	defer cancel()
	stalled := make(chan providers.Transcript, 1)
	go func() {
		got, _ := call.Do(ctx, profile(silent.url), "", providers.Request{Model: "m"}, nil)
		stalled <- got
	}()
	<-arrived
	cancel()
	if got := <-stalled; got.Reach != providers.ReachSent || got.Status != 0 && got.End != providers.EndStall {
		t.Errorf("reach %s, status %d, end %s; want a stall", got.Reach, got.Status, got.End)
	}

	broken := listen(t, resets(ok+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"))
	if got := do(t, profile(broken.url), toAnswer); got.Status == 200 && got.End != providers.EndReset || got.Reach != providers.ReachSent {
		t.Errorf("reach %s, status %d, end %s; want a reset", got.Reach, got.Status, got.End)
	}
}

func TestDoSaysNotSentWhenNothingCanHaveLeft(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + closed.Addr().String()
	_ = closed.Close()

	selfSigned := httptest.NewTLSServer(http.NotFoundHandler())
	defer selfSigned.Close()
	selfSigned.Config.ErrorLog = log.New(io.Discard, "", 0)
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS10} //nolint:gosec // the point of this row
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.StartTLS()
	defer old.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mute.Close() }()

	for _, c := range []struct {
		name, url string
		wait      time.Duration
	}{
		{"refused", refused, toAnswer},
		{"no such name", "http://name.invalid", toAnswer},
		{"a certificate that nobody signed", selfSigned.URL, toAnswer},
		{"TLS 1.0", old.URL, toAnswer},
		{"a handshake that stalls", "https://" + mute.Addr().String(), 200 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := do(t, profile(c.url), c.wait)
			if got.Reach != providers.ReachNotSent || got.Err == nil {
				t.Errorf("reach %s (%v), want not sent", got.Reach, got.Err)
			}
		})
	}
}

func TestDoDialsNoForbiddenAddressInAnySpelling(t *testing.T) {
	for _, c := range []struct {
		host     string
		loopback bool // the profile allows it
	}{
		{"127.0.0.1", false}, {"localhost", false}, {"[::1]", false}, {"0.0.0.0", false}, {"[::ffff:127.0.0.1]", false},
		{"10.0.0.1", false}, {"192.168.1.1", false}, {"172.16.0.1", false}, {"100.64.0.1", false}, {"[fd00::1]", false},
		{"[64:ff9b::7f00:1]", false}, {"[2002:7f00:1::]", false}, {"[::7f00:1]", false},
		{"169.254.169.254", true}, {"[::ffff:169.254.169.254]", true}, {"[fe80::1]", true}, {"[64:ff9b::a9fe:a9fe]", true},
		{"[2002:a9fe:a9fe::]", true}, {"100.100.100.200", true}, {"[fd00:ec2::254]", true}, {"[::a9fe:a9fe]", true},
	} {
		t.Run(c.host, func(t *testing.T) {
			p := profile("http://" + c.host + ":9")
			p.AllowLoopback = c.loopback
			got := do(t, p, toAnswer)
			if _, forbidden := errors.AsType[*call.ForbiddenAddressError](got.Err); !forbidden || got.Reach != providers.ReachNotSent {
				t.Errorf("reach %s, error %v; want a forbidden address", got.Reach, got.Err)
			}
		})
	}
}

func TestDoKeepsNoKeyThatTheAnswerRepeats(t *testing.T) {
	const key = "sk-canary-0123456789+/"
	p := listen(t, func(conn net.Conn, r *http.Request) {
		body := fmt.Sprintf(`{"error":{"message":"bad key %s","b64":"%s","url":"%s","inner":["%s","%s"],"escaped":"%s"}}`, r.Header.Get("X-Api-Key"),
			base64.StdEncoding.EncodeToString([]byte(key)), url.QueryEscape(key),
			base64.StdEncoding.EncodeToString([]byte("Bearer "+key+" etc")), base64.URLEncoding.EncodeToString([]byte("ab"+key)),
			strings.ReplaceAll(key, "/", `\/`))
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 401 X\r\nX-Echo: <%s>\r\nSet-Cookie: a=b\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body)
	})
	route := profile(p.url)
	route.Auth = providers.Auth{Header: "X-Api-Key", Env: "KEY"}
	got, err := call.Do(context.Background(), route, key, providers.Request{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := fmt.Sprint(got.Header) + string(got.Body)
	for _, b64 := range []string{"c2stY2FuYXJ5", "cmVyIHNrLWNhbmFy", "YWJzay1jYW5hcnk"} { // its beginning, at each of three places
		if strings.Contains(whole, b64[4:]) {
			t.Errorf("kept %s of base64: %s", b64[4:], whole)
		}
	}
	if strings.Contains(whole, "canary") || strings.Contains(whole, "c2stY2FuYXJ5") || strings.Contains(whole, "a=b") {
		t.Errorf("kept %s", whole)
	}
	if !got.Leaked || got.Header.Get("X-Echo") != "<"+strings.Repeat("*", len(key))+">" || got.Request.Model != "m" {
		t.Errorf("leaked %v, echo %q, model %q", got.Leaked, got.Header.Get("X-Echo"), got.Request.Model)
	}
}

func TestDoSendsTheKeyAndTheIdentityOnceAndNoProxyMeddles(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	seen := make(chan http.Header, 1)
	p := listen(t, func(conn net.Conn, r *http.Request) {
		seen <- r.Header
		_, _ = io.WriteString(conn, ok+"Content-Length: 0\r\n\r\n")
	})
	route := profile(p.url)
	route.Auth = providers.Auth{Header: "Authorization", Scheme: "Bearer", Env: "KEY"}
	route.IdempotencyHeader = "X-Client-Token"
	request := providers.Request{Model: "m"}
	if _, err := call.Do(context.Background(), route, "", request, nil); err == nil || !strings.Contains(err.Error(), "set KEY") {
		t.Errorf("without a key: %v", err)
	}
	if _, err := call.Do(context.Background(), route, "s", request, http.Header{"idempotency-key": {"a"}}); err == nil {
		t.Error("Idempotency-Key towards a provider was taken")
	}
	if _, err := call.Do(context.Background(), route, "s", request, http.Header{"X-Job-Id": {"j"}, "X-Attempt-Id": {"a"}}); err != nil {
		t.Fatal(err)
	}
	got := <-seen
	if got.Get("Authorization") != "Bearer s" || got.Get("X-Job-Id") != "j" || got.Get("X-Attempt-Id") != "a" || got.Get("X-Client-Token") != "a" || got.Get("Accept-Encoding") != "identity" {
		t.Errorf("headers %v", got)
	}
	if p.calls.Load() != 1 {
		t.Errorf("%d requests arrived, want 1", p.calls.Load())
	}
}
