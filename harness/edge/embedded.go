package edge

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
)

// embedded is Toxiproxy as a library. Its own HTTP control API is not
// started: nobody outside can change a fault.
type embedded struct{ server *toxiproxy.ApiServer }

func newEmbedded() *embedded {
	return &embedded{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

func (e *embedded) open(p *Proxy, list []Toxic) error {
	proxy := toxiproxy.NewProxy(e.server, p.Name, "127.0.0.1:0", p.upstream)
	running := &piping{}
	var releases []func()
	release := func() {
		for _, r := range releases {
			r()
		}
	}
	add := func(t Toxic) error {
		name := t.Type + "-" + strconv.Itoa(len(releases))
		text := []byte(nil)
		if pipe := t.piper(p.quit); pipe != nil {
			attrs, done := addHook(func(stub *toxics.ToxicStub) {
				running.enter()
				defer running.leave()
				pipe(stub)
				drain(stub)
			})
			releases = append(releases, done)
			text = Toxic{Type: hookType, Stream: t.Stream, attrs: attrs}.json(name)
		} else {
			releases = append(releases, func() {})
			text = t.json(name)
		}
		_, err := proxy.Toxics.AddToxicJson(bytes.NewReader(text))
		return err
	}
	// Along each stream: count what comes in, do what was asked, count what
	// is left. Toxiproxy keeps one chain per stream in the order of adding.
	all := []Toxic{p.meter.tap(Up, false), p.meter.tap(Down, false)}
	for _, t := range list {
		if t.linger {
			// The stock toxic takes one chunk; what follows it must not block.
			all = append(all, firstChunk(t.Stream))
		}
		all = append(all, t)
	}
	all = append(all, p.meter.tap(Up, true), p.meter.tap(Down, true))
	for _, t := range all {
		if err := add(t); err != nil {
			release()
			return fmt.Errorf("toxic %s: %w", t.Type, err)
		}
	}
	if err := proxy.Start(); err != nil {
		release()
		return err
	}
	p.addr = proxy.Listen
	p.stop = func(ctx context.Context) error {
		proxy.Stop()
		release()
		return running.wait(ctx)
	}
	return nil
}

// piper is the function that a toxic of ours runs. A stock toxic is wrapped,
// so that what arrives after its cut is drained; nil where Toxiproxy must see
// the stock type itself.
func (t Toxic) piper(quit <-chan struct{}) func(*toxics.ToxicStub) {
	if t.pipe != nil {
		return func(stub *toxics.ToxicStub) { t.pipe(&link{stub, quit}) }
	}
	if t.make == nil {
		return nil
	}
	return func(stub *toxics.ToxicStub) {
		inner := t.make()
		if s, ok := inner.(toxics.StatefulToxic); ok && stub.State == nil {
			stub.State = s.NewState()
		}
		inner.Pipe(stub)
	}
}

// firstChunk passes the first chunk of each connection and swallows the rest.
func firstChunk(s Stream) Toxic {
	return Toxic{Type: hookType, Stream: s, pipe: func(l *link) {
		passed := false
		l.pass(func(data []byte) ([]byte, bool) {
			if passed {
				return nil, true
			}
			passed = true
			return data, true
		})
	}}
}
