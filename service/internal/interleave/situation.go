package interleave

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// Situation is how the one job stands when the transactions of a set begin.
type Situation string

const (
	// New: there is no job yet.
	New Situation = "new"
	// Waiting: its first attempt is not claimed yet.
	Waiting Situation = "waiting"
	// Running: its attempt runs, and its lease has passed.
	Running Situation = "running"
	// Unknown: its attempt is unknown.
	Unknown Situation = "unknown"
	// Raced: the first attempt is released, a second one runs with a passed lease.
	Raced Situation = "raced"
	// Queued: the first attempt is released, a second one is not claimed yet.
	Queued Situation = "queued"
	// Idle: its attempt has failed, none is open.
	Idle Situation = "idle"
)

// begun are the states of the attempts, oldest first.
var begun = map[Situation][]job.State{
	New:     nil,
	Waiting: {job.StateStarting},
	Running: {job.StateRunning},
	Unknown: {job.StateUnknown},
	Raced:   {job.StateReleased, job.StateRunning},
	Queued:  {job.StateReleased, job.StateStarting},
	Idle:    {job.StateFailed},
}

// situations in the order in which they are listed.
var situations = []Situation{New, Waiting, Running, Unknown, Raced, Queued, Idle}

// Transaction is one of the store's moves.
type Transaction string

// The transactions that are set against each other.
const (
	Submit        Transaction = "submit"
	Start         Transaction = "start"
	Claim         Transaction = "claim"
	Complete      Transaction = "complete"
	CancelAttempt Transaction = "cancel-attempt"
	CancelJob     Transaction = "cancel-job"
	Release       Transaction = "release"
	Reap          Transaction = "reap"
	Resolve       Transaction = "resolve"
)

var transactions = []Transaction{Submit, Start, Claim, Complete, CancelAttempt, CancelJob, Release, Reap, Resolve}

// More that happens beside them. It joins the pairs only.
const (
	Heartbeat     Transaction = "heartbeat"      // the worker of the newest attempt renews its lease
	Fail          Transaction = "fail"           // a worker's definite failure
	MarkUnknown   Transaction = "mark-unknown"   // a worker's deadline passes
	StaleComplete Transaction = "stale-complete" // a worker settles an attempt with another's fence
	StaleFail     Transaction = "stale-fail"
	StaleUnknown  Transaction = "stale-mark-unknown"
	StrangerStart Transaction = "stranger-start" // another owner has the id of the job
	Retry         Transaction = "retry"          // a start with the key of its click
	SubmitNext    Transaction = "submit-next"    // the owner's next job, under another key
)

// refused are those that the clean store refuses; each is set against the nine.
var refused = []Transaction{StaleComplete, StaleFail, StaleUnknown, StrangerStart}

var beside = slices.Concat(refused, []Transaction{Heartbeat, Fail, MarkUnknown, Retry, SubmitNext})

// settles are what a worker does that holds an attempt.
var settles = []Transaction{Complete, Heartbeat, Fail, MarkUnknown, StaleComplete, StaleFail, StaleUnknown}

// Set is transactions that run at once in one situation.
type Set struct {
	Situation    Situation
	Transactions []Transaction
}

func (s Set) String() string {
	names := make([]string, len(s.Transactions))
	for i, t := range s.Transactions {
		names[i] = string(t)
	}
	return string(s.Situation) + "/" + strings.Join(names, "+")
}

func (s Set) has(t ...Transaction) bool {
	return slices.ContainsFunc(s.Transactions, func(u Transaction) bool { return slices.Contains(t, u) })
}

// possible says whether the set can happen at all: nobody can name a job that
// does not exist yet, nor has an answer for an attempt that nobody claimed.
func (s Set) possible() bool {
	switch s.Situation {
	case New:
		return s.has(Submit) && !s.has(Start, CancelAttempt, CancelJob, Release, Resolve, StrangerStart, Retry) && !s.has(settles...)
	case Waiting:
		return !s.has(settles...)
	}
	return true
}

