package standin

// Faults of how an answer ends.
var endFaults = []Fault{
	{Name: "trunc-as-stop", Limited: func(_ Ask, m *Message) {
		if m.Finish == FinishLength {
			m.Finish = FinishStop
		}
	}},
	{Name: "trunc-as-tool_calls", Limited: func(_ Ask, m *Message) {
		if m.Finish == FinishLength && len(m.Calls) > 0 {
			m.Finish = FinishTool
		}
	}},
	{Name: "finish-novel", Limited: func(_ Ask, m *Message) {
		if m.Finish == FinishStop || m.Finish == FinishTool {
			m.Word = "concluded"
		}
	}},
	{Name: "finish-absent", Reply: func(a Ask, m Message, r *Reply) {
		if !a.Stream && m.Finish == FinishStop {
			for _, word := range []string{"stop", "end_turn", "STOP", "COMPLETE", "completed"} {
				r.replace(`":"`+word+`"`, `":null`)
			}
		}
	}},
	{Name: "refusal-as-json", Message: func(a Ask, m *Message) {
		if Situation(a.Play) == PlayRefusal {
			m.Text, m.Refusal, m.Finish = fill(a), "", FinishStop
		}
	}},
	{Name: "blocked-empty-ok", Message: func(a Ask, m *Message) {
		if m.Blocked {
			m.Blocked, m.Finish = false, FinishStop
		}
	}},
	{Name: "only-reasoning", Message: func(a Ask, m *Message) {
		if a.Play == "" {
			m.Reasoning, m.Text = m.Text, ""
			if len(m.Calls) > 0 {
				m.Reasoning, m.Calls, m.Finish = m.Calls[0].Arguments, nil, FinishStop
			}
		}
	}},
	{Name: "empty-ok", Message: func(a Ask, m *Message) {
		if a.Play == "" {
			m.Text = ""
			if len(m.Calls) > 0 {
				m.Calls, m.Finish = nil, FinishStop
			}
		}
	}},
	{Name: "usage-absent", Limited: func(_ Ask, m *Message) { m.NoUsage = true }},
	{Name: "usage-total-off", Limited: func(_ Ask, m *Message) { m.Extra = 7 }},
	{Name: "usage-negative", Limited: func(_ Ask, m *Message) { m.Input = -m.Input - 1 }},
	{Name: "usage-frozen", Limited: func(_ Ask, m *Message) { m.Output = 1 }},
	{Name: "answers-any-model", AnyModel: true},
	{Name: "model-swap", Limited: func(_ Ask, m *Message) { m.Model = "standin-other-9" }},
}

// replace changes text in all pieces of a reply.
func (r *Reply) replace(old, with string) {
	for i := range r.Pieces {
		p := &r.Pieces[i]
		if p.Raw != nil {
			p.Raw = replaceAll(p.Raw, old, with)
		}
		p.Data = string(replaceAll([]byte(p.Data), old, with))
	}
}
