package mutant

func init() {
	policy := func(p Policy, scenario, invariant, description string) Mutant {
		return Mutant{Name: string(p), Scenario: scenario, Invariant: invariant, Description: description, Policy: []Policy{p}}
	}
	register(
		policy(PartialStreamIsResult, "sse-cut-mid-stream", "I4", "a stream that broke off is taken for what came of it"),
		policy(EndIsDone, "sse-cut-before-terminator", "I4", "the end of the connection is taken for the end of the answer"),
		policy(ReadErrorDiscards, "disconnect-after-last-byte", "I4", "a whole answer is dropped when its connection ends badly"),
		policy(HardLimitIsFailure, "sse-drip-past-idle-timeout", "I4", "a call that was given up at the hard limit has failed"),
		policy(ErrorBodyIsResult, "provider-200-error-body", "I4", "whatever comes with a 200 is a result"),
		policy(ResolveByJob, "callback-for-other-attempt", "I4", "what is said about an attempt counts for the first of its job that is not settled"),
		policy(HandshakeTimeoutIsFailure, "handshake-stall", "I4", "a handshake that was given up is a timeout, and a timeout a failure"),
		policy(HalfBodyIsRepaired, "silent-truncation", "I4", "a body that broke off is closed and taken for an answer"),
		policy(TLSNotVerified, "tls-expired", "I7", "a provider need not prove who it is"),
		policy(RejectedIsAskedForEver, "poison-job", "I10", "an answer that the contract rejects is asked for again until one is right"),
		policy(AnyByteRearms, "keepalive-pings-no-tokens", "I10", "a deadline does not pass while the connection lives"),
		policy(BudgetPerProvider, "retry-storm-bound", "I10", "the attempts of a job are counted for each provider apart"),
		policy(TakenKeyNotReadAgain, "conflict-while-first-uncommitted", "I1", "a key that turned up during the insert is called a conflict"),
		policy(PoolNeverRecovers, "postgres-restart-under-load", "I10", "after an outage the database is not tried again"),
		policy(CallInsideTransaction, "pool-exhausted", "I14", "a provider is called inside an open transaction"),
		policy(SlowStoreIsFailure, "row-locked-result-write", "I4", "an attempt whose result cannot be stored at once has failed"),
		policy(DeadlockNotRetried, "deadlock-40P01", "I10", "a transaction that was ended for a deadlock is given up"),
		policy(SerializationNotRetried, "serialization-40001", "I10", "a transaction that could not be serialized is given up"),
		policy(NeverReaped, "crash-before-provider-call", "I10", "nobody looks for attempts whose worker is gone"),
		policy(DeadlineIsFailure, "provider-stall-then-answer", "I4", "an attempt that misses its deadline has failed"),
		policy(ShutdownIsFailure, "graceful-shutdown-mid-call", "I4", "an attempt that is under way at SIGTERM has failed"),
		policy(ResetIsNotSent, "connect-refused-vs-reset", "I4", "a connection that breaks after the request counts as one that was refused"),
		policy(ServerErrorIsRefused, "provider-executed-then-500", "I4", "a 500 means that nothing was done"),
		policy(HiddenRetries, "sdk-hidden-retry", "I7", "the client below the attempt sends again by itself"),
		policy(SecondCallOnReject, "schema-invalid-then-valid", "I7", "an answer that the contract rejects is asked for again within the attempt"),
		policy(GateOpen, "failover-uncertified", "I12", "the gate is not asked"),
		policy(GateAskedOnce, "certificate-expires-mid-run", "I12", "the gate is asked at the decision and not again at the call"),
		policy(NoAttemptBudget, "failover-budget", "I10", "a job may have any number of attempts"),
		policy(NoBackoff, "provider-429-retry-after", "I7", "a provider is called again at once, whatever it asked for"),
	)
}
