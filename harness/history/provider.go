package history

// ProviderCall is one request that arrived at a stand-in.
type ProviderCall struct {
	r *Recorder
	e Event
}

// Arrived records that the whole request was received. job and attempt are what
// its X-Job-Id and X-Attempt-Id say, empty where they are missing.
func (r *Recorder) Arrived(provider, job, attempt string, facts ArriveFacts) *ProviderCall {
	facts.Provider = provider
	e := Event{Lane: "provider", Actor: provider, Kind: Arrive, Op: "call", Call: r.NextCall(), Job: job, Attempt: attempt}
	r.Record(e, facts)
	return &ProviderCall{r: r, e: e}
}

// Answered records what the stand-in does with the call, before the last byte
// leaves. It is recorded once; a call that is never answered hangs.
func (c *ProviderCall) Answered(facts AnswerFacts) Event {
	facts.Provider = c.e.Actor
	e := c.e
	e.Kind, e.Status = Answer, facts.Status
	return c.r.Record(e, facts)
}

// Edge records what a proxy saw; op says what: open, close, cut, bytes.
func (r *Recorder) Edge(proxy, op string, data any) Event {
	return r.Record(Event{Lane: "edge", Actor: proxy, Kind: Edge, Op: op}, data)
}
