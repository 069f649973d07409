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
	// SecondCallOnReject: an answer that the contract rejects is asked for again
	// within the same attempt.
	SecondCallOnReject Policy = "second-call-on-reject"
)
