package service_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestDrippedHeadersHarmNobody holds 10,000 connections whose headers come a byte
// a second and never end. The service closes each of them while it still drips,
// answers everybody else meanwhile, and stays small. On a machine of its own
// INTERLOCK_QUIET=1 adds the figures: closed within 6 s, and a p99 of the others
// that is at most 20 % above that of before. (A33)
func TestDrippedHeadersHarmNobody(t *testing.T) {
	const slow, spare = 10_000, 500
	allowOpenFiles(t, slow+spare)
	s := newSetting(t)
	c := s.start(t)
	status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("a33"), "Idempotency-Key", "a33")
	if status != 201 {
		t.Fatal(status, body)
	}
	// The others come on a connection each, as strangers do.
	others := func() (p99 time.Duration) {
		times := make([]time.Duration, 200)
		for i := range times {
			begun := time.Now()
			if status, _, body := c.ask("GET", "/v1/jobs/"+field(t, body, "id"), ownerKey, ""); status != 200 {
				t.Fatalf("another client gets %d %s", status, body)
			}
			times[i] = time.Since(begun)
		}
		slices.Sort(times)
		return times[len(times)*99/100]
	}
	alone, small := others(), resident(t, c.cmd.Process.Pid)

	const text = "GET /v1/jobs HTTP/1.1\r\nX-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	conns := make([]net.Conn, slow)
	lived := make([]time.Duration, slow)
	var all, dialing sync.WaitGroup
	for part := range 8 {
		dialing.Go(func() {
			for i := part; i < slow; i += 8 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(c.URL, "http://"))
				if err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
				conns[i] = conn
				opened := time.Now()
				all.Go(func() {
					defer conn.Close()
					_ = conn.SetReadDeadline(opened.Add(time.Duration(len(text)) * time.Second)) // it still drips until then
					said, err := io.ReadAll(conn)
					if os.IsTimeout(err) {
						t.Errorf("connection %d is still open", i)
					}
					if len(said) > 0 && !bytes.HasPrefix(said, []byte("HTTP/1.1 400 ")) {
						t.Errorf("half a request is answered: %s", said)
					}
					lived[i] = time.Since(opened)
				})
			}
		})
	}
	dialing.Wait()
	if t.Failed() {
		t.FailNow()
	}
	ended := make(chan struct{})
	var dripping sync.WaitGroup
	dripping.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for i := range text {
			for _, conn := range conns {
				_, _ = io.WriteString(conn, text[i:i+1])
			}
			select {
			case <-tick.C:
			case <-ended:
				return
			}
		}
	})
	beside, large := others(), resident(t, c.cmd.Process.Pid)
	all.Wait()
	close(ended)
	dripping.Wait()
	longest := slices.Max(lived)
	t.Logf("%d slow connections, the longest for %s; p99 of others %s, alone %s; resident %d MiB, before %d MiB", slow, longest, beside, alone, large>>20, small>>20)
	if grown := large - small; !raced && grown > slow*perConnection { // the race detector needs most of it
		t.Errorf("the service grew by %d KiB for each connection", grown/slow>>10)
	}
	if os.Getenv("INTERLOCK_QUIET") != "" && (longest > 6*time.Second || beside > alone*12/10) {
		t.Errorf("the longest lived for %s, want 6 s; p99 of others is %s, alone it is %s", longest, beside, alone)
	}
	if status, _, _ := c.ask("GET", "/readyz", "", ""); status != http.StatusOK {
		t.Errorf("afterwards it is not ready: %d", status)
	}
}

// perConnection bounds what one slow connection may cost the service, in bytes.
const perConnection = 32 << 10

// allowOpenFiles lets this process and its children open n files each.
func allowOpenFiles(t *testing.T, n uint64) {
	t.Helper()
	var have syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &have); err != nil {
		t.Fatal(err)
	}
	if have.Cur >= n {
		return
	}
	want := syscall.Rlimit{Cur: n, Max: max(n, have.Max)}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want); err != nil {
		t.Skipf("%d files must be open at once, and the hard limit is %d: %v", n, have.Max, err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &have) })
}

// resident is how much memory a process holds, in bytes; 0 where nobody says so.
func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	return 0
}
