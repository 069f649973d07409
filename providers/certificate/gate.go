package certificate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

// Evidence is all that a gate goes by. It is read once; a gate does not see what
// changes afterwards.
type Evidence struct {
	Files    []File
	Trust    *Trust // nil with TrustErr
	TrustErr error
	// Revocations is the list that the trust file asks for.
	Revocations    []byte
	RevocationsErr error

	Profiles  map[string]providers.Profile // deployed, by name
	Contracts map[string]Contract          // deployed, by id

	Seen      *Seen     // nil: the gate has no memory
	NeedSeen  bool      // deny without memory
	Floor     time.Time // no honest clock stands before it, for example the build date
	Suspected map[string]string
	// Command begins the commands that are offered, default "interlock".
	Command string
}

// Contract is what the gate has to know of a deployed contract.
type Contract struct {
	ID, Version string
	Digest      string
	Fixtures    string   // digest of the files that a run rests on
	Must        []string // checks that must have passed
	Cases       int      // the plan: at least so many cases ...
	Repeats     int      // ... so many times each
	Independent bool     // the fallback must not share its upstream with the primary
}

// Name is id@version.
func (c Contract) Name() string { return c.ID + "@" + c.Version }

// Question: may From fail over to To for Contract, at a time?
type Question struct {
	From, To string
	Contract string // id, or id@version
	At       time.Time
	AsOf     bool // At was chosen by a person: the answer holds for that time only
	Needs    Needs
}

// Needs is what the request uses. The zero value needs nothing in particular.
type Needs struct {
	Mode     providers.Mode
	Stream   bool
	Input    int64 // tokens
	Language string
}

// Answer of the gate.
type Answer struct {
	Allow    bool     `json:"-"`
	Answer   string   `json:"answer"` // yes or no
	Exit     int      `json:"exit"`
	Detailed int      `json:"detailed_exit"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	Contract string   `json:"contract"`
	At       Time     `json:"at"`
	AsOf     bool     `json:"as_of,omitempty"`
	Reasons  []Reason `json:"reasons"`
	Notes    []string `json:"notes,omitempty"`

	Certificate string `json:"certificate,omitempty"` // digest of the statement that decided
	File        string `json:"file,omitempty"`
	Mode        Mode   `json:"mode,omitempty"`
	Issuer      string `json:"issuer,omitempty"`
	Serial      int64  `json:"serial,omitempty"`
	NotAfter    Time   `json:"not_after,omitzero"`
	Checked     []Fact `json:"checked,omitempty"`
}

// Fact is one line about the evidence.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Because is the first reason in one sentence, or why the answer is yes.
func (a Answer) Because() string {
	if len(a.Reasons) > 0 {
		return a.Reasons[0].Sentence
	}
	text := fmt.Sprintf("certificate of %s is valid until %s", a.To, a.NotAfter)
	if a.Mode == Replay {
		text += ", from recordings"
	}
	return text
}

// Gate answers questions. It never changes and may be asked by many at once.
type Gate struct {
	evidence Evidence
	entries  []*entry
	byRoute  map[string][]*entry // verified, by profile and contract@version
	broken   int
}

// NewGate reads and verifies all evidence.
func NewGate(e Evidence) *Gate {
	if e.Command == "" {
		e.Command = "interlock"
	}
	g := &Gate{evidence: e, byRoute: map[string][]*entry{}}
	if e.Trust == nil {
		return g
	}
	for _, f := range e.Files {
		n := load(f, e.Trust)
		g.entries = append(g.entries, n)
		if n.denied == nil || n.exposed {
			g.byRoute[n.profile+" "+n.contract] = append(g.byRoute[n.profile+" "+n.contract], n)
		} else {
			g.broken++
		}
	}
	return g
}

// Ask answers one question. It reads no file and no clock.
func (g *Gate) Ask(q Question) Answer {
	c, known := g.contract(q.Contract)
	a := Answer{From: q.From, To: q.To, Contract: c.Name(), At: At(q.At), AsOf: q.AsOf}
	if _, v := version(q.Contract); c.Version == "" && v == "" {
		a.Contract = c.ID
	}
	x := &asking{Gate: g, q: q, c: c, known: known, a: &a}
	x.decide()
	return a.close()
}

func (a Answer) close() Answer {
	if a.Reasons == nil {
		a.Reasons = []Reason{}
	}
	if len(a.Reasons) == 0 {
		a.Allow, a.Answer = true, "yes"
		return a
	}
	a.Answer = "no"
	// Order of exit codes when reasons are mixed: 1, 3, 2. The first reason of
	// the class that decides leads.
	rank := map[int]int{1: 0, 3: 1, 2: 2}
	slices.SortStableFunc(a.Reasons, func(x, y Reason) int { return cmp.Compare(rank[x.exit()], rank[y.exit()]) })
	a.Exit, a.Detailed = a.Reasons[0].exit(), a.Reasons[0].detailed()
	return a
}

func (g *Gate) contract(name string) (Contract, bool) {
	id, v := version(name)
	c, ok := g.evidence.Contracts[id]
	if !ok || v != "" && v != c.Version {
		return Contract{ID: id, Version: v}, false
	}
	return c, true
}

// Seen is what to remember from now on: the memory that the gate was given and
// what its evidence adds to it.
func (g *Gate) Seen(now time.Time) *Seen {
	s := g.evidence.Seen.clone()
	for _, list := range g.byRoute {
		for _, e := range list {
			if p := e.statement.Predicate; e.denied == nil && !p.NotBefore.After(now) {
				s.note(e.sequence(), p.Serial, p.NotBefore.Time)
			}
		}
	}
	if t := g.evidence.Trust; t != nil && t.Revocations != nil && g.evidence.RevocationsErr == nil {
		if l, err := readRevocations(g.evidence.Revocations, t.Revocations.Key, now, s.Revocations); err == nil {
			s.Revocations = l.Serial
		}
	}
	return s
}

// Summary describes one certificate that can be used, for lists and metrics.
type Summary struct {
	File, Profile, Contract string
	Digest                  string
	Mode                    Mode
	Serial                  int64
	NotBefore, NotAfter     Time
}

// List names the certificates that are signed by trusted keys.
func (g *Gate) List() []Summary {
	var out []Summary
	for _, e := range g.entries {
		if e.denied == nil {
			p := e.statement.Predicate
			out = append(out, Summary{e.file, e.profile, e.contract, e.digest, p.Mode, p.Serial, p.NotBefore, p.NotAfter})
		}
	}
	return out
}

func (g *Gate) certifyCommand(profile, contract string) string {
	id, _ := version(contract)
	parts := []string{g.evidence.Command, "certify", profile, "--contract", id}
	recorded := g.evidence.Profiles[profile].AllowLoopback // a stand-in: there is nobody else to ask
	if t := g.evidence.Trust; t != nil {
		recorded = slices.Contains(t.AcceptReplay, profile)
	}
	if !recorded {
		parts = append(parts, "--live")
	}
	return strings.Join(parts, " ")
}
