package render

import (
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// Subject is what is checked: a route with its profile, and the prompts of a
// contract that are to go over it.
type Subject struct {
	Profile   Profile
	Tokenizer *bpe.Tokenizer
	Route     Route
	// Requests are the prompts of the contract's cases.
	Requests []providers.Request
	// Usage is what the provider counted for requests, by their index.
	Usage map[int]int
	// Files are those that the profile names, by those names; nil where they were not
	// read by Open.
	Files map[string][]byte
}

// Route renders conversations: the local engines, or a live server.
type Route interface {
	// Render returns the exact text that the model would see.
	Render(Conversation) (string, error)
}

// Tokenizing is a Route that says itself which ids its model sees. What it says
// counts, not what our tokenizer makes of its text.
type Tokenizing interface {
	Route
	IDs(Conversation) ([]int, error)
}

// Encoding is a Route that tokenizes plain text too, so that the ids which a
// profile knows can be asked for.
type Encoding interface {
	Encode(text string) ([]int, error)
}

// Windowed is a Route that says how many tokens prompt and answer may have
// together.
type Windowed interface {
	Window() (int, error)
}

// Local renders with the template as the transformers library does.
type Local struct {
	Profile   Profile
	Template  *jinja.Template
	Tokenizer *bpe.Tokenizer

	memory *memory // nil: nothing is kept
}

// today is the present of every render that does not name another.
var today = time.Date(2025, time.March, 14, 9, 26, 53, 0, time.UTC)

// Render renders c. The error is a *jinja.Error where the template refuses.
func (l *Local) Render(c Conversation) (string, error) {
	now := func() time.Time {
		if c.Now.IsZero() {
			return today
		}
		return c.Now
	}
	render := func(now func() time.Time) (string, error) { return l.render(c, now) }
	if l.memory == nil {
		return render(now)
	}
	return l.memory.text(c, now, render)
}

func (l *Local) render(c Conversation, now func() time.Time) (string, error) {
	vars := jinja.NewDict()
	for name, value := range l.Profile.Variables {
		vars.Set(name, value)
	}
	messages, err := value(c.Messages)
	if err != nil {
		return "", err
	}
	var tools jinja.Value
	if len(c.Tools) > 0 {
		if tools, err = value(c.Tools); err != nil {
			return "", err
		}
	}
	vars.Set("messages", messages)
	vars.Set("tools", tools)
	vars.Set("documents", nil)
	vars.Set("add_generation_prompt", c.Generate)
	return l.Template.Render(vars, jinja.Options{Now: now})
}

func value(v any) (jinja.Value, error) {
	data, err := encode(v)
	if err != nil {
		return nil, err
	}
	return jinja.DecodeJSON(data)
}
