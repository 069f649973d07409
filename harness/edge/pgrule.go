package edge

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Place is where in a transaction a rule acts.
type Place string

const (
	// BeforeStatement is before the statement that completes the match leaves
	// for the server.
	BeforeStatement Place = "before the statement"
	// BeforeCommit is before the COMMIT leaves for the server: the server
	// never learns of it and rolls back.
	BeforeCommit Place = "before the commit"
	// AfterCommit is after the server said that it committed and before the
	// service hears of it.
	AfterCommit Place = "after the commit"
)

// Deed is what a rule does there.
type Deed string

const (
	Close Deed = "close" // the connection ends in order
	Half  Deed = "half"  // half of the answer passes, then the connection ends (AfterCommit only)
	RST   Deed = "reset" // the connection is reset
	Hold  Deed = "hold"  // the message waits until Release
)

// Victim picks one transaction. All that is given must be seen in it.
type Victim struct {
	// Values occur in what is bound to a statement, or in its text. A UUID is
	// found in its binary form too.
	Values []string
	// Statement occurs in the SQL of one statement, in any case.
	Statement string
	// Reads also picks transactions that write nothing.
	Reads bool
}

// Rule is a one-shot fault between a service and PostgreSQL.
type Rule struct {
	Victim Victim
	Place  Place
	Deed   Deed

	relay    *Postgres
	told     func(evidence string)
	patterns [][]byte // alternatives by value, see compile
	of       []int    // patterns[i] stands for Values[of[i]]

	mu       sync.Mutex
	taken    bool
	fired    bool
	backend  uint32
	evidence string
	arrived  chan struct{}
	released chan struct{}
	release  sync.Once
}

func newRule(relay *Postgres, v Victim, p Place, d Deed, told func(string)) (*Rule, error) {
	if len(v.Values) == 0 && v.Statement == "" {
		return nil, errors.New("a rule without a victim would hit anybody: name a value or a statement")
	}
	if d == Half && p != AfterCommit {
		return nil, fmt.Errorf("half an answer is possible %s only", AfterCommit)
	}
	r := &Rule{Victim: v, Place: p, Deed: d, relay: relay, told: told, arrived: make(chan struct{}), released: make(chan struct{})}
	for i, value := range v.Values {
		if value == "" {
			return nil, errors.New("an empty value occurs everywhere")
		}
		r.patterns, r.of = append(r.patterns, []byte(value)), append(r.of, i)
		if raw, err := hex.DecodeString(strings.ReplaceAll(value, "-", "")); err == nil && len(raw) == 16 {
			r.patterns, r.of = append(r.patterns, raw), append(r.of, i)
		}
	}
	return r, nil
}

// Fired says whether the rule acted.
func (r *Rule) Fired() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fired
}

// Evidence is how that is known: what the server had said before the cut.
func (r *Rule) Evidence() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.evidence
}

// Backend is the process of the server whose transaction the rule hit, 0 before it fired.
func (r *Rule) Backend() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int(r.backend)
}

// Arrived is closed when the rule fired.
func (r *Rule) Arrived() <-chan struct{} { return r.arrived }

// Await waits until the rule fired.
func (r *Rule) Await(ctx context.Context) error {
	select {
	case <-r.arrived:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no transaction with %s came by: %w", r.Victim, ctx.Err())
	}
}

// Release lets a held message go on.
func (r *Rule) Release() { r.release.Do(func() { close(r.released) }) }

// Disarm takes the rule away if it has not fired, and lets go of what it
// holds.
func (r *Rule) Disarm() {
	r.relay.remove(r)
	r.Release()
}

func (r *Rule) fire(backend uint32, evidence string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fired {
		return
	}
	r.fired, r.backend, r.evidence = true, backend, fmt.Sprintf("backend %d: %s", backend, evidence)
	if r.told != nil {
		r.told(r.evidence)
	}
	close(r.arrived)
}

// take claims the rule for one transaction.
func (r *Rule) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken {
		return false
	}
	r.taken = true
	return true
}

// giveBack undoes take when the transaction did not come to the rule's place.
func (r *Rule) giveBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = false
}

func (v Victim) String() string {
	s := strings.Join(v.Values, " and ")
	if v.Statement != "" {
		s = strings.TrimSpace(s + " in " + v.Statement)
	}
	return s
}

// sight is what one transaction has shown of a rule's victim so far.
type sight struct {
	values    []bool
	statement bool
	wrote     bool
}

// see adds one statement, with what is bound to it, and says whether the
// victim is now complete.
func (r *Rule) see(s *sight, sql string, bound []byte) bool {
	if s.values == nil {
		s.values = make([]bool, len(r.Victim.Values))
	}
	for i, p := range r.patterns {
		if !s.values[r.of[i]] && bytes.Contains(bound, p) {
			s.values[r.of[i]] = true
		}
	}
	if r.Victim.Statement == "" || strings.Contains(strings.ToLower(sql), strings.ToLower(r.Victim.Statement)) {
		s.statement = true
	}
	s.wrote = s.wrote || writes(sql)
	if !s.statement || (!s.wrote && !r.Victim.Reads) {
		return false
	}
	for _, seen := range s.values {
		if !seen {
			return false
		}
	}
	return true
}
