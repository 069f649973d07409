package certify

import (
	"errors"

	"github.com/interlock-harness/interlock/providers/prompt/live"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// watched is a server that shows its prompts, and what kept it from being asked:
// a server that is away, overloaded or locked says nothing about its prompts,
// other than one that refuses a conversation (with a status of 400, 422 or 500).
type watched struct {
	oracle render.Tokenizing
	lost   error // the first
}

// route is w with as many of the optional questions as the server answers.
func (w *watched) route() render.Route {
	if _, ok := w.oracle.(render.Encoding); ok {
		return &encoding{w}
	}
	return w
}

func (w *watched) note(err error) error {
	var refused *live.StatusError
	if errors.As(err, &refused) && (refused.Status == 400 || refused.Status == 422 || refused.Status == 500) {
		return err
	}
	if w.lost == nil {
		w.lost = err
	}
	return err
}

// Render is part of render.Route.
func (w *watched) Render(c render.Conversation) (string, error) {
	text, err := w.oracle.Render(c)
	return text, w.note(err)
}

// IDs is part of render.Tokenizing.
func (w *watched) IDs(c render.Conversation) ([]int, error) {
	ids, err := w.oracle.IDs(c)
	return ids, w.note(err)
}

// Window is part of render.Windowed; 0 where the server does not say.
func (w *watched) Window() (int, error) {
	server, ok := w.oracle.(render.Windowed)
	if !ok {
		return 0, nil
	}
	n, err := server.Window()
	return n, w.note(err)
}

// encoding is a watched server that tokenizes plain text, too.
type encoding struct{ *watched }

// Encode is part of render.Encoding.
func (e *encoding) Encode(text string) ([]int, error) {
	ids, err := e.oracle.(render.Encoding).Encode(text)
	return ids, e.note(err)
}
