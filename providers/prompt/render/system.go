package render

import (
	"fmt"
	"slices"
	"strings"
)

const systemMark = "qzSYSTEMMARKzq"

// systemKept is R1. A template that refuses a system prompt makes a clear error
// of it, which a profile may declare; one that drops it answers without.
func systemKept(e *examination) {
	if !e.plain() {
		return
	}
	text, err := e.Route.Render(Conversation{Messages: []Message{system(systemMark), user(mark)}, Generate: true})
	switch {
	case err != nil:
		e.deviates("raises", "a system prompt is refused: %v", err)
	case !strings.Contains(text, systemMark):
		e.fail("the system prompt is dropped")
	}
}

// lateSystem is R2.
func lateSystem(e *examination) {
	if !e.plain() {
		return
	}
	if e.earlier["R1"] == Fail {
		e.skip("not even the first system prompt reaches the model (R1)")
		return
	}
	text, err := e.Route.Render(Conversation{Messages: []Message{user(mark), assistant("Yes."), system(systemMark), user("Go on.")}, Generate: true})
	switch {
	case err != nil:
		e.deviates("raises", "a system prompt in mid-conversation is refused: %v", err)
	case !strings.Contains(text, systemMark):
		e.fail("a system prompt in mid-conversation is dropped")
	}
}

// longHistory is how many turns a conversation has in which a server that keeps
// the last few only is seen.
const longHistory = 40

// roleOrder is R3. What does not fit is to be refused, not to be cut unseen.
func roleOrder(e *examination) {
	if !e.plain() {
		return
	}
	var long []Message
	for i := range longHistory / 2 {
		long = append(long, user(fmt.Sprintf("qzASKED%dzq", i)), assistant(fmt.Sprintf("qzANSWERED%dzq", i)))
	}
	for _, c := range []struct {
		what     string
		messages []Message
	}{
		{"two turns of the user in a row", []Message{user("qzFIRSTzq"), user("qzSECONDzq")}},
		{"a conversation that the assistant opens", []Message{assistant("qzFIRSTzq"), user("qzSECONDzq")}},
		{"a conversation of 41 turns", append(long, user("qzLASTzq"))},
	} {
		text, err := e.Route.Render(Conversation{Messages: c.messages, Generate: true})
		switch {
		case err != nil:
			e.deviates("raises", "%s is refused: %v", c.what, err)
		case slices.ContainsFunc(c.messages, func(m Message) bool { return !strings.Contains(text, m.Content.(string)) }):
			e.fail("%s loses a turn", c.what)
		}
	}
}

// hiddenSystem is R15: what stands before the only message, apart from added
// tokens and the name of a role, was not sent by the caller. It counts towards
// the budget and may say what the contract does not want said.
func hiddenSystem(e *examination) {
	if !e.plain() {
		return
	}
	text, _ := e.Route.Render(Conversation{Messages: []Message{user(mark)}, Generate: true})
	before, _, found := strings.Cut(text, mark)
	if !found {
		e.skip("the message is not in the prompt")
		return
	}
	for _, added := range e.Tokenizer.AddedTokens() {
		if strings.TrimSpace(added.Content) != "" {
			before = strings.ReplaceAll(before, added.Content, " ")
		}
	}
	for _, value := range e.Profile.Variables {
		if value != "" {
			before = strings.ReplaceAll(before, value, " ")
		}
	}
	if words := strings.Fields(before); len(words) > 4 {
		e.informs("the template adds text of its own: %.80q", strings.Join(words, " "))
	}
}
