package edge

import (
	"encoding/json"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Stream is one of the two directions of a connection.
type Stream string

const (
	Up   Stream = "upstream"   // from who connected to who listens: requests
	Down Stream = "downstream" // back: responses
)

// Toxic is something done to one direction of all connections of a proxy.
// There are the stock toxics of Toxiproxy, which a stand-alone server knows
// too, and our own, which need Toxiproxy inside the process.
type Toxic struct {
	Type   string
	Stream Stream
	attrs  map[string]any
	make   func() toxics.Toxic // stock toxic of this process
	pipe   func(*link)         // our own
	linger bool                // Toxiproxy itself must see this type when the connection starts
}

// Cut closes the whole connection when n bytes have passed, without passing
// any when n is 0. The other side sees an orderly end (FIN). Bytes count from
// the start of each connection, headers included.
func Cut(s Stream, n int64) Toxic {
	return Toxic{Type: "limit_data", Stream: s, attrs: map[string]any{"bytes": n},
		make: func() toxics.Toxic { return &toxics.LimitDataToxic{Bytes: n} }}
}

// Reset waits for the first bytes, drops them and resets the connection (RST).
func Reset(s Stream) Toxic {
	return Toxic{Type: "reset_peer", Stream: s, attrs: map[string]any{"timeout": 0}, linger: true}
}

// Swallow discards everything and never closes: a black hole.
func Swallow(s Stream) Toxic {
	return Toxic{Type: "timeout", Stream: s, attrs: map[string]any{"timeout": 0},
		make: func() toxics.Toxic { return &toxics.TimeoutToxic{} }}
}

// Slice passes the stream in pieces of about size bytes with a pause between.
func Slice(s Stream, size int, pause time.Duration) Toxic {
	return Toxic{Type: "slicer", Stream: s,
		attrs: map[string]any{"average_size": size, "size_variation": 0, "delay": pause.Microseconds()},
		make: func() toxics.Toxic {
			return &toxics.SlicerToxic{AverageSize: size, Delay: int(pause.Microseconds())}
		}}
}

// Slow delays each chunk by d.
func Slow(s Stream, d time.Duration) Toxic {
	return Toxic{Type: "latency", Stream: s, attrs: map[string]any{"latency": d.Milliseconds(), "jitter": 0},
		make: func() toxics.Toxic { return &toxics.LatencyToxic{Latency: d.Milliseconds()} }}
}

// json is what the control API of Toxiproxy takes.
func (t Toxic) json(name string) []byte {
	attrs := t.attrs
	if attrs == nil {
		attrs = map[string]any{}
	}
	text, err := json.Marshal(map[string]any{
		"name": name, "type": t.Type, "stream": t.Stream, "toxicity": 1.0, "attributes": attrs,
	})
	if err != nil {
		panic("edge: a toxic of plain numbers does not encode: " + err.Error())
	}
	return text
}
