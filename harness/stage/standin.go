package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/providers/standin"
)

// standIn is one stand-in provider of the stage with the switch in front of
// it: the service knows the switch, a fault may be turned in between.
type standIn struct {
	name   string
	server *standin.Server
	edge   *edge.Switch
	stage  *Stage

	mu    sync.Mutex
	calls map[string]*playing // by call id, while they are played
	says  []*said             // what the scripts mean, newest last
}

// playing is one call under way, as it stands in the history.
type playing struct {
	record   *history.ProviderCall
	verdict  string // what the script says of itself
	rest     time.Duration
	answered bool
}

// said is what the author of a script says of its answers.
type said struct {
	match   standin.Match
	seen    int
	verdict string
	rest    time.Duration // that the answer asks for in Retry-After
	world   *World
}

func (s *Stage) addStandIn(p Provider) error {
	in := &standIn{name: p.Name, stage: s, calls: map[string]*playing{}}
	server, err := standin.Start(standin.Options{
		Name: p.Name, Protocol: p.Protocol, Observe: in.observe, Fallback: s.o.Answers,
	})
	if err != nil {
		return err
	}
	in.server = server
	s.stands[p.Name] = in
	addr := ""
	if f := s.o.Foreign; f != nil {
		addr = f.Providers[p.Name]
	}
	in.edge, err = edge.NewSwitch(p.Name, addr, server.Addr())
	return err
}

func (in *standIn) close() error {
	if in.edge != nil {
		in.edge.Close()
	}
	return in.server.Close()
}

// observe writes calls into the history of the world to which they belong.
func (in *standIn) observe(m standin.Moment, c standin.Call) {
	switch m {
	case standin.Arrive:
		rec := in.stage.recorderOf(c.Ask.Prompt())
		p := &playing{}
		p.verdict, p.rest = in.meaning(c.Ask)
		p.record = rec.Arrived(in.name, c.Ask.Job, c.Ask.Attempt, history.ArriveFacts{})
		in.mu.Lock()
		in.calls[c.ID] = p
		in.mu.Unlock()
	case standin.Answering:
		in.answered(c, c.Answered)
	default: // over: it may have ended before an answer was due
		in.answered(c, false)
		in.mu.Lock()
		delete(in.calls, c.ID)
		in.mu.Unlock()
	}
}

func (in *standIn) answered(c standin.Call, whole bool) {
	in.mu.Lock()
	p := in.calls[c.ID]
	if p == nil || p.answered {
		in.mu.Unlock()
		return
	}
	p.answered = true
	in.mu.Unlock()
	facts := history.AnswerFacts{Status: c.Status, Complete: whole, Verdict: p.verdict, RetryAfterMS: p.rest.Milliseconds()}
	if facts.Verdict == "" {
		facts.Verdict = verdictOf(c.Status, whole)
	}
	if facts.Verdict == history.Accept && json.Valid([]byte(c.Output)) {
		facts.Output = json.RawMessage(c.Output)
	}
	// So the stand-in names itself in answers that it makes up.
	if own := fmt.Sprintf("for attempt %s, call %d", c.Ask.Attempt, c.N); strings.Contains(c.Output, own) {
		facts.Marker = own
	}
	p.record.Answered(facts)
}

// verdictOf is what a right reader makes of an answer that no script
// explains.
func verdictOf(status int, whole bool) string {
	switch {
	case !whole:
		return history.Unknown
	case status == http.StatusOK:
		return history.Accept
	}
	switch status {
	case 400, 401, 403, 404, 405, 413, 415, 422, 425, 429:
		return history.Refused
	}
	return history.Unknown
}

// meaning is what the newest script that plays this call says of itself. It
// counts as the stand-in counts: every rule sees every call that matches.
func (in *standIn) meaning(a standin.Ask) (verdict string, rest time.Duration) {
	in.mu.Lock()
	defer in.mu.Unlock()
	found := false
	for i := len(in.says) - 1; i >= 0; i-- {
		s := in.says[i]
		if !holds(s.match, a) {
			continue
		}
		s.seen++
		if (s.match.Nth == 0 || s.match.Nth == s.seen) && !found {
			verdict, rest, found = s.verdict, s.rest, true
		}
	}
	return verdict, rest
}

func (in *standIn) explain(s *said) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.says = append(in.says, s)
}

// forget drops what the scripts of a world meant.
func (in *standIn) forget(w *World) {
	in.mu.Lock()
	defer in.mu.Unlock()
	kept := in.says[:0]
	for _, s := range in.says {
		if s.world != w {
			kept = append(kept, s)
		}
	}
	in.says = kept
	in.server.Forget(w.token)
}

// errNoSuchProvider is a mistake in a scenario.
var errNoSuchProvider = errors.New("the stage has no such provider")
