// Package standin is a scripted AI provider: a real HTTP server on a loopback
// port, or inside the process, that speaks one wire protocol and does exactly what
// it is told.
//
// By itself it answers as a good provider would: the reference of the contract
// case whose text it finds in the prompt, else an answer made from the schema
// that the request carries. Around that it can hold calls at a gate, answer
// from a script, break its answers at any place, and misbehave as a whole. It
// keeps a ledger of every request. Order comes from gates, never from sleeping:
// a call waits until it is released, and says when it has arrived.
package standin

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

// Options say who the stand-in is. Only Protocol is required.
type Options struct {
	Name     string // for ids and errors; default standin
	Protocol providers.Protocol
	Model    string // the one model it serves; empty serves whatever is asked for
	Listen   string // host:port, default 127.0.0.1:0
	Inside   bool   // opens no socket: only Dial reaches it

	// References are answers by the text that must occur in the prompt, first
	// match wins.
	References []Reference

	// Fallback answers a prompt that holds no reference; nil answers with the
	// smallest value that the schema of the request allows.
	Fallback func(Ask) string

	// Observe is told of each arrival and each end of a call, in order, on the
	// call's own goroutine.
	Observe func(Moment, Call)

	// Count is how many tokens the prompt of a request has; nil estimates.
	Count func(Ask) int64

	// Manner is what good providers do differently.
	Manner Manner

	// Fault makes the whole server misbehave in one way; nil is a good provider.
	Fault *Fault
}

// Reference is what a good provider answers to a prompt that holds Text: one
// JSON document.
type Reference struct {
	Text   string
	Answer string
	Tool   string // the tool that fits, where the model decides whether to call one
}

// Server is a running stand-in.
type Server struct {
	options  Options
	dialect  dialect
	listener net.Listener
	server   *http.Server
	served   chan struct{}
	closing  chan struct{}
	once     sync.Once
	ledger   ledger
	rules    rules
	works    works
}

// Start listens and serves until Close. It returns an error for a protocol that
// has no stand-in and for an address that is in use.
func Start(o Options) (*Server, error) {
	if o.Name == "" {
		o.Name = "standin"
	}
	d, ok := dialects[o.Protocol]
	if !ok {
		return nil, fmt.Errorf("no stand-in speaks protocol %q", o.Protocol)
	}
	listener, err := o.listener()
	if err != nil {
		return nil, fmt.Errorf("stand-in %s: %w", o.Name, err)
	}
	s := &Server{
		options: o, dialect: d, listener: listener,
		served: make(chan struct{}), closing: make(chan struct{}),
	}
	s.ledger.observe = o.Observe
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(discard{}, "", 0), // cut connections are its business, not news
	}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(listener)
	}()
	return s, nil
}

func (o Options) listener() (net.Listener, error) {
	switch {
	case o.Inside:
		return newInside(), nil
	case o.Listen == "":
		return net.Listen("tcp", "127.0.0.1:0")
	}
	return net.Listen("tcp", o.Listen)
}

// URL is the base URL for a profile: scheme and host, no path.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Addr is host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close releases every gate, ends every call and waits until none is left.
func (s *Server) Close() error {
	s.once.Do(func() {
		close(s.closing)
		s.rules.releaseAll()
	})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a client that does not read: cut it
		err = s.server.Close()
	}
	<-s.served
	return err
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
