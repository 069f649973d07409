package service_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/loopback"
)

// balancer is one that the documentation has a configuration for.
type balancer struct {
	name, config string
	command      func(dir, config string) []string
	change       func(config, dir string) string // for a test without its system folders
}

var balancers = []balancer{
	{"nginx", "../docs/balancer/nginx.conf",
		func(dir, config string) []string {
			return []string{"nginx", "-p", dir, "-c", config, "-e", "stderr", "-g", "daemon off; pid nginx.pid;"}
		},
		func(config, dir string) string {
			places := "access_log off;"
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				places += fmt.Sprintf(" %s_temp_path %s/%s;", kind, dir, kind)
			}
			return strings.Replace(config, "http {", "http { "+places, 1)
		}},
	{"haproxy", "../docs/balancer/haproxy.cfg",
		func(_, config string) []string { return []string{"haproxy", "-db", "-f", config} },
		func(config, _ string) string { return config }},
}

// find looks for a program also where Debian puts those of the administrator.
func find(name string) string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if path := filepath.Join(dir, name); exec.Command(path, "-v").Run() == nil {
			return path
		}
	}
	return ""
}

// start runs the documented configuration with two replicas at those addresses,
// after edit, and returns where it listens.
func (b balancer) start(t *testing.T, replicas [2]string, edit func(string) string) string {
	t.Helper()
	program := find(b.name)
	if program == "" {
		t.Skipf("%s is not installed (Debian package %s): its configuration is not tested", b.name, b.name)
	}
	text, err := os.ReadFile(b.config)
	if err != nil {
		t.Fatal(err)
	}
	port, err := loopback.Port()
	if err != nil {
		t.Fatal(err)
	}
	dir, addr := t.TempDir(), fmt.Sprintf("127.0.0.1:%d", port)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	config := b.change(string(text), dir)
	for from, to := range map[string]string{"10.0.0.11:8080": replicas[0], "10.0.0.12:8080": replicas[1], "0.0.0.0:80": addr} {
		if !strings.Contains(config, from+"\n") && !strings.Contains(config, from+";") && !strings.Contains(config, from+" ") {
			t.Fatalf("%s does not name %s", b.config, from)
		}
		for _, end := range []string{"\n", ";", " "} {
			config = strings.ReplaceAll(config, from+end, to+end)
		}
	}
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(edit(config)), 0o644); err != nil {
		t.Fatal(err)
	}
	args := b.command(dir, file)
	cmd := exec.Command(program, args[1:]...)
	var said buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); <-ended })
	for begun := time.Now(); time.Since(begun) < toCome; time.Sleep(10 * time.Millisecond) {
		response, err := http.Get("http://" + addr + "/livez")
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == 200 {
				return addr
			}
		}
		select {
		case <-ended:
			t.Fatalf("%s ends: %s", b.name, said.String())
		default:
		}
	}
	t.Fatalf("%s does not come up: %s", b.name, said.String())
	return ""
}

// lossy stands before a replica and drops the answers of submits, after the
// replica has given them, for as long as there are cuts left.
type lossy struct {
	addr    string
	submits atomic.Int64
	cuts    *atomic.Int64 // left; shared by all replicas
	cut     atomic.Int64
}

func newLossy(t *testing.T, target string, cuts *atomic.Int64) *lossy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{addr: ln.Addr().String(), cuts: cuts}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			open.Go(func() { l.pass(conn, target) })
		}
	})
	t.Cleanup(func() { _ = ln.Close(); open.Wait() })
	return l
}

func (l *lossy) pass(client net.Conn, target string) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	in := bufio.NewReader(client)
	first, _ := in.Peek(len("POST /v1/jobs "))
	submits := bytes.Equal(first, []byte("POST /v1/jobs "))
	if submits {
		l.submits.Add(1)
	}
	go func() { _, _ = io.Copy(server, in); _ = server.(*net.TCPConn).CloseWrite() }()
	answer := make([]byte, 1)
	if _, err := io.ReadFull(server, answer); err != nil {
		return
	}
	if submits && l.cuts.Add(-1) >= 0 {
		l.cut.Add(1)
		return // the job is stored, and nobody hears of it
	}
	_, _ = client.Write(answer)
	_, _ = io.Copy(client, server)
}

