package httpapi

import (
	"bytes"
	"encoding/json"
	"net"
	"strconv"
	"time"
)

// strictListener hands out connections on which the refusals that Go's server
// writes by itself, before any handler runs, become problems like all others.
type strictListener struct {
	net.Listener
	limits Limits
}

func (l strictListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &strictConn{Conn: conn, limits: l.limits}, nil
}

// strictConn looks at the start of each write. Go's server sends its own
// refusals in one write of plain text that closes the connection; handlers of
// this package never send plain text of that form.
type strictConn struct {
	net.Conn
	limits Limits
}

func (c *strictConn) Write(p []byte) (int, error) {
	kind, ok := ownRefusal(p)
	if !ok {
		return c.Conn.Write(p)
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.limits.WriteTime))
	if _, err := c.Conn.Write(wholeProblem(kind)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite keeps the half-close that lets a client read a refusal to its end.
func (c *strictConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

var (
	plainRefusal = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	expectation  = []byte("HTTP/1.1 417 ")
)

// ownRefusal recognises a refusal of Go's server by its form and status.
func ownRefusal(p []byte) (*problemKind, bool) {
	head, _, ok := bytes.Cut(p, plainRefusal)
	if bytes.HasPrefix(p, expectation) && !bytes.Contains(p, []byte("application/problem+json")) {
		return expectationFailed, true
	}
	if !ok || !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) || bytes.Contains(head, []byte("\n")) || len(head) < 12 {
		return nil, false
	}
	switch string(head[9:12]) {
	case "431":
		return headersTooLarge, true
	case "501":
		return codingUnsupported, true
	case "505":
		return versionUnsupported, true
	}
	return requestMalformed, true
}

// wholeProblem is a complete HTTP response of its own.
func wholeProblem(kind *problemKind) []byte {
	r := refuse(kind, "")
	body, _ := json.Marshal(r.body())
	body = append(body, '\n')
	text := "HTTP/1.1 " + strconv.Itoa(kind.status) + " Refused\r\n" +
		"Content-Type: application/problem+json\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n" +
		"Link: </problems/" + kind.suffix + ">; rel=\"describedby\"\r\n" +
		"X-Request-Id: " + newRequestID() + "\r\n" +
		"Traceparent: " + continued("") + "\r\n" +
		"Cache-Control: no-store\r\nConnection: close\r\n\r\n"
	return append([]byte(text), body...)
}
