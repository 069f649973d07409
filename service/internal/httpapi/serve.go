package httpapi

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Serve answers requests on ln until ctx ends, then drains: it stops accepting,
// lets waiting clients go with what is known, ends event streams, and gives
// running requests until grace has passed. It returns nil after a full drain.
//
// There is no server-wide ReadTimeout or WriteTimeout that would cut event
// streams: each request sets its own deadlines.
func (s *Server) Serve(ctx context.Context, ln net.Listener, grace time.Duration) error {
	beat, stopBeat := context.WithCancel(context.WithoutCancel(ctx))
	beating := make(chan struct{})
	go func() { defer close(beating); s.pulse.run(beat) }()
	defer func() { stopBeat(); <-beating }()

	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // behind a balancer one protocol with one framing is enough
	server := &http.Server{
		Handler:                      s,
		ReadHeaderTimeout:            s.limits.HeaderTime,
		IdleTimeout:                  s.limits.IdleTime,
		MaxHeaderBytes:               s.limits.Headers,
		Protocols:                    protocols,
		DisableGeneralOptionsHandler: true,                       // OPTIONS * is no call of ours
		ErrorLog:                     log.New(io.Discard, "", 0), // what clients do wrong is not our error, and may hold their bytes
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(strictListener{Listener: ln, limits: s.limits}) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	close(s.draining)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		_ = server.Close()
		return errors.Join(errors.New("requests were still running at the end of the grace time"), err)
	}
	return nil
}
