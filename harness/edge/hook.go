package edge

import (
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
	if pipe, ok := hooks.Load(h.ID); ok {
		pipe.(func(*toxics.ToxicStub))(stub)
	} else {
		stub.Close() // the proxy is being dropped
	}
	if stub.Closed() {
		// Toxiproxy's reader would block for ever on what still comes in.
		for range stub.Input { //nolint:revive // drained on purpose
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
