package mutant

func init() {
	policy := func(p Policy, scenario, invariant, description string) Mutant {
		return Mutant{Name: string(p), Scenario: scenario, Invariant: invariant, Description: description, Policy: []Policy{p}}
	}
	register(
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
