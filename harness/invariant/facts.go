package invariant

import (
	"math"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// never is the time of something that did not happen.
const never = math.MaxInt64

// History is a history made ready for the invariants.
type History struct{ facts *facts }

// Open prepares the events of one scenario (or of a whole run).
func Open(events []history.Event) History {
	c := NewCollector()
	for _, e := range events {
		c.Add(e)
	}
	return c.History()
}

// facts is what the invariants read: small values, no events, so that a hundred
// thousand operations fit. All times are event numbers: of two things a surely
// came before b when a.at < b.from.
type facts struct {
	ops      []*operation
	jobs     map[string]*job
	jobOrder []*job
	attempts map[string]*attempt
	keys     map[ownerKey]*key
	keyOrder []*key
	owners   map[string]bool // who did anything in this history
	calls    []*call
	reads    []tableRead // complete ones
	faults   []*fault
	fired    bool // at least one fault acted
	phases   []phase
	notes    []history.Event
	declared map[string]int64 // probes, by name
	reached  map[string]bool
	// decoded notes, in order
	certificates []certified
	resources    []counted
	taken        []taken
	broken       []broken
}

// broken is data that could not be decoded.
type broken struct {
	n    int64
	ours bool // the harness wrote it, not the target
	why  string
}

// taken is a submit that was seen being stored.
type taken struct {
	n   int64
	key *key
}

type ownerKey struct{ owner, name string }

// key is one (owner, key) with all that clients did to it.
type key struct {
	ownerKey
	submits []*operation
	jobs    []*job // jobs that are known to belong to it
}

// operation is a client operation with its decoded outcome.
type operation struct {
	op, actor, owner, key string
	on, attempt           string // job and attempt that it names
	kind                  history.Kind
	status                int
	from, at              int64 // invoke and outcome; at is never where there is none
	submit                *submitted
	request               *history.RequestFacts
	problem               *history.Problem
	told, toldAttempt     string // job and attempt that the answer is about
	view                  jobSeen
	listed                []string // jobs that a list shows
}

// took reports whether the operation may have had an effect.
func (o *operation) took() bool { return o.kind != history.Fail }

// submitted is what a submit asked for.
type submitted struct {
	digest string
	intent
}

type intent struct {
	Provider string `json:"provider"`
	Contract string `json:"contract"`
	Race     bool   `json:"race"`
}

// What an operation that has no such thing points to.
var (
	noSubmit  = &submitted{}
	noRequest = &history.RequestFacts{}
	noProblem = &history.Problem{}
)

// job is everything known about one job.
type job struct {
	id       string
	key      *key
	provider string // of the intent
	contract string
	race     bool
	seen     []jobSeen
	attempts []*attempt
	moves    []moved
	races    []raced
	verbs    []*operation // everything but submits that names it
	markers  []*call      // answers whose text must show nowhere else
	// from of the last complete read of this job's attempts, moves and races
	attemptsRead, movesRead, racesRead int64
}

// jobSeen is one sight of a job, in an answer or a row.
type jobSeen struct {
	from, at     int64
	row, absent  bool
	wasCancelled bool
	version      int64
	status       string
	completedBy  string
	xmin         string
	fingerprint  string
	contract     string
	provider     string
	digest       string // of the result
	result       string // how it begins
}

// ended reports whether the job shows a final outcome: completed or cancelled.
func (s jobSeen) ended() bool { return s.completed() || s.cancelled() }

func (s jobSeen) completed() bool { return s.completedBy != "" || s.status == "succeeded" }

func (s jobSeen) cancelled() bool { return s.wasCancelled || s.status == "cancelled" }

// attempt is everything known about one attempt.
type attempt struct {
	id       string
	job      *job
	n        int
	provider string
	seen     []attemptSeen
	moves    []moved
	calls    []*call
}

type attemptSeen struct {
	from, at    int64
	row, absent bool
	read        int64 // call of the answer or table read that showed it
	id          string
	state       string
	reason      string
}

type moved struct {
	from, at int64
	id       int64
	attempt  string
	event    string // job.submitted, attempt.moved ...
	source   string
	target   string
	actor    string
	reason   string
}

type raced struct {
	at      int64
	id      int64
	attempt string
	winner  string
}

// call is one provider call.
type call struct {
	arrived  int64
	atUS     int64
	job      string
	attempt  string
	provider string
	answered int64 // 0: never
	// notBeforeUS is when the provider may be called again, where the answer said so.
	notBeforeUS int64
	verdict     string
	output      string // digest of the result that a right reader takes
	marker      string
	shownAt     int64 // first event after the answer that shows marker
}

// tableRead is one complete read of a table.
type tableRead struct {
	table    string
	from, at int64
	owners   []string
}

func (r tableRead) covers(owner string) bool {
	return len(r.owners) == 0 || slices.Contains(r.owners, owner)
}

type fault struct {
	name         string
	armed        int64
	healed       int64 // never where it was not lifted
	fired        bool
	mayStayQuiet bool
	unproven     string // provider that cannot prove who it is meanwhile
}

type phase struct {
	history.Event
	facts history.PhaseFacts
}

type certified struct {
	history.Event
	facts history.CertifiedFacts
}

type counted struct {
	history.Event
	facts history.ResourceFacts
}

// phase returns the part called name; its N is 0 where there is none.
func (f *facts) phase(name string) phase {
	for _, p := range f.phases {
		if p.Op == name {
			return p
		}
	}
	return phase{}
}

// resolved reports whether anybody asked, before event n, to resolve a.
func (a *attempt) resolved(before int64) bool { return a.asked(history.OpResolve, before) != nil }

// asked returns the first operation op on a that may have taken effect and was
// invoked before event n.
func (a *attempt) asked(op string, before int64) *operation {
	if a.job == nil {
		return nil
	}
	for _, v := range a.job.verbs {
		if v.op == op && v.attempt == a.id && v.took() && v.from < before {
			return v
		}
	}
	return nil
}

// states of an attempt
func open(state string) bool {
	return state == "starting" || state == "running" || state == "unknown"
}

func terminal(state string) bool {
	return state == "succeeded" || state == "lost" || state == "failed" || state == "cancelled"
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// contractID cuts the version off id@version.
func contractID(name string) string {
	id, _, _ := strings.Cut(name, "@")
	return id
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func sortBy[T any](list []T, key func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return compare(key(a), key(b)) })
}
