package history

// Fault is one fault that was armed.
type Fault struct {
	r *Recorder
	e Event
}

// FaultsMayStayQuiet says that the faults of this recorder are those of a random
// plan: one that does not fire takes nothing from the worth of its history. Call
// it before anything is armed.
func (r *Recorder) FaultsMayStayQuiet() { r.quiet = true }

// Armed records that a fault is in place and may act from now on.
func (r *Recorder) Armed(name string, facts FaultFacts) *Fault {
	facts.MayStayQuiet = facts.MayStayQuiet || r.quiet
	e := Event{Lane: "fault", Actor: facts.Edge, Kind: Armed, Op: name, Call: r.NextCall()}
	r.Record(e, facts)
	return &Fault{r: r, e: e}
}

// Fired records that the fault acted, and how that is known. A scenario whose
// fault never fired proves nothing.
func (f *Fault) Fired(evidence string) Event { return f.record(Fired, FaultFacts{Evidence: evidence}) }

// FiredOn is Fired for a fault that hit a known job or attempt.
func (f *Fault) FiredOn(job, attempt, evidence string) Event {
	e := f.e
	e.Kind, e.Job, e.Attempt = Fired, job, attempt
	return f.r.Record(e, FaultFacts{Evidence: evidence})
}

// Healed records that the fault no longer acts.
func (f *Fault) Healed() Event { return f.record(Healed, FaultFacts{}) }

func (f *Fault) record(kind Kind, facts FaultFacts) Event {
	e := f.e
	e.Kind = kind
	return f.r.Record(e, facts)
}

// Declare records a place that the scenario must pass (a gate that must be
// reached, a lock that must be waited on).
func (r *Recorder) Declare(probe string) {
	r.Record(Event{Lane: "harness", Kind: Declared, Op: probe}, nil)
}

// Reach records that it was passed.
func (r *Recorder) Reach(probe, evidence string) {
	r.Record(Event{Lane: "harness", Kind: Reached, Op: probe}, ProbeFacts{Evidence: evidence})
}

// Phase opens the next part of the scenario.
func (r *Recorder) Phase(name string, facts PhaseFacts) {
	r.Record(Event{Lane: "harness", Kind: Phase, Op: name}, facts)
}

// Note records anything else; op says what.
func (r *Recorder) Note(lane, actor, op string, data any) Event {
	return r.Record(Event{Lane: lane, Actor: actor, Kind: Note, Op: op}, data)
}

// Infrastructure records that the stage itself broke: what follows says nothing
// about the target.
func (r *Recorder) Infrastructure(err error) {
	r.Note("harness", "", NoteInfrastructure, ErrorFacts{Error: err.Error()})
}

// Certified records which certificate is in force for a provider from now on.
func (r *Recorder) Certified(facts CertifiedFacts) {
	r.Note("harness", facts.Provider, NoteCertified, facts)
}

// Resources records what a process holds now.
func (r *Recorder) Resources(process string, facts ResourceFacts) {
	r.Note("harness", process, NoteResources, facts)
}

// Taken records that the target was seen storing a submit of owner under key,
// whole, before anything happened to the client that had sent it.
func (r *Recorder) Taken(owner, key, evidence string) {
	r.Record(Event{Lane: "harness", Kind: Note, Op: NoteTaken, Owner: owner, Key: key}, ProbeFacts{Evidence: evidence})
}
