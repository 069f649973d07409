package cli

// Exit codes, one table for every command. When several apply, the order is
// usage, violation, infrastructure, inconclusive, ok.
const (
	ExitOK             = 0
	ExitViolation      = 1
	ExitInconclusive   = 2
	ExitInfrastructure = 3
	ExitUsage          = 64
	ExitInterrupted    = 130 // SIGINT
	ExitTerminated     = 143 // SIGTERM
)
