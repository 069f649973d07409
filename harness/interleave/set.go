package interleave

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/target"
)

// Operation is one of two things that happen to a job at once.
type Operation string

// The operations. All but Complete are requests.
const (
	Submit        Operation = "submit"       // under the job's key
	SubmitOther   Operation = "submit-other" // under the job's key, with another intent
	Start         Operation = "start"        // of one more attempt
	CancelJob     Operation = "cancel-job"
	CancelAttempt Operation = "cancel-attempt"
	Release       Operation = "release"
	Resolve       Operation = "resolve"
	Complete      Operation = "complete" // the provider answers an attempt
)

// route is the operation of the contract that a request needs.
var route = map[Operation]string{
	Submit: history.OpSubmit, SubmitOther: history.OpSubmit, Start: history.OpStart, CancelJob: history.OpCancel,
	CancelAttempt: history.OpCancelAttempt, Release: history.OpRelease, Resolve: history.OpResolve,
}

// operators are the operations that only an operator may do.
var operators = []Operation{CancelAttempt, Release, Resolve}

// Situation is how the job stands when the two begin.
type Situation string

// The situations.
const (
	New      Situation = "new"      // there is no job yet
	Running  Situation = "running"  // its attempt is at the provider
	Unknown  Situation = "unknown"  // the deadline of that attempt has passed
	Released Situation = "released" // and it was released
	Raced    Situation = "raced"    // and a second attempt is at the provider, whose deadline has passed too
)

var situations = []Situation{New, Running, Unknown, Released, Raced}

// Set is two operations that happen at once.
type Set struct {
	Situation  Situation
	Operations [2]Operation
}

func (s Set) String() string {
	return fmt.Sprintf("%s/%s+%s", s.Situation, s.Operations[0], s.Operations[1])
}

func (s Set) has(op Operation) bool { return slices.Contains(s.Operations[:], op) }

// sets are those in which the two meet: each wants what the other changes.
var sets = []Set{
	{New, [2]Operation{Submit, Submit}},
	{New, [2]Operation{Submit, SubmitOther}},
	{Running, [2]Operation{Submit, CancelJob}},
	{Running, [2]Operation{CancelJob, CancelJob}},
	{Running, [2]Operation{CancelJob, Complete}},
	{Running, [2]Operation{CancelAttempt, Complete}},
	{Running, [2]Operation{CancelAttempt, CancelJob}},
	{Unknown, [2]Operation{Release, Complete}},
	{Unknown, [2]Operation{Release, CancelJob}},
	{Unknown, [2]Operation{Release, Start}},
	{Unknown, [2]Operation{Resolve, Complete}},
	{Unknown, [2]Operation{CancelJob, Complete}},
	{Unknown, [2]Operation{CancelAttempt, Complete}},
	{Released, [2]Operation{Start, Start}},
	{Released, [2]Operation{Start, Complete}},
	{Released, [2]Operation{Start, CancelJob}},
	{Raced, [2]Operation{Complete, Complete}},
	{Raced, [2]Operation{CancelJob, Complete}},
	{Raced, [2]Operation{CancelAttempt, Complete}},
}

// LeftOut is a set that cannot be played on this target.
type LeftOut struct {
	Set string `json:"set"`
	Why string `json:"why"`
}

// Sets lists what can be played on a target: it has the routes, and operator says
// whether there is an operator's key.
func Sets(a *target.Adapter, operator bool) (can []Set, cannot []LeftOut) {
	for _, s := range sets {
		if why := s.lacks(a, operator); why != "" {
			cannot = append(cannot, LeftOut{s.String(), why})
			continue
		}
		can = append(can, s)
	}
	return can, cannot
}

func (s Set) lacks(a *target.Adapter, operator bool) string {
	ops := s.Operations[:]
	if s.Situation == Released || s.Situation == Raced {
		ops = append(ops, Release)
	}
	if s.Situation == Raced {
		ops = append(ops, Start)
	}
	for _, op := range ops {
		if route[op] != "" && a != nil && !a.Offers(route[op]) {
			return "the target does not offer " + route[op]
		}
		if slices.Contains(operators, op) && !operator {
			return "needs an operator's key of the target"
		}
	}
	if s.Situation != New && s.Situation != Running && a != nil && !a.Offers(history.OpAttempts) {
		return "the target does not offer " + history.OpAttempts + ", which shows that an attempt is unknown"
	}
	return ""
}

// ParseSet reads what String writes.
func ParseSet(text string) (Set, error) {
	for _, s := range sets {
		if s.String() == text {
			return s, nil
		}
	}
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.String()
	}
	return Set{}, fmt.Errorf("there is no pair %q; there are %s", text, strings.Join(names, ", "))
}

// ParseSchedule reads a schedule as a violation names it: the pair, and whose
// statement goes next, such as running/cancel-job+complete:001101.
func ParseSchedule(text string) (Set, []int, error) {
	name, digits, ok := strings.Cut(text, ":")
	if !ok || strings.Trim(digits, "01") != "" || digits == "" {
		return Set{}, nil, fmt.Errorf("a schedule is PAIR:DIGITS with digits 0 and 1, such as running/cancel-job+complete:001101, not %q", text)
	}
	s, err := ParseSet(name)
	if err != nil {
		return Set{}, nil, err
	}
	picks := make([]int, len(digits))
	for i, d := range digits {
		picks[i] = int(d - '0')
	}
	return s, picks, nil
}
