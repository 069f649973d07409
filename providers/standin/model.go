package standin

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
)

// message is what the model behind the stand-in answers.
func (s *Server) message(id string, a Ask, script Answer, fault *Fault) Message {
	text := script.Text
	if text == "" {
		text = s.output(a, fault)
	}
	text = s.options.Manner.write(text)
	m := Message{ID: id, Model: a.Model, Build: cmp.Or(s.options.Manner.Build, "fp_standin_1"), Finish: FinishStop, Input: s.count(a), piece: s.options.Manner.Piece}
	switch {
	case Situation(a.Play) == PlayRefusal:
		m.Refusal, m.Finish = "I can't help with that request.", FinishRefusal
	case Situation(a.Play) == PlayFilter:
		m.Blocked, m.Finish = true, FinishFilter
	case a.ToolForced || s.fits(a):
		m.Calls, m.Finish = []ToolCall{{ID: "standin-call-" + randomID(), Name: a.Tools[0], Arguments: text}}, FinishTool
	default:
		m.Text = text
	}
	fault.message(a, &m)
	if script.Message != nil {
		script.Message(&m)
	}
	limit(a, &m)
	m.Output = tokens(m.Reasoning + m.Text + m.Refusal)
	for _, c := range m.Calls {
		m.Output += tokens(c.Arguments)
	}
	fault.limited(a, &m)
	return m
}

// fits says whether a good model calls one of the tools on offer although it need
// not.
func (s *Server) fits(a Ask) bool {
	if len(a.Tools) == 0 {
		return false
	}
	for _, r := range s.options.References {
		if r.Text != "" && a.holds(r.Text) {
			return slices.Contains(a.Tools, r.Tool) || r.Tool == "" && a.ToolFree
		}
	}
	return a.ToolFree
}

// count is how many tokens the prompt of a request has.
func (s *Server) count(a Ask) int64 {
	if s.options.Count != nil {
		return s.options.Count(a)
	}
	return tokens(a.Prompt())
}

// output is the answer itself: what was told, else what the schema allows.
func (s *Server) output(a Ask, fault *Fault) string {
	for i, r := range s.options.References {
		if r.Text != "" && a.holds(r.Text) {
			if fault != nil && fault.CrossTalk {
				r = s.options.References[(i+1)%len(s.options.References)]
			}
			return r.Answer
		}
	}
	if s.options.Fallback != nil {
		return s.options.Fallback(a)
	}
	return fill(a)
}

// limit keeps an answer within the tokens and stop sequences of the request.
func limit(a Ask, m *Message) {
	for _, stop := range a.Stop {
		if i := strings.Index(m.Text, stop); i >= 0 && stop != "" {
			m.Text = m.Text[:i]
		}
	}
	if a.MaxOutputTokens == nil {
		return
	}
	left := *a.MaxOutputTokens
	cut := func(text string) string {
		kept := firstTokens(text, left)
		left -= tokens(kept)
		if len(kept) < len(text) {
			m.Finish = FinishLength
		}
		return kept
	}
	m.Reasoning, m.Text = cut(m.Reasoning), cut(m.Text)
	for i := range m.Calls {
		m.Calls[i].Arguments = cut(m.Calls[i].Arguments)
	}
}

func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