// TestPOSTIsSentAgainByTheBalancer runs the documented configurations with two
// replicas whose answers are lost: the balancer sends the POST to the other one.
func TestPOSTIsSentAgainByTheBalancer(t *testing.T) {
	for _, b := range balancers {
		t.Run(b.name, func(t *testing.T) {
			s, one, two, cuts := replicated(t)
			addr := b.start(t, [2]string{one.addr, two.addr}, func(config string) string { return config })
			c := &child{t: t, URL: "http://" + addr, stderr: &buffer{}}

			cuts.Store(1)
			status, header, body := c.ask("POST", "/v1/jobs", ownerKey, intent("sent twice"), "Idempotency-Key", "k-0", "Prefer", "wait=20")
			if status != 200 || header.Get("Idempotency-Replayed") != "true" || field(t, body, "status") != "succeeded" {
				t.Errorf("%d %v %s", status, header, body)
			}
			if one.submits.Load() != 1 || two.submits.Load() != 1 || one.cut.Load()+two.cut.Load() != 1 {
				t.Errorf("the replicas got %d and %d submits, %d answers were cut", one.submits.Load(), two.submits.Load(), one.cut.Load()+two.cut.Load())
			}

			const clicks, keys = 32, 4
			cuts.Store(clicks / 4)
			var clicking sync.WaitGroup
			for i := range clicks {
				clicking.Go(func() {
					key := fmt.Sprint("k-", 1+i%keys)
					status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent(key), "Idempotency-Key", key)
					if status/100 != 2 && status < 500 { // two answers of one click may be lost
						t.Errorf("%d %s", status, body)
					}
				})
			}
			clicking.Wait()
			s.settled(t, keys+1)
			for attempt, n := range s.provider.PerAttempt() {
				if n != 1 {
					t.Errorf("attempt %s made %d requests", attempt, n)
				}
			}
			if n := len(s.provider.Ledger()); n != keys+1 {
				t.Errorf("the provider got %d requests for %d jobs", n, keys+1)
			}
		})
	}
}

func TestBalancerPassesOnWhatTheContractNeeds(t *testing.T) { // A08, A44
	for _, b := range balancers {
		t.Run(b.name, func(t *testing.T) {
			s, one, two, _ := replicated(t)
			addr := b.start(t, [2]string{one.addr, two.addr}, func(config string) string { return config })
			c := &child{t: t, URL: "http://" + addr, stderr: &buffer{}}
			status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("a"), "Idempotency-Key", `"a, b"`, "Prefer", "wait=20")
			if status != 200 || field(t, body, "key") != "a, b" {
				t.Fatalf("%d %s", status, body)
			}
			id := field(t, body, "id")

			request, err := http.NewRequestWithContext(t.Context(), "GET", c.URL+"/v1/jobs/"+id+"/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+ownerKey)
			request.Header.Set("Accept", "text/event-stream")
			stream, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stream.Body).ReadString('\n') // comes although the stream goes on
			_ = stream.Body.Close()
			if err != nil || stream.StatusCode != 200 || line == "" {
				t.Errorf("the event stream: %d %q, %v", stream.StatusCode, line, err)
			}
			for path, want := range map[string]int{"//v1/jobs": 404, "/v1/./jobs": 404, "/v1/jobs/%2e%2e%2fadmin": 400, "/v1/jobs/a%2Fb": 400} {
				if got := rawStatus(t, addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+ownerKey+"\r\nConnection: close\r\n\r\n"); got != want {
					t.Errorf("GET %s is answered %d, want %d", path, got, want)
				}
			}

			before := one.submits.Load() + two.submits.Load()
			head := "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + ownerKey + "\r\nContent-Type: application/json\r\n"
			text := intent("framed twice")
			for name, raw := range map[string]string{
				"length and chunks": head + "Idempotency-Key: doubt\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" +
					fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text), text),
				"two lengths":      head + "Idempotency-Key: doubt\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" + text,
				"key in a trailer": head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\nIdempotency-Key: t\r\n\r\n", len(text), text),
				"key by Connection": head + "Idempotency-Key: dropped\r\nConnection: Idempotency-Key, close\r\n" +
					fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text),
			} {
				seen := one.submits.Load() + two.submits.Load()
				got := rawStatus(t, addr, raw)
				if n := one.submits.Load() + two.submits.Load() - seen; n > 1 {
					t.Errorf("%s: %d requests reach the replicas", name, n)
				}
				if got/100 != 2 && got != 400 {
					t.Errorf("%s is answered %d", name, got)
				}
			}
			if n := one.submits.Load() + two.submits.Load() - before; n > 4 {
				t.Errorf("%d requests for four", n)
			}
			if n := s.count(t, "SELECT count(*) FROM jobs WHERE key NOT IN ('a, b', 'doubt', 'dropped')"); n != 0 {
				t.Errorf("%d jobs without their key", n)
			}
		})
	}
}

