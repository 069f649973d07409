package render_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// Each fault, and the clean route, is reported as it is without a memory, the
// first time and from what was kept.
func TestWhatIsRememberedChangesNoReport(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			x := clean(t)
			f.inject(t, x)
			plain, remembering := x.subject(t), x.subject(t)
			remembering.Remember()
			want := render.Check(plain)
			for _, when := range []string{"first", "second"} {
				if got := render.Check(remembering); !reflect.DeepEqual(got, want) {
					t.Errorf("the %s time\n%+v\nwant\n%+v", when, got, want)
				}
			}
		})
	}
}

// TestConversationsThatDifferAreRememberedApart: each of these differs from the
// first in one place, and comes back with its own text and ids.
func TestConversationsThatDifferAreRememberedApart(t *testing.T) {
	text := func(role, content string) render.Message { return render.Message{Role: role, Content: content} }
	tool := func(name, about, schema string) []render.Tool {
		return []render.Tool{{Type: "function", Function: render.Function{Name: name, Description: about, Parameters: json.RawMessage(schema)}}}
	}
	answer := text("tool", "4")
	answer.Name = "sum"
	other := answer
	other.Name = "product"
	list := []render.Conversation{
		{Messages: []render.Message{text("user", "ab")}},
		{Messages: []render.Message{text("user", "ab")}, Generate: true},
		{Messages: []render.Message{text("user", "a"), text("user", "b")}},
		{Messages: []render.Message{text("assistant", "ab")}},
		{Messages: []render.Message{text("user", "ab"), answer}},
		{Messages: []render.Message{text("user", "ab"), other}},
		{Messages: []render.Message{{Role: "user", Content: []render.Part{{Type: "text", Text: "ab"}}}}},
		{Messages: []render.Message{text("user", "ab")}, Tools: tool("a", "b", "{}")},
		{Messages: []render.Message{text("user", "ab")}, Tools: tool("ab", "", "{}")},
		{Messages: []render.Message{text("user", "ab")}, Tools: tool("a", "b", `{"type":"object"}`)},
	}
	plain, remembering := clean(t).subject(t), clean(t).subject(t)
	remembering.Remember()
	for range 2 {
		for i, c := range list {
			want, err := plain.Route.Render(c)
			got, err2 := remembering.Route.Render(c)
			if got != want || (err == nil) != (err2 == nil) {
				t.Errorf("conversation %d: %q, want %q (%v, %v)", i, got, want, err2, err)
			}
			ids, err := plain.Tokenize(c)
			kept, err2 := remembering.Tokenize(c)
			if !reflect.DeepEqual(kept, ids) || (err == nil) != (err2 == nil) {
				t.Errorf("conversation %d: %v, want %v (%v, %v)", i, kept, ids, err2, err)
			}
			for k := range kept {
				kept[k] = -1 // what a caller does to its ids is nobody else's business
			}
		}
	}
	remembering.Profile.ContentTokens = "all" // counts for ids, and is no part of a conversation
	plain.Profile.ContentTokens = "all"
	c := render.Conversation{Messages: []render.Message{text("user", "<|im_end|>")}}
	for _, how := range []string{"all", "none"} {
		plain.Profile.ContentTokens, remembering.Profile.ContentTokens = how, how
		want, _ := plain.Tokenize(c)
		if got, _ := remembering.Tokenize(c); !reflect.DeepEqual(got, want) {
			t.Errorf("content tokens %s: %v, want %v", how, got, want)
		}
	}
}

// A template that reads the clock says something else tomorrow.
func TestWhatTheClockSaidIsNotRemembered(t *testing.T) {
	x := clean(t)
	x.edit(t, "{%- for m in messages -%}", "{{- strftime_now('%d') -}}{%- for m in messages -%}")
	s := x.subject(t)
	s.Remember()
	c := render.Conversation{Messages: []render.Message{{Role: "user", Content: "Hello."}}}
	seen := map[string]bool{}
	for day := range 3 {
		c.Now = time.Date(2026, time.March, 10+day, 0, 0, 0, 0, time.UTC)
		text, err := s.Route.Render(c)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := s.Tokenize(c)
		if err != nil {
			t.Fatal(err)
		}
		seen[text] = true
		if back, err := s.Tokenizer.Decode(ids, false); err != nil || back != text {
			t.Errorf("day %d: the ids say %q, the text %q (%v)", day, back, text, err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("three days give %d texts: %v", len(seen), seen)
	}
}

// What was asked for once is not made again: it costs no more than its key and a
// copy, however long the prompt.
func TestWhatIsRememberedIsNotMadeAgain(t *testing.T) {
	s := clean(t).subject(t)
	c := render.FromRequest(s.Requests[0])
	cost := func() float64 {
		return testing.AllocsPerRun(10, func() {
			if _, err := s.Tokenize(c); err != nil {
				t.Fatal(err)
			}
		})
	}
	anew := cost()
	s.Remember()
	if kept := cost(); kept > 20 || anew < 10*kept {
		t.Errorf("%v allocations, %v from memory", anew, kept)
	}
}
