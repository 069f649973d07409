package fault

import (
	"context"
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/harness/edge"
)

// LostMessage cuts the connection at one HTTP message of many: the nth request
// or response that holds some texts in its head. What comes before it on the
// same connection passes.
func LostMessage(ctx context.Context, w Wire, s edge.Stream, m edge.Message) (*OnWire, error) {
	var f *OnWire
	ready := make(chan struct{})
	cut := edge.CutMessage(s, m, func() { // somebody may be quicker than this function
		<-ready
		f.fire("cut at the message: " + f.Count().String())
	})
	var err error
	if f, err = w.on(ctx, "lost-message", describe(s, m)+" is lost", nil, cut); err != nil {
		return nil, err
	}
	close(ready)
	return f, nil
}

// HoldMessage holds one HTTP message of many until Release.
func HoldMessage(ctx context.Context, w Wire, s edge.Stream, m edge.Message) (*Stalled, error) {
	g := edge.NewGate("hold-message")
	return stall(ctx, w, "hold-message", describe(s, m)+" is held", g, g.HoldMessage(s, m))
}

func describe(s edge.Stream, m edge.Message) string {
	what := "request"
	if s == edge.Down {
		what = "response"
	}
	text := fmt.Sprintf("%s %d", what, max(m.Nth, 1))
	if len(m.Holds) > 0 {
		text += " with " + strings.Join(m.Holds, " and ")
	}
	return text
}
