package render_test

import (
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

func TestSpansSayWhoWroteWhat(t *testing.T) {
	s := clean(t).subject(t)
	c := render.FromRequest(s.Requests[0])
	spans, err := s.Spans(c)
	if err != nil {
		t.Fatal(err)
	}
	whole, by := "", map[string]string{}
	for _, span := range spans {
		whole += span.Text
		by[span.Source] += span.Text + "|"
		if len(span.IDs) == 0 {
			t.Errorf("no ids: %+v", span)
		}
	}
	if text, err := s.Route.Render(c); err != nil || whole != text {
		t.Errorf("spans make %q, the prompt is %q, %v", whole, text, err)
	}
	for source, want := range map[string]string{
		"system": "Sort the mail.|", "user": "Where is my parcel?|", "special": "<s>|<|im_start|>|<|im_end|>|<|im_start|>|<|im_end|>|<|im_start|>|<|im_end|>|<|im_start|>|",
	} {
		if by[source] != want {
			t.Errorf("%s: %q, want %q", source, by[source], want)
		}
	}
	if by["tools"] == "" || by["template"] == "" {
		t.Errorf("tools %q, template %q", by["tools"], by["template"])
	}
}
