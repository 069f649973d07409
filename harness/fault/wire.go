package fault

import (
	"context"
	"strings"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
)

// Wire is where a fault on a connection goes: onto a proxy of its own to
// Upstream. With a Switch the proxy is turned in between by itself; without
// one the caller connects to the fault's Addr.
type Wire struct {
	Name     string // of the edge, as in toxiproxy.json
	Network  *edge.Network
	Recorder *history.Recorder
	Edge     string // ClientAPI, WorkerProvider, ...
	Upstream string // host:port; with a Switch it may be empty
	Switch   *edge.Switch
}

// OnWire is a fault on the connections of one proxy.
type OnWire struct {
	*state
	proxy *edge.Proxy
	sw    *edge.Switch
	stop  func()
}

// on opens a proxy with the toxics of a fault. The fault acted when the counts
// are proven; with nil somebody else fires it.
func (w Wire) on(ctx context.Context, name, detail string, proven func(edge.Count) bool, toxics ...edge.Toxic) (*OnWire, error) {
	upstream := w.Upstream
	if upstream == "" && w.Switch != nil {
		upstream = w.Switch.Home()
	}
	proxy, err := w.Network.Open(ctx, strings.TrimPrefix(w.Name+"."+name, "."), upstream, toxics...)
	if err != nil {
		return nil, err
	}
	f := &OnWire{state: arm(w.Recorder, name, w.Edge, detail), proxy: proxy, sw: w.Switch}
	f.stop = func() {}
	if proven != nil {
		f.stop = f.watch(proxy.Meter(), proven)
	}
	if w.Switch != nil {
		w.Switch.Turn(proxy.Addr())
	}
	return f, nil
}

// Addr is host:port to connect to, so that the fault may act.
func (f *OnWire) Addr() string { return f.proxy.Addr() }

// URL is Addr as an HTTP base URL.
func (f *OnWire) URL() string { return f.proxy.URL() }

// Count is what passed so far.
func (f *OnWire) Count() edge.Count { return f.proxy.Meter().Count() }

// Heal drops the proxy. Who was connected through the switch connects past it
// from now on.
func (f *OnWire) Heal(context.Context) error {
	if f.sw != nil {
		f.sw.Back()
	}
	f.stop()
	err := f.proxy.Close()
	f.heal()
	return err
}
