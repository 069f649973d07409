package mutant

// Policies of the HTTP contract that a mutant turns round.
const (
	KeyCachePerProcess Policy = "key-cache-per-process"
	KeyPerRequest      Policy = "key-per-request"
	KeyPerConnection   Policy = "key-per-connection"
	KeyPerReplica      Policy = "key-per-replica"
	KeyBeforeBody      Policy = "key-before-body"
	KeyBeforeContinue  Policy = "key-before-continue"
	KeyCutShort        Policy = "key-cut-short"
	PayloadIgnored     Policy = "payload-ignored"
	RawByteHash        Policy = "raw-byte-hash"
	HashAfterDefaults  Policy = "hash-after-defaults"
	HashSansProvider   Policy = "hash-without-provider"
	FailureRemembered  Policy = "failure-remembered"
	PartialBody        Policy = "partial-body"
	NoBodyDeadline     Policy = "no-body-deadline"
	RequestContext     Policy = "request-context"
	TriggerKeyIgnored  Policy = "trigger-key-ignored"
	ReadsFromCache     Policy = "reads-from-cache"
	GoroutineLeft      Policy = "goroutine-left"
	FloatNumbers       Policy = "float-numbers"
)

func init() {
	policy := func(p Policy, scenario, invariant, description string) Mutant {
		return Mutant{Name: string(p), Scenario: scenario, Invariant: invariant, Description: description, Policy: []Policy{p}}
	}
	register(
		policy(KeyCachePerProcess, "double-click-two-replicas", "I1", "keys are looked up in a map of the process, not in the database"),
		policy(KeyPerRequest, "lost-response-retry", "I1", "the server makes a new key for each request"),
		policy(KeyBeforeBody, "lost-request-retry", "I1", "the key is recorded before the body was read to its end"),
		policy(KeyPerConnection, "silent-client-replay", "I1", "duplicates are recognised by their connection"),
		policy(KeyPerReplica, "lb-duplicate-delivery", "I1", "duplicates are recognised only on the replica that saw the first"),
		policy(PayloadIgnored, "same-key-other-payload", "I2", "the payload is not part of the fingerprint"),
		policy(RawByteHash, "same-key-reordered-json", "I1", "the fingerprint is taken of the bytes as they came"),
		policy(HashAfterDefaults, "same-key-changed-default", "I2", "the fingerprint is taken after defaults were filled in"),
		policy(HashSansProvider, "same-key-other-provider", "I2", "the fingerprint leaves the provider out"),
		policy(FailureRemembered, "first-rolls-back-second-wins", "I10", "a failure of the store is remembered as the answer of the key"),
		policy(PartialBody, "truncated-request-body", "I1", "a body that broke off is taken for what arrived of it"),
		policy(NoBodyDeadline, "slow-drip-request", "I14", "a body may take for ever"),
		policy(KeyBeforeContinue, "expect-continue", "I1", "the key is recorded when the client asks whether it may send"),
		policy(KeyCutShort, "key-missing-or-oversize", "I1", "keys are cut and folded until they collide"),
		policy(RequestContext, "request-context-cancelled", "I8", "a client that goes away takes its request along"),
		policy(FloatNumbers, "numbers-alike", "I2", "numbers are compared as floats"),
		policy(GoroutineLeft, "storm-then-heal", "I14", "each submit leaves a goroutine behind"),
		policy(ReadsFromCache, "stale-replica-read", "I9", "a read is answered with what this process read first"),
		policy(TriggerKeyIgnored, "retry-click-twice", "I3", "the key of a retry click is not kept"),
	)
}
