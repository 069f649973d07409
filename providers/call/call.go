// Package call sends one request to a provider, once, and keeps all that came
// back.
//
// It keeps two rules. One call is at most one request on the wire: every call has
// a connection of its own and a body that cannot be sent again, nothing is
// retried and no redirect is followed. And what it cannot prove to be unsent
// counts as sent. It judges nothing.
package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

// Do sends r over the route of profile p and returns the transcript. secret is
// the API key, empty where the profile names no header for one; header is added
// to the call (X-Job-Id, X-Attempt-Id) and may not carry Idempotency-Key, on which
// Go's transport would send the POST again by itself. The end of ctx is the hard
// limit of the call.
//
// Over a route whose provider works in the background it asks for the answer by
// its id until there is one, see Follow.
//
// The error is for a request that could not be built; nothing was sent then.
func Do(ctx context.Context, p providers.Profile, secret string, r providers.Request, header http.Header) (providers.Transcript, error) {
	return Follow(ctx, p, secret, r, header, func(string) {})
}

// Send is Do for a request that is encoded already, for example one that is wrong
// on purpose; r is what the transcript says was asked.
func Send(ctx context.Context, p providers.Profile, secret string, r providers.Request, encoded providers.HTTPRequest, header http.Header) (providers.Transcript, error) {
	return send(ctx, p, secret, r, encoded, header, nil)
}

// send tells arrived, where there is one, after each piece of the body.
func send(ctx context.Context, p providers.Profile, secret string, r providers.Request, encoded providers.HTTPRequest, header http.Header,
	arrived func(providers.Transcript)) (providers.Transcript, error) {
	started := time.Now()
	t := fresh(p, r)
	built, err := build(p, secret, encoded, header)
	if err != nil {
		return t, fmt.Errorf("call %s: %w", p.Name, err)
	}
	var sent atomic.Bool
	request := built.WithContext(httptrace.WithClientTrace(ctx, watch(&sent)))
	transport := transportFor(ctx, p)
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		if sent.Load() {
			t.Reach = providers.ReachSent
		}
		t.Err, t.Duration = err, time.Since(started)
		return t, nil
	}
	t.Reach, t.Status, t.Header = providers.ReachSent, response.StatusCode, response.Header
	read(ctx, response, &t, started, arrived)
	blot(&t, secret)
	t.Duration = time.Since(started)
	return t, nil
}

// fresh is the transcript of a request of which nothing has left yet.
func fresh(p providers.Profile, r providers.Request) providers.Transcript {
	if r.Model == "" {
		r.Model = p.Model
	}
	return providers.Transcript{
		Protocol: p.Protocol, Request: r, Reach: providers.ReachNotSent, End: providers.EndNone,
		Served: p.Served, Refused: p.RefusedStatuses,
	}
}

// build makes the HTTP request. Its body is wrapped so that the transport finds
// no way to rewind it.
func build(p providers.Profile, secret string, encoded providers.HTTPRequest, header http.Header) (*http.Request, error) {
	request, err := http.NewRequest(encoded.Method, encoded.URL, io.NopCloser(bytes.NewReader(encoded.Body)))
	if err != nil {
		return nil, err
	}
	if request.ContentLength = int64(len(encoded.Body)); request.ContentLength == 0 {
		request.Body = http.NoBody
	}
	for _, from := range []http.Header{encoded.Header, header} {
		for name, values := range from {
			request.Header[textproto.CanonicalMIMEHeaderKey(name)] = values
		}
	}
	if attempt := header.Get(headerAttempt); attempt != "" && p.IdempotencyHeader != "" {
		request.Header.Set(p.IdempotencyHeader, attempt)
	}
	for _, banned := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if _, there := request.Header[banned]; there {
			return nil, fmt.Errorf("header %s would have the transport send the request again; use another name", banned)
		}
	}
	request.Header.Set("Accept-Encoding", "identity")
	if p.Auth.Header != "" {
		if secret == "" {
			return nil, fmt.Errorf("the key for header %s is empty; set %s", p.Auth.Header, p.Auth.Env)
		}
		value := secret
		if p.Auth.Scheme != "" {
			value = p.Auth.Scheme + " " + secret
		}
		request.Header.Set(p.Auth.Header, value)
	}
	return request, nil
}

// headerAttempt names the attempt; a provider that has a field of its own for such
// an identity gets it there too.
const headerAttempt = "X-Attempt-Id"

// maxInterim bounds the 1xx answers before the real one.
const maxInterim = 5

var errTooManyInterim = errors.New("more than 5 interim answers")

// watch sets sent when the request may have begun to leave: once there is a
// connection, past its TLS handshake, nothing proves that no byte left.
func watch(sent *atomic.Bool) *httptrace.ClientTrace {
	interim := 0
	return &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			if interim++; interim > maxInterim {
				return errTooManyInterim
			}
			return nil
		},
	}
}
