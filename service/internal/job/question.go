package job

import "time"

// AskPlan says how often a provider is asked about one attempt: the pause between
// two questions doubles from First to Longest, and after Most of them it is asked
// no more.
type AskPlan struct {
	First, Longest time.Duration
	Most           int
}

// Question is one question to a provider about work that it keeps under an id.
type Question struct {
	Attempt Attempt // unknown, released, or cancelled: then its work is to be stopped
	Job     Job     // Status, Attempts, LastEvent and Key are not filled
	Ref     string  // the provider's id of the work
	N       int     // 1, 2, ...
	Last    bool    // no other follows
}
