package render

import "strings"

// oneBeginning is R6. The trap: the template writes the beginning token, and
// the tokenizer's post-processor puts another before it.
func oneBeginning(e *examination) {
	if !e.plain() || !e.known() {
		return
	}
	if e.Profile.BOS == "" {
		e.skip("the model has no beginning token")
		return
	}
	bos, ok := e.Tokenizer.ID(e.Profile.BOS)
	if !ok {
		e.fail("the beginning token %q is not in the vocabulary", e.Profile.BOS)
		return
	}
	ids, err := e.Tokenize(Conversation{Messages: []Message{user(mark)}, Generate: true})
	if err != nil {
		e.skip("%v", err)
		return
	}
	n := 0
	for _, id := range ids {
		if id == bos {
			n++
		}
	}
	switch {
	case n != 1:
		e.fail("a prompt has %d beginning tokens", n)
	case ids[0] != bos:
		e.fail("the beginning token is not the first")
	}
}

// generationPrompt is R7. Families differ: some always ask for the answer, some
// need no header at all; a profile declares which.
func generationPrompt(e *examination) {
	if !e.plain() {
		return
	}
	c := Conversation{Messages: []Message{user(mark)}}
	without, err := e.Route.Render(c)
	if err != nil {
		e.fail("a conversation without the header of an answer is refused: %v", err)
		return
	}
	c.Generate = true
	with, _ := e.Route.Render(c)
	header := e.Profile.AnswerHeader
	switch {
	case with == without && header != "" && strings.HasSuffix(with, header):
		e.deviates("always", "the header of the answer is always there")
	case with == without:
		e.deviates("never", "there is no header of the answer, asked for or not")
	case !strings.HasPrefix(with, without):
		e.fail("asking for the header of the answer changes the prompt before it")
	case header != "" && with != without+header:
		e.fail("the header of the answer is %q, not %q", strings.TrimPrefix(with, without), header)
	}
}

// clock is R14.
func clock(e *examination) {
	if !e.plain() {
		return
	}
	if _, local := e.Route.(*Local); !local {
		e.skip("the clock of a server cannot be moved")
		return
	}
	c := Conversation{Messages: []Message{user(mark)}, Generate: true, Now: today}
	one, _ := e.Route.Render(c)
	c.Now = today.AddDate(6, 7, 11)
	other, err := e.Route.Render(c)
	if err != nil || one != other {
		e.deviates("clock", "the prompt changes with the date: its tokens and its digest are not the same tomorrow")
	}
}
