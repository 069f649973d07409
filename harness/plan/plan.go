// Package plan draws plans of operations and faults from a seed, plays them on a
// stage, and shrinks one that broke an invariant to the fewest steps that still
// break it.
//
// Randomness lives in Draw alone. What is played, kept and replayed is the plan:
// a list of steps in one order, each of which ends before the next begins. An
// operation that has to come while an answer is held finds it at a gate, never
// after a while.
package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// Format names the shape of a plan file.
const Format = "interlock-plan/1"

// Verb is what a step does.
type Verb string

// Operations: what clients and operators do.
const (
	Submit        Verb = "submit"         // Clients at once, then each again until it has an answer
	SubmitOther   Verb = "submit-other"   // the same key with another payload
	SubmitForeign Verb = "submit-foreign" // another owner under the same key
	Start         Verb = "start"          // Clients at once, with one trigger key each
	Cancel        Verb = "cancel"         // the job
	CancelAttempt Verb = "cancel-attempt" // attempt N
	Release       Verb = "release"        // attempt N
	Resolve       Verb = "resolve"        // attempt N, to failed
	Answer        Verb = "answer"         // lets the held call of attempt N go, or of all attempts with N 0
	Read          Verb = "read"           // the job, its attempts and races, once at each replica
)

// Faults, by edge. Those of a provider are set before the call comes.
const (
	LostResponse Verb = "lost-response" // of the next submit of the job
	LostRequest  Verb = "lost-request"
	Duplicate    Verb = "duplicate-delivery" // the balancer sends the next submit to two replicas
	AckLost      Verb = "ack-lost"           // of the next transaction that names the job's key or id
	CommitLost   Verb = "commit-lost"
	HoldCommit   Verb = "hold-commit"  // of client 1 of the next submit or start; the others come then, and it is let go when they are back or wait
	LockJob      Verb = "job-row-lock" // until the next answer of the job waits for it
	Stall        Verb = "stall"        // the call of attempt N, or that of each attempt with N 0, is held until an answer
	Refuse       Verb = "refuse"       // the provider refuses the call of attempt N
	BreakOff     Verb = "break-off"    // the answer to attempt N stops short
	Reject       Verb = "reject"       // the answer to attempt N breaks the contract
	KillWorker   Verb = "kill-worker"  // and start it again when its leases have passed
	KillAPI      Verb = "kill-api"
	PauseWorker  Verb = "pause-worker" // past its leases
)

// edges says where each fault acts.
var edges = map[Verb]string{
	LostResponse: fault.ClientAPI, LostRequest: fault.ClientAPI, Duplicate: fault.ClientAPI,
	AckLost: fault.APIPostgres, CommitLost: fault.APIPostgres, HoldCommit: fault.APIPostgres, LockJob: fault.APIPostgres,
	Stall: fault.WorkerProvider, Refuse: fault.WorkerProvider, BreakOff: fault.WorkerProvider, Reject: fault.WorkerProvider,
	KillWorker: fault.Processes, KillAPI: fault.Processes, PauseWorker: fault.Processes,
}

var operations = []Verb{Submit, SubmitOther, SubmitForeign, Start, Cancel, CancelAttempt, Release, Resolve, Answer, Read}

// Step is one operation or one fault.
type Step struct {
	Do      Verb   `json:"do"`
	Job     string `json:"job,omitempty"`     // a word; empty for processes
	N       int    `json:"n,omitempty"`       // number of the attempt
	Clients int    `json:"clients,omitempty"` // at once; 0 is one
}

// Fault reports whether the step is a fault.
func (s Step) Fault() bool { return edges[s.Do] != "" }

// Edge is where a fault acts: client-api, api-postgres, worker-provider, process.
func (s Step) Edge() string { return edges[s.Do] }

// Plan is what is played.
type Plan struct {
	Format    string       `json:"format"`
	Seed      int64        `json:"seed"`
	Number    int          `json:"number"`              // of the plans of that seed, from 1
	Mutant    string       `json:"mutant,omitempty"`    // what the service ran with
	Invariant invariant.ID `json:"invariant,omitempty"` // that it broke
	Steps     []Step       `json:"steps"`
}

// Size counts its operations and its faults.
func (p Plan) Size() (operations, faults int) {
	for _, s := range p.Steps {
		if s.Fault() {
			faults++
		} else {
			operations++
		}
	}
	return operations, faults
}

// Limits of a plan file.
const (
	maxSteps   = 1000
	maxClients = 64
	maxN       = 8
	maxFile    = 1 << 20
)

var jobName = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)

// Check says what is wrong with a plan, in one sentence with the step.
func (p Plan) Check() error {
	if p.Format != Format {
		return fmt.Errorf("format is %q, and %s is wanted", p.Format, Format)
	}
	if len(p.Steps) == 0 || len(p.Steps) > maxSteps {
		return fmt.Errorf("a plan has 1 to %d steps, not %d", maxSteps, len(p.Steps))
	}
	if _, known := invariant.ByID(p.Invariant); p.Invariant != "" && !known {
		return fmt.Errorf("there is no invariant %q", p.Invariant)
	}
	for i, s := range p.Steps {
		needsN := slices.Contains([]Verb{CancelAttempt, Release, Resolve, Refuse, BreakOff, Reject}, s.Do)
		switch {
		case !s.Fault() && !slices.Contains(operations, s.Do):
			return fmt.Errorf("step %d: there is no %q; operations are %v", i+1, s.Do, operations)
		case s.Edge() == fault.Processes && s.Job != "":
			return fmt.Errorf("step %d: %s concerns a process, not job %q", i+1, s.Do, s.Job)
		case s.Edge() != fault.Processes && !jobName.MatchString(s.Job):
			return fmt.Errorf("step %d: %s needs the name of a job, such as a, not %q", i+1, s.Do, s.Job)
		case s.N < 0 || s.N > maxN || needsN && s.N == 0:
			return fmt.Errorf("step %d: %s needs the number of an attempt, 1 to %d", i+1, s.Do, maxN)
		case s.Clients < 0 || s.Clients > maxClients:
			return fmt.Errorf("step %d: 1 to %d clients at once, not %d", i+1, maxClients, s.Clients)
		}
	}
	return nil
}

// Bytes is the plan as its file holds it.
func (p Plan) Bytes() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(p) // strings and numbers: it cannot fail
	return b.Bytes()
}

// Write puts the plan into a new file or over an old one, whole or not at all.
func (p Plan) Write(path string) error {
	unfinished := path + ".unfinished"
	err := os.WriteFile(unfinished, p.Bytes(), 0o644)
	if err == nil {
		err = os.Rename(unfinished, path)
	}
	if err != nil {
		_ = os.Remove(unfinished)
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

// Load reads a plan file and checks it.
func Load(path string) (Plan, error) {
	var p Plan
	file, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("read plan: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return p, fmt.Errorf("read plan: %w", err)
	}
	if len(text) > maxFile {
		return p, fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, fmt.Errorf("%s is no plan: %w", path, err)
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return p, fmt.Errorf("%s holds more than one plan", path)
	}
	if err := p.Check(); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
