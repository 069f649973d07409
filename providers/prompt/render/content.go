package render

import "strings"

// probes of R8: texts that templates and their filters are likely to change.
var verbatimProbes = []string{
	"qz {{ 7 * 7 }} {% raw %} {# note #} qz",
	`qz {"a": [1, 2.50, null], "b": "c\"d\\e"} 'single' "double" qz`,
	"qz <b>&amp; & < > </b> qz",
	"qz é ß 漢字 العربية 👩‍🚀 e\u0301 qz",
	"\n  qz two  spaces\tand a tab qz\n\n",
}

// verbatim is R8.
func verbatim(e *examination) {
	if !e.plain() {
		return
	}
	for _, content := range verbatimProbes {
		text, err := e.Route.Render(Conversation{Messages: []Message{user(content)}, Generate: true})
		switch {
		case err != nil:
			e.fail("the content %.60q is refused: %v", content, err)
		case strings.Contains(text, content):
		case strings.Contains(text, strings.TrimSpace(content)):
			e.deviates("trims", "whitespace around a content is trimmed")
		default:
			e.fail("the content %.60q is altered", content)
		}
	}
}

// nullContent is R11: an assistant that only called tools has no content.
func nullContent(e *examination) {
	if !e.plain() {
		return
	}
	of := func(content any) (string, error) {
		return e.Route.Render(Conversation{Messages: []Message{user(mark), {Role: "assistant", Content: content}, user("Go on.")}, Generate: true})
	}
	empty, err := of("")
	if err != nil {
		e.skip("an empty content is refused: %v", err)
		return
	}
	text, err := of(nil)
	if err != nil {
		e.fail("an answer without content is refused: %v", err)
		return
	}
	for _, word := range []string{"None", "null"} {
		if strings.Count(text, word) > strings.Count(empty, word) {
			e.fail("an answer without content renders as the word %s", word)
		}
	}
}

// arrayContent is R12: content in parts is what clients send as soon as there
// may be images.
func arrayContent(e *examination) {
	if !e.plain() {
		return
	}
	if e.Profile.FlattensParts {
		if _, local := e.Route.(*Local); local {
			e.skip("the server turns parts into text before the template sees them")
			return
		}
	}
	text, err := e.Route.Render(Conversation{Messages: []Message{{Role: "user", Content: []Part{{"text", mark}}}}, Generate: true})
	switch {
	case err != nil:
		e.fail("content in parts is refused: %v", err)
	case !strings.Contains(text, mark):
		e.fail("content in parts vanishes")
	case strings.Contains(text, "'type'") || strings.Contains(text, `"type"`):
		e.fail("content in parts renders as the notation of a list: %.80q", text[strings.Index(text, "type")-2:])
	}
}

// thinkingKept is R13. Dropping the thinking of earlier turns is what some
// families are trained on; it changes what a history counts.
func thinkingKept(e *examination) {
	if !e.plain() {
		return
	}
	text, err := e.Route.Render(Conversation{
		Messages: []Message{user(mark), assistant("<think>\nqzTHOUGHTzq\n</think>\n\nqzANSWERzq"), user("Go on.")}, Generate: true,
	})
	switch {
	case err != nil:
		e.deviates("raises", "an answer with its thinking is refused: %v", err)
	case !strings.Contains(text, "qzANSWERzq"):
		e.fail("an earlier answer with its thinking is dropped as a whole")
	case !strings.Contains(text, "qzTHOUGHTzq"):
		e.deviates("drops", "the thinking of earlier answers is dropped")
	}
}
