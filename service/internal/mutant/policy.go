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
)