// apart says whether transaction i shares no row with the others of the set: a
// submit of a key that is taken reaches the job by its key, which nobody may
// change (the service has no right to), and the others by its id.
func (s Set) apart(i int) bool {
	for j, t := range s.Transactions {
		if j != i && (t == Submit) == (s.Transactions[i] == Submit) {
			return false
		}
	}
	return s.Situation != New
}

// twin returns an earlier transaction of the set that does the very same as i, or
// -1: to swap the two in a schedule changes nothing but their numbers.
func (s Set) twin(i int) int {
	t := s.Transactions[i]
	for j := i - 1; j >= 0; j-- {
		if s.Transactions[j] != t {
			continue
		}
		switch t {
		case Start, Claim, CancelJob, Release, Reap, Heartbeat, StrangerStart, Retry, SubmitNext:
			return j
		case Submit:
			if s.Situation == New && j == 0 && i == 1 {
				return j
			}
		}
		return -1
	}
	return -1
}

// sees says whether a plain read of one transaction may show what the other has
// committed.
func (s Set) sees(reader, writer int) bool {
	return s.Situation == New || s.Transactions[writer] != Submit || s.Transactions[reader] == Submit
}

// Pairs are all pairs of transactions, equal ones included, in every situation
// in which they are possible; with what happens beside the nine.
func Pairs() []Set {
	var sets []Set
	all := slices.Concat(transactions, beside)
	for i, a := range all {
		for _, b := range all[i:] {
			if slices.Contains(refused, a) && slices.Contains(beside, b) {
				continue // one of the two moves nothing
			}
			for _, in := range situations {
				if s := (Set{in, []Transaction{a, b}}); s.possible() {
					sets = append(sets, s)
				}
			}
		}
	}
	return sets
}

// Triples are all triples of transactions, equal ones included, each in the
// situation in which most of them have something to do.
func Triples() []Set {
	var sets []Set
	for i, a := range transactions {
		for j, b := range transactions[i:] {
			for _, c := range transactions[i+j:] {
				s := Set{Transactions: []Transaction{a, b, c}}
				s.Situation = s.fitting()
				sets = append(sets, s)
			}
		}
	}
	return sets
}

// fitting is the situation in which most of the set's transactions can act.
func (s Set) fitting() Situation {
	completes := 0
	for _, t := range s.Transactions {
		if t == Complete {
			completes++
		}
	}
	switch {
	case !s.has(Start, Claim, Complete, CancelAttempt, CancelJob, Release, Reap, Resolve),
		s.has(Submit) && !s.has(Start, Complete, CancelAttempt, CancelJob, Release, Resolve):
		return New
	case s.has(Claim):
		return Queued
	case completes > 1 || s.has(Reap):
		return Raced
	case s.has(Complete, Release, Resolve, CancelAttempt):
		return Unknown
	}
	return Idle
}

// ParseSet reads what String writes: raced/complete+cancel-job.
func ParseSet(text string) (Set, error) {
	in, list, ok := strings.Cut(text, "/")
	s := Set{Situation: Situation(in)}
	if !ok || !slices.Contains(situations, s.Situation) {
		return s, fmt.Errorf("a set is SITUATION/TRANSACTION+TRANSACTION, and %q does not begin with one of %s", text, join(situations))
	}
	for name := range strings.SplitSeq(list, "+") {
		t := Transaction(name)
		if all := slices.Concat(transactions, beside); !slices.Contains(all, t) {
			return s, fmt.Errorf("there is no transaction %q; there are %s", name, join(all))
		}
		s.Transactions = append(s.Transactions, t)
	}
	if len(s.Transactions) < 2 || len(s.Transactions) > maxSessions {
		return s, fmt.Errorf("a set has 2 to %d transactions, not %d", maxSessions, len(s.Transactions))
	}
	if !s.possible() {
		return s, fmt.Errorf("%s cannot happen: in situation %s a transaction has nothing that it could name", text, s.Situation)
	}
	return s, nil
}

func join[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}

// maxSessions bounds a set: four transactions have thousands of orders.
const maxSessions = 4
