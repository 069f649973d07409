package standin

// Fault makes a whole stand-in misbehave in one way: a seeded bad provider. Each
// hook changes one stage of an answer; nil hooks change nothing.
type Fault struct {
	Name  string
	Every int // of so many calls one is spoiled; 0 and 1 spoil all

	Message func(Ask, *Message)             // before limits are applied
	Limited func(Ask, *Message)             // after limits, counts filled in
	Reply   func(Ask, Message, *Reply)      // the rendered answer
	Failure func(Failing, *Reply)           // the rendered error response
	Broken  func(a Ask, whole Reply) *Reply // instead of breaking a stream off

	Script      func(Ask) *Answer // an answer that stops, waits or drips
	NoRequestID bool              // no header states the id of the request
	AnyModel    bool              // answers for models that it does not serve
	AnyField    bool              // drops parameters that it does not know
	CrossTalk   bool              // gives one request the answer to another
	Prompt      string            // renders or counts prompts wrongly, in this way of providers/prompt/standin

	Store func([]byte) []byte // what a job service behind it makes of an answer
}

// on returns the fault if it strikes this call, else nil.
func (f *Fault) on(a Ask) *Fault {
	if f == nil || f.Every > 1 && a.Call%f.Every != 0 {
		return nil
	}
	return f
}

func (f *Fault) message(a Ask, m *Message) {
	if f != nil && f.Message != nil {
		f.Message(a, m)
	}
}

func (f *Fault) limited(a Ask, m *Message) {
	if f != nil && f.Limited != nil {
		f.Limited(a, m)
	}
}

func (f *Fault) reply(a Ask, m Message, d dialect) Reply {
	r := d.reply(a, m)
	if f != nil && f.Reply != nil {
		f.Reply(a, m, &r)
	}
	return r
}

// Failing is a request that is to be refused.
type Failing struct {
	Ask     Ask
	Failure Failure
	Render  func(Message) Reply // how an answer would have looked
}

func (f *Fault) failure(a Ask, e Failure, d dialect) Reply {
	r := d.failure(e)
	if f != nil && f.Failure != nil {
		f.Failure(Failing{a, e, func(m Message) Reply { return d.reply(a, m) }}, &r)
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
