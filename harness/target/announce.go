package target

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// Announced is a submit whose headers were sent and whose body was not yet.
type Announced struct {
	conn   net.Conn
	record *history.Call
	body   []byte
}

// Announce sends the headers of a submit and asks, as curl does, whether the
// body may follow (Expect: 100-continue). It returns when the target said that
// it may. Its outcome stays unknown: end it with Leave.
func (c *Client) Announce(ctx context.Context, key string, intent Intent) (*Announced, error) {
	text, err := json.Marshal(intent)
	if err != nil {
		return nil, fmt.Errorf("announce: %w", err)
	}
	k := call{
		op:     history.Op{Op: history.OpSubmit, Key: key, Actor: c.o.Actor, Owner: c.o.Owner, Data: history.SubmitFacts{Intent: text}},
		path:   c.a.path(history.OpSubmit, "", 0),
		header: http.Header{c.a.keyHeader(): {key}, "Expect": {"100-continue"}}, body: c.a.submit(text),
	}
	req, err := c.request(ctx, k)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", req.URL.Host)
	if err != nil {
		return nil, fmt.Errorf("announce: %w", err)
	}
	var head bytes.Buffer
	_, _ = fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", req.Method, req.URL.RequestURI(), req.URL.Host, len(k.body))
	_ = req.Header.Write(&head)
	head.WriteString("\r\n")
	a := &Announced{conn: conn, record: c.o.Recorder.Invoke(k.op), body: k.body}
	_ = conn.SetDeadline(time.Now().Add(c.o.Timeout))
	if _, err = conn.Write(head.Bytes()); err == nil {
		err = a.continued()
	}
	if err != nil {
		a.Leave()
		return nil, fmt.Errorf("announce: %w", err)
	}
	return a, nil
}

func (a *Announced) continued() error {
	line, err := bufio.NewReader(a.conn).ReadString('\n')
	if err == nil && !bytes.HasPrefix([]byte(line), []byte("HTTP/1.1 100")) {
		err = fmt.Errorf("the target did not ask for the body: %q", line)
	}
	return err
}

// Send sends n bytes of the body.
func (a *Announced) Send(n int) error {
	_, err := a.conn.Write(a.body[:min(n, len(a.body))])
	return err
}

// Leave closes the connection. What the submit came to is not known.
func (a *Announced) Leave() {
	_ = a.conn.Close()
	a.record.Info(0, errors.New("the client closed the connection before it had sent the body"))
}
