package history

// Operation is a client operation with its outcome.
type Operation struct {
	Invoke Event
	// End is the ok, fail or info event; of a call that never ended it is an
	// Info event with N 0.
	End Event
}

// Kind returns OK, Fail or Info.
func (o Operation) Kind() Kind { return o.End.Kind }

// Ended reports whether an outcome was recorded at all.
func (o Operation) Ended() bool { return o.End.N != 0 }

// ProviderCalled is a provider call with what the stand-in did.
type ProviderCalled struct {
	Arrive Event
	Answer Event // N 0 where the call was never answered
}

// Answered reports whether the stand-in did anything with the call.
func (p ProviderCalled) Answered() bool { return p.Answer.N != 0 }

// Faulted is one fault with what it did.
type Faulted struct {
	Armed  Event
	Fired  []Event
	Healed Event // N 0 where it was never lifted
}

// Operations pairs invoke with ok, fail or info by call, in order of invocation.
// An outcome without an invocation is left out; a second outcome is too (what
// was known first stands).
func Operations(events []Event) []Operation {
	at := map[int64]int{}
	var ops []Operation
	for _, e := range events {
		switch e.Kind {
		case Invoke:
			at[e.Call] = len(ops)
			ops = append(ops, Operation{Invoke: e, End: Event{Kind: Info, Call: e.Call}})
		case OK, Fail, Info:
			if i, ok := at[e.Call]; ok && !ops[i].Ended() {
				ops[i].End = e
			}
		}
	}
	return ops
}

// ProviderCalls pairs arrive with answer by call, in order of arrival.
func ProviderCalls(events []Event) []ProviderCalled {
	at := map[int64]int{}
	var calls []ProviderCalled
	for _, e := range events {
		switch e.Kind {
		case Arrive:
			at[e.Call] = len(calls)
			calls = append(calls, ProviderCalled{Arrive: e})
		case Answer:
			if i, ok := at[e.Call]; ok && !calls[i].Answered() {
				calls[i].Answer = e
			}
		}
	}
	return calls
}

// Faults pairs armed, fired and healed by call, in order of arming.
func Faults(events []Event) []Faulted {
	at := map[int64]int{}
	var faults []Faulted
	for _, e := range events {
		switch e.Kind {
		case Armed:
			at[e.Call] = len(faults)
			faults = append(faults, Faulted{Armed: e})
		case Fired:
			if i, ok := at[e.Call]; ok {
				faults[i].Fired = append(faults[i].Fired, e)
			}
		case Healed:
			if i, ok := at[e.Call]; ok {
				faults[i].Healed = e
			}
		}
	}
	return faults
}
