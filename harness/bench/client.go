package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// toAnswer bounds one request.
const toAnswer = 30 * time.Second

// client sends requests over one kept connection. It writes and reads HTTP/1.1
// itself as far as it can: what the client costs is missing to the service, since
// both share the machine.
type client struct {
	addr string
	key  string
	conn net.Conn
	in   *bufio.Reader
	text []byte
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// send sends one request and returns status and body.
func (c *client) send(method, path, idempotencyKey, body string) (status int, answer []byte, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.addr, toAnswer); err != nil {
			return 0, nil, err
		}
		c.in = bufio.NewReaderSize(c.conn, 16<<10)
	}
	c.text = fmt.Appendf(c.text[:0], "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", method, path, c.addr, c.key)
	if idempotencyKey != "" {
		c.text = fmt.Appendf(c.text, "Idempotency-Key: %s\r\n", idempotencyKey)
	}
	if body != "" {
		c.text = fmt.Appendf(c.text, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.text = append(append(c.text, "\r\n"...), body...)
	if err := c.conn.SetDeadline(time.Now().Add(toAnswer)); err != nil {
		return 0, nil, err
	}
	if _, err := c.conn.Write(c.text); err != nil {
		return 0, nil, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(response.Body)
	_ = response.Body.Close()
	return response.StatusCode, answer, err
}

// load has clients send what next makes until ctx ends, and returns how long each
// request took. next is given a number that no other request has.
func (r *rig) load(ctx context.Context, s *service, clients int, want int, next func(n int64) (key, body string)) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var number atomic.Int64
	var working sync.WaitGroup
	for range clients {
		working.Go(func() {
			c := &client{addr: s.addr, key: ownerKey}
			defer c.close()
			var mine []time.Duration
			var err error
			for ctx.Err() == nil && err == nil {
				key, body := next(number.Add(1))
				begun := time.Now()
				status, answer, sendErr := c.send("POST", "/v1/jobs", key, body)
				mine = append(mine, time.Since(begun))
				if sendErr != nil {
					err = sendErr
				} else if status != want {
					err = fmt.Errorf("a submit is answered %d, not %d: %.200s", status, want, answer)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
			failed = errors.Join(failed, err)
		})
	}
	working.Wait()
	return all, failed
}

// percentile of durations, 0 to 1.
func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

func intent(provider, more string) string {
	return `{"intent":{"contract":"triage","provider":"` + provider + `","input":{"text":"The printer on floor 2 is out of paper."}` + more + `}}`
}

func member(answer []byte, name string) string {
	var v map[string]any
	if json.Unmarshal(answer, &v) != nil {
		return ""
	}
	text, _ := v[name].(string)
	return strings.TrimSpace(text)
}
