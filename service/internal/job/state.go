package job

// State is where an attempt stands.
type State string

const (
	// StateStarting: the row is committed and nothing was sent. A worker's claim
	// moves it on.
	StateStarting State = "starting"
	// StateRunning: a worker claimed it; committed before the first byte may leave.
	StateRunning State = "running"
	// StateUnknown is an attempt whose deadline or lease passed without a terminal
	// answer. The provider may still finish it. Only a terminal answer, an operator
	// or a resolution with evidence moves it on; a new attempt waits until then.
	StateUnknown State = "unknown"
	// StateReleased: still in flight, no longer blocking a new attempt, still a
	// contender. Entered from unknown by an operator, or at the soft deadline of a
	// job that asked for a race.
	StateReleased State = "released"
	// StateSucceeded: the one winner of its job. Terminal.
	StateSucceeded State = "succeeded"
	// StateLost: finished, but late or second. Terminal; a race row says to whom.
	StateLost State = "lost"
	// StateFailed: a definite failure, or an output that the contract rejects. Terminal.
	StateFailed State = "failed"
	// StateCancelled: fenced for ever; no path leads from here to succeeded. Terminal.
	StateCancelled State = "cancelled"
)

// Open reports whether an attempt in s keeps a new attempt from starting.
func (s State) Open() bool {
	return s == StateStarting || s == StateRunning || s == StateUnknown
}

// Contends reports whether an attempt in s may still win.
func (s State) Contends() bool {
	return s == StateRunning || s == StateUnknown || s == StateReleased
}

// Terminal reports whether nothing moves an attempt out of s.
func (s State) Terminal() bool {
	return s == StateSucceeded || s == StateLost || s == StateFailed || s == StateCancelled
}

// Status of a job, derived from it and its attempts.
type Status string

const (
	StatusOpen      Status = "open"
	StatusStarting  Status = "starting"
	StatusRunning   Status = "running"
	StatusUnknown   Status = "unknown"
	StatusSucceeded Status = "succeeded"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Ended reports whether a waiter need not wait any longer. A failed job may be
// started again by its owner, but nothing happens to it by itself.
func (s Status) Ended() bool {
	return s == StatusSucceeded || s == StatusFailed || s == StatusCancelled
}
