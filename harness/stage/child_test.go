package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// overtaken is a service that starts when somebody else has taken the port that was
// chosen for it, and a second time listens at addr.
func overtaken(t *testing.T, addr string) *Process {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf(`cd '%s'
if [ ! -e taken ]; then
  echo "$1" > chosen.new; mv chosen.new chosen
  until [ -e taken ]; do sleep 0.01; done
  exec '%s' reference serve --pg-url postgres://u@127.0.0.1:1/d --listen "$1"
fi
echo '{"listening":"%s"}'; exec sleep 60`, dir, os.Args[0], addr)
	p := &Process{Name: "api-1", Role: "api", command: []string{"sh", "-c", script}, env: os.Environ(), log: &logFile{}}
	t.Cleanup(func() { _ = p.Kill() })
	go func() {
		for {
			chosen, err := os.ReadFile(filepath.Join(dir, "chosen"))
			if err == nil {
				if l, err := net.Listen("tcp4", strings.TrimSpace(string(chosen))); err == nil {
					context.AfterFunc(t.Context(), func() { _ = l.Close() })
				}
				_ = os.WriteFile(filepath.Join(dir, "taken"), nil, 0o600)
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return p
}

// TestAPortThatWasTakenInBetweenIsChosenAnew: between the choice of a port and its use
// anybody may take it. Where others know the address already it is not changed.
func TestAPortThatWasTakenInBetweenIsChosenAnew(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	addr := strings.TrimPrefix(server.URL, "http://")
	for _, known := range []string{"", addr} {
		t.Run("known "+known, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			p := overtaken(t, addr)
			p.addr = known
			err := p.Start(ctx)
			if known == "" && (err != nil || p.Addr() != addr) {
				t.Errorf("%v, at %q", err, p.Addr())
			}
			if known != "" && !errors.Is(err, errPortTaken) {
				t.Errorf("ended with %v, want %v", err, errPortTaken)
			}
		})
	}
}
