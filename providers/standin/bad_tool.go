package standin

import "fmt"

func inCalls(f func(m *Message)) func(Ask, *Message) {
	return func(_ Ask, m *Message) {
		if len(m.Calls) > 0 {
			f(m)
		}
	}
}

// Faults of tool calls.
var toolFaults = []Fault{
	{Name: "undeclared-tool", Message: inCalls(func(m *Message) { m.Calls[0].Name += "_v2" })},
	{Name: "args-double-encoded", Message: inCalls(func(m *Message) { m.Calls[0].Arguments = quoted(m.Calls[0].Arguments) })},
	{Name: "args-cut", Message: inCalls(func(m *Message) {
		m.Calls[0].Arguments = m.Calls[0].Arguments[:len(m.Calls[0].Arguments)/2]
	})},
	{Name: "choice-ignored", Message: func(a Ask, m *Message) { // a call is required, and text comes
		if len(m.Calls) > 0 {
			m.Text, m.Calls, m.Finish = "I have read the document and everything is in order.", nil, FinishStop
		}
	}},
	{Name: "called-twice", Message: inCalls(func(m *Message) {
		again := m.Calls[0]
		again.ID += "-2"
		m.Calls = append(m.Calls, again)
	})},
	{Name: "id-reuse", Message: inCalls(func(m *Message) { m.Calls[0].ID = "standin-call-1" })},
	{Name: "call-as-text", Message: inCalls(func(m *Message) {
		m.Text = fmt.Sprintf("<tool_call>{\"name\":%q,\"arguments\":%s}</tool_call>", m.Calls[0].Name, m.Calls[0].Arguments)
		m.Calls, m.Finish = nil, FinishStop
	})},
	{Name: "under-trigger", Every: 7, Message: func(a Ask, m *Message) { // every seventh call that it is free to leave out
		if !a.ToolForced && len(m.Calls) > 0 {
			m.Text, m.Calls, m.Finish = "I have read it.", nil, FinishStop
		}
	}},
	{Name: "over-trigger", Message: func(a Ask, m *Message) {
		if !a.ToolForced && len(a.Tools) > 0 && len(m.Calls) == 0 && m.Finish == FinishStop {
			m.Calls = []ToolCall{{ID: "standin-call-" + randomID(), Name: a.Tools[0], Arguments: fill(a)}}
			m.Text, m.Finish = "", FinishTool
		}
	}},
}