// TestWithoutReplayTheClientSendsAgain is the other setting of nginx: the answer
// is lost, the client hears of it, and its own retry finds the job.
func TestWithoutReplayTheClientSendsAgain(t *testing.T) {
	s, one, two, cuts := replicated(t)
	addr := balancers[0].start(t, [2]string{one.addr, two.addr}, func(config string) string {
		return strings.Replace(config, "error timeout non_idempotent", "error timeout", 1)
	})
	c := &child{t: t, URL: "http://" + addr, stderr: &buffer{}}
	cuts.Store(1)
	if status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("x"), "Idempotency-Key", "k"); status != 502 {
		t.Errorf("%d %s", status, body)
	}
	status, header, body := c.ask("POST", "/v1/jobs", ownerKey, intent("x"), "Idempotency-Key", "k", "Prefer", "wait=20")
	if status != 200 || header.Get("Idempotency-Replayed") != "true" || field(t, body, "status") != "succeeded" {
		t.Errorf("%d %v %s", status, header, body)
	}
	s.settled(t, 1)
	if n := len(s.provider.Ledger()); n != 1 {
		t.Errorf("the provider got %d requests", n)
	}
}

// replicated starts two replicas that share a database, each behind a proxy that
// may lose answers.
func replicated(t *testing.T) (s *setting, one, two *lossy, cuts *atomic.Int64) {
	t.Helper()
	s, cuts = newSetting(t), &atomic.Int64{}
	one = newLossy(t, strings.TrimPrefix(s.start(t).URL, "http://"), cuts)
	two = newLossy(t, strings.TrimPrefix(s.start(t).URL, "http://"), cuts)
	return s, one, two, cuts
}

// settled waits until there are so many jobs, each succeeded by its one attempt,
// and no more.
func (s *setting) settled(t *testing.T, jobs int) {
	t.Helper()
	var ended, all, attempts int
	for begun := time.Now(); time.Since(begun) < toCome; time.Sleep(20 * time.Millisecond) {
		ended = s.count(t, "SELECT count(*) FROM jobs WHERE completed_by IS NOT NULL")
		all, attempts = s.count(t, "SELECT count(*) FROM jobs"), s.count(t, "SELECT count(*) FROM attempts")
		if ended == all {
			break
		}
	}
	if ended != jobs || all != jobs || attempts != jobs {
		t.Errorf("%d jobs of %d have their result, with %d attempts; want %d of each", ended, all, attempts, jobs)
	}
}

func (s *setting) count(t *testing.T, query string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// rawStatus sends bytes and returns the status of the first answer, 0 for none.
func rawStatus(t *testing.T, addr, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(toCome))
	if _, err := io.WriteString(conn, request); err != nil {
		return 0
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}
