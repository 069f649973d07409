package cli_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// silentServer takes connections, answers so many requests in all, says when it is
// asked for more, and never answers that.
func silentServer(t *testing.T, answers int) (addr string, connected <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	came := make(chan struct{}, 1)
	go func() {
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range open {
					_ = c.Close()
				}
				return
			}
			open = append(open, c)
			if answers = answer(c, answers); answers > 0 {
				continue
			}
			select {
			case came <- struct{}{}:
			default:
			}
		}
	}()
	return l.Addr().String(), came
}

// answer answers so many requests on one connection and returns when one more is
// there, or with how many are left when the client has closed it.
func answer(c net.Conn, answers int) (left int) {
	in := bufio.NewReader(c)
	for ; answers > 0; answers-- {
		r, err := http.ReadRequest(in)
		if err != nil {
			return answers
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return answers
		}
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			return answers
		}
	}
	_, _ = in.Peek(1)
	return 0
}
