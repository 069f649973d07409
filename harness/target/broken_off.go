package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// errBrokenOff is what a caller knows of a call that it broke off itself.
var errBrokenOff = errors.New("broken off after a part of the body")

// BreakOff sends the head and the first n bytes of the body, ends the caller's
// side of the connection, and waits until the target has ended its own: then the
// target is done with the half call, whatever it made of it. The outcome is
// unknown, as it is to a caller that went away.
func BreakOff(n int) Option { return func(c *call) { c.breakOff = &n } }

// sendPart writes req without the end of its body of size bytes.
func sendPart(ctx context.Context, req *http.Request, size, n int) error {
	if n < 0 || n >= size {
		return fmt.Errorf("a call with a body of %d bytes cannot break off after %d", size, n)
	}
	var whole bytes.Buffer
	req.Close = true
	if err := req.Write(&whole); err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", req.URL.Host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if _, err := conn.Write(whole.Bytes()[:whole.Len()-size+n]); err != nil {
		return err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return fmt.Errorf("the target did not end a call that was broken off: %w", err)
	}
	return errBrokenOff
}
