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
	// LostStartIsNew: a start of an attempt with a lost COMMIT is run again as one
	// of another click.
	LostStartIsNew Policy = "lost-start-is-new"
	// AdvisoryLockTooShort: a submit looks for its key under an advisory lock that
	// ends before the insert.
	AdvisoryLockTooShort Policy = "advisory-lock-too-short"
	// TakenKeyNotReadAgain: whose insert met a key that was not there before has
	// met a conflict.
	TakenKeyNotReadAgain Policy = "taken-key-not-read-again"
	// JobAndAttemptApart: a job and its first attempt are two transactions.
	JobAndAttemptApart Policy = "job-and-attempt-apart"
	// PoolNeverRecovers: once the database could not be reached, it is not tried
	// again.
	PoolNeverRecovers Policy = "pool-never-recovers"
	// CallInsideTransaction: a provider is called inside an open transaction.
	CallInsideTransaction Policy = "call-inside-transaction"
	// SlowStoreIsFailure: an attempt whose result cannot be stored at once has
	// failed.
	SlowStoreIsFailure Policy = "slow-store-is-failure"
	// DeadlockNotRetried: a transaction that PostgreSQL ended for a deadlock is
	// given up.
	DeadlockNotRetried Policy = "deadlock-not-retried"
	// SerializationNotRetried: and so is one that could not be serialized.
	SerializationNotRetried Policy = "serialization-not-retried"
	// NeverReaped: nobody looks for leases that passed.
	NeverReaped Policy = "never-reaped"
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
	// RejectedIsAskedForEver: an answer that the contract rejects is asked for again
	// until one is right.
	RejectedIsAskedForEver Policy = "rejected-is-asked-for-ever"
	// AnyByteRearms: a deadline does not pass while the connection lives.
	AnyByteRearms Policy = "any-byte-rearms"
	// HardLimitIsFailure: a call that was given up at the hard limit has failed.
	HardLimitIsFailure Policy = "hard-limit-is-failure"
	// HandshakeTimeoutIsFailure: a handshake that was given up is recorded as a
	// timeout, not as something that was never sent.
	HandshakeTimeoutIsFailure Policy = "handshake-timeout-is-failure"
	// HalfBodyIsRepaired: a body that broke off is closed and taken for an answer.
	HalfBodyIsRepaired Policy = "half-body-is-repaired"
	// ReadErrorDiscards: a whole answer is dropped when its connection ends badly.
	ReadErrorDiscards Policy = "read-error-discards"
	// PartialStreamIsResult: a stream that broke off is taken for what came of it.
	PartialStreamIsResult Policy = "partial-stream-is-result"
	// EndIsDone: the end of the connection is taken for the end of the answer.
	EndIsDone Policy = "end-is-done"
	// ErrorBodyIsResult: whatever comes with a 200 is a result.
	ErrorBodyIsResult Policy = "error-body-is-result"
	// BudgetPerProvider: the attempts of a job are counted for each provider apart.
	BudgetPerProvider Policy = "budget-per-provider"
	// ResolveAnyState: what an operator or a callback says counts in any state.
	ResolveAnyState Policy = "resolve-any-state"
	// ResolveByJob: what is said about an attempt counts for the first of its job
	// that is not settled.
	ResolveByJob Policy = "resolve-by-job"
	// TLSNotVerified: a provider need not prove who it is.
	TLSNotVerified Policy = "tls-not-verified"
	// SecondCallOnReject: an answer that the contract rejects is asked for again
	// within the same attempt.
	SecondCallOnReject Policy = "second-call-on-reject"
)
