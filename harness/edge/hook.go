package edge

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// hookType is the one toxic type that we register: it runs a function of ours.
const hookType = "interlock"

func init() { toxics.Register(hookType, new(hook)) }

// hooks are the functions by the id that stands in the toxic's attributes,
// which is the only thing that Toxiproxy carries to a toxic.
var (
	hooks  sync.Map // string -> func(*toxics.ToxicStub)
	hookID atomic.Int64
)

type hook struct {
	ID string `json:"id"`
}

// Pipe implements toxics.Toxic.
func (h *hook) Pipe(stub *toxics.ToxicStub) {
	pipe, ok := hooks.Load(h.ID)
	if !ok {
		stub.Close() // the proxy is being dropped
		drain(stub)
		return
	}
	pipe.(func(*toxics.ToxicStub))(stub)
}

// drain takes what still comes into a closed stage, which Toxiproxy's stage before
// it would wait for ever to hand over.
func drain(stub *toxics.ToxicStub) {
	if stub.Closed() {
		for range stub.Input { //nolint:revive // drained on purpose
		}
	}
}

// piping counts the hooks of one proxy that run.
type piping struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n comes to 0; nil while it is 0
}

func (p *piping) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.idle = make(chan struct{})
	}
}

func (p *piping) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n--; p.n == 0 {
		close(p.idle)
		p.idle = nil
	}
}

// wait returns when none runs. What a hook drains ends with the stage before it,
// so that nothing of Toxiproxy's links is left either.
func (p *piping) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		idle := p.idle
		p.mu.Unlock()
		if idle == nil {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return fmt.Errorf("connections of the proxy do not end: %w", ctx.Err())
		}
	}
}

// addHook keeps pipe until release and returns the toxic's attributes.
func addHook(pipe func(*toxics.ToxicStub)) (attrs map[string]any, release func()) {
	id := strconv.FormatInt(hookID.Add(1), 10)
	hooks.Store(id, pipe)
	return map[string]any{"id": id}, func() { hooks.Delete(id) }
}

// link is one direction of one connection, as a toxic sees it.
type link struct {
	*toxics.ToxicStub
	quit <-chan struct{}
}

// pass copies chunks until the stream ends or each says stop. each may change
// or swallow (nil data) a chunk; when it returns false the connection is cut.
func (l *link) pass(each func(data []byte) ([]byte, bool)) {
	for {
		select {
		case <-l.Interrupt:
			return
		case <-l.quit:
			l.Close()
			return
		case chunk := <-l.Input:
			if chunk == nil {
				l.Close()
				return
			}
			data, on := each(chunk.Data)
			if len(data) > 0 {
				// A new chunk: stock toxics still look at one after sending it.
				select {
				case l.Output <- &stream.StreamChunk{Data: data, Timestamp: chunk.Timestamp}:
				case <-l.quit: // nobody reads any more
					on = false
				}
			}
			if !on {
				l.Close()
				return
			}
		}
	}
}
