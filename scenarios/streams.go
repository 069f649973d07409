package scenarios

import (
	"bytes"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers/standin"
)

// streaming is an intent whose answer comes as a stream of events.
func (w *World) streaming(name string) target.Intent {
	i := w.Intent(name)
	i.Params = map[string]any{"stream": true}
	return i
}

// atTheEnd is the place behind the last byte of an answer.
var atTheEnd = standin.Point{Events: 1 << 20}

// pinging is a stream that holds the connection open with comments, and says
// nothing for as long as anybody listens.
func pinging() stage.Answer {
	return stage.Answer{
		Cut: &atTheEnd, CutBy: standin.CutStall, Drip: 10 * time.Millisecond,
		Reply: func(r *standin.Reply) {
			r.Pieces = nil
			for range 40 {
				r.Pieces = append(r.Pieces, standin.Piece{Raw: bytes.Clone([]byte(": ping\n\n"))})
			}
		},
	}
}
