package console

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers/standin"
)

// mood is one way in which a stand-in answers the calls that a person causes.
type mood struct {
	ID, Name, Means string
	answer          stage.Answer
}

// moods lists them in the order of the page; the first is the good one.
var moods = []mood{
	{"good", "a good answer", "at once, and as the contract wants it", stage.Answer{}},
	{"slow", "slow", "a good answer after 5 seconds, past the usual deadline", stage.Answer{Delay: 5 * time.Second}},
	{"cut", "cut short", "the connection is reset in the middle of the answer: nobody can say what was done", stage.Answer{Cut: &stage.Point{Bytes: 40}, CutBy: standin.CutReset}},
	{"busy", "429", "too many requests, come back in 2 seconds: a definite refusal", stage.Answer{Status: 429, RetryAfter: "2"}},
	{"refuse", "403", "permission denied: a definite refusal that no repetition mends", stage.Answer{Status: 403}},
	{"broken", "500", "an error that does not say whether the work was done", stage.Answer{Status: 500}},
	{"false", "200 with an error", "status 200, and in the body an error instead of an answer", stage.Answer{Body: []byte(`{"error":{"message":"quota exceeded","type":"insufficient_quota"}}`)}},
	{"invents", "breaks the contract", "an answer with a queue that the schema does not know", standin.Says(`{"queue":"somewhere","urgency":"normal","summary":"A queue that nobody has."}`)},
	{"hostile", "hostile text", "markup, terminal codes and reversed text, which must stay text", standin.Says(`{"queue":"billing","urgency":"normal","summary":"<script>alert(1)</script> <img src=x onerror=alert(1)> \u001b[2J \u202Egnp.exe"}`)},
}

// provider is one stand-in with the switches of its page.
type provider struct {
	*stage.ProviderHandle
	Protocol string

	turning sync.Mutex // held while a switch is turned: the stand-in calls us back under its own lock, so mu is not held then

	mu      sync.Mutex
	mood    mood
	end     func() // of holding; nil while calls are let through
	held    []held
	changes int
}

// held is a call that waits to be let go.
type held struct {
	Call         int // number in the ledger
	Job, Attempt string
	Since        time.Time
	gate         *standin.Gate
}

func newProvider(h *stage.ProviderHandle, p stage.Provider) *provider {
	return &provider{ProviderHandle: h, Protocol: string(p.Protocol), mood: moods[0]}
}

var errNoMood = errors.New("a stand-in has no such way to answer")

// be changes how calls are answered that arrive from now on.
func (p *provider) be(id string) error {
	i := slices.IndexFunc(moods, func(m mood) bool { return m.ID == id })
	if i < 0 {
		return errNoMood
	}
	p.turning.Lock()
	defer p.turning.Unlock()
	p.Script(stage.Match{Text: tried}, moods[i].answer, "")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mood = moods[i]
	p.changes++
	return nil
}

// hold keeps every call from now on until it is let go by hand.
func (p *provider) hold() {
	p.turning.Lock()
	defer p.turning.Unlock()
	if _, on, _ := p.holding(); on {
		return
	}
	end := p.HoldEach(stage.Match{Text: tried}, func(a standin.Ask, g *standin.Gate) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = append(p.held, held{Call: a.Call, Job: a.Job, Attempt: a.Attempt, Since: time.Now(), gate: g})
		p.changes++
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = end
	p.changes++
}

// let lets all calls go and holds no more.
func (p *provider) let() {
	p.turning.Lock()
	defer p.turning.Unlock()
	p.mu.Lock()
	end := p.end
	p.end = nil
	p.mu.Unlock()
	if end != nil {
		end()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = nil
	p.changes++
}

// release lets one held call go; it reports whether it was held.
func (p *provider) release(call int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, h := range p.held {
		if h.Call == call {
			p.held = slices.Delete(p.held, i, i+1)
			p.changes++
			h.gate.Release()
			return true
		}
	}
	return false
}

// newest lets the call go that came last: answers in reverse order.
func (p *provider) newest() bool {
	p.mu.Lock()
	if len(p.held) == 0 {
		p.mu.Unlock()
		return false
	}
	last := slices.MaxFunc(p.held, func(a, b held) int { return cmp.Compare(a.Call, b.Call) })
	p.mu.Unlock()
	return p.release(last.Call)
}

// holding is the state of the switches.
func (p *provider) holding() (mood mood, on bool, list []held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mood, p.end != nil, slices.Clone(p.held)
}

// moved is a number that changes whenever the page would.
func (p *provider) moved() int {
	n := 0
	for _, c := range p.Calls(stage.Match{}) {
		n++
		if !c.Ended.IsZero() {
			n++
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return n + p.changes
}
