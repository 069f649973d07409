package standin

// Fault makes a whole stand-in misbehave in one way: a seeded bad provider. Each
// hook changes one stage of an answer; nil hooks change nothing.
type Fault struct {
	Name        string
	Message     func(Ask, *Message)             // before limits are applied
	Usage       func(Ask, *Message)             // after limits, counts filled in
	Reply       func(Ask, Message, *Reply)      // the rendered answer
	Failure     func(Ask, Failure, *Reply)      // the rendered error response
	NoRequestID bool                            // no header states the id of the request
	Broken      func(a Ask, whole Reply) *Reply // instead of breaking a stream off
}

func (f *Fault) message(a Ask, m *Message) {
	if f != nil && f.Message != nil {
		f.Message(a, m)
	}
}

func (f *Fault) usage(a Ask, m *Message) {
	if f != nil && f.Usage != nil {
		f.Usage(a, m)
	}
}

func (f *Fault) reply(a Ask, m Message, d dialect) Reply {
	r := d.reply(a, m)
	if f != nil && f.Reply != nil {
		f.Reply(a, m, &r)
	}
	return r
}

func (f *Fault) failure(a Ask, e Failure, d dialect) Reply {
	r := d.failure(e)
	if f != nil && f.Failure != nil {
		f.Failure(a, e, &r)
	}
	return r
}

func (f *Fault) broken(a Ask, whole Reply, n int, d dialect) Reply {
	if f != nil && f.Broken != nil {
		if r := f.Broken(a, whole); r != nil {
			return *r
		}
	}
	return whole.breakOff(n, d.broken(Failure{Status: 529, Message: "overloaded", Code: "overloaded_error"}))
}
