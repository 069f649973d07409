package mutant

// The policies that the store and the worker ask about.
const (
	// LostCommitIsSuccess: an EOF at COMMIT is taken for success.
	LostCommitIsSuccess Policy = "lost-commit-is-success"
	// LostCommitIsRepeated: a transaction with a lost COMMIT is run again without
	// looking up whether it happened.
	LostCommitIsRepeated Policy = "lost-commit-is-repeated"
	// LostSubmitIsNew: a submit with a lost COMMIT is sent again as a new one.
	LostSubmitIsNew Policy = "lost-submit-is-new"
	// FailoverOnUnknown: the policy starts the next provider although nobody knows
	// how the attempt ended.
	FailoverOnUnknown Policy = "failover-on-unknown"
	// GateOpen: the gate is not asked.
	GateOpen Policy = "gate-open"
	// GateAskedOnce: the gate is asked at the decision and not again at the call.
	GateAskedOnce Policy = "gate-asked-once"
	// NoAttemptBudget: a job may have any number of attempts.
	NoAttemptBudget Policy = "no-attempt-budget"
	// NoBackoff: a provider is called again at once, whatever it asked for.
	NoBackoff Policy = "no-back-off"
	// DeadlineIsFailure: an attempt that misses its soft deadline has failed.
	DeadlineIsFailure Policy = "deadline-is-failure"
	// ShutdownIsFailure: an attempt that is under way at SIGTERM has failed.
	ShutdownIsFailure Policy = "shutdown-is-failure"
	// ResetIsNotSent: a connection that breaks after the request was sent counts
	// as one that was refused.
	ResetIsNotSent Policy = "reset-is-not-sent"
	// ServerErrorIsRefused: a 500 means that nothing was done.
	ServerErrorIsRefused Policy = "server-error-is-refused"
	// HiddenRetries: the client below the attempt sends again by itself.
	HiddenRetries Policy = "hidden-retries"
	// SecondCallOnReject: an answer that the contract rejects is asked for again
	// within the same attempt.
	SecondCallOnReject Policy = "second-call-on-reject"
)
