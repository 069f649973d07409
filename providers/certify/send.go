package certify

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/judge"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/wire"
)

// sender sends the requests of a run: to the provider, or to the stand-in.
type sender struct {
	o       Options
	standIn *standin.Server
	double  providers.Profile // the profile with the address of the stand-in
	secret  string            // the key that travels; planted where the stand-in is asked
	id      string            // of this run

	keep func(Call, providers.Transcript, []byte) error // is given each answer and the body that it answers; may be nil

	mu       sync.Mutex
	recorded int                           // answers from recordings
	leaving  map[string]context.CancelFunc // by attempt: clients that go away in mid-answer
}

func (o Options) sender() (*sender, error) {
	refs, err := References(o.Contract)
	if err != nil {
		return nil, err
	}
	s := &sender{o: o, double: o.Profile, id: rand.Text(), leaving: map[string]context.CancelFunc{}}
	s.standIn, err = standin.Start(standin.Options{
		Name: o.Profile.Name, Protocol: o.Profile.Protocol, Model: o.Profile.Model, References: refs, Fault: o.Fault, Manner: o.Manner, Observe: s.watch, Count: o.counter(), Inside: o.inside,
	})
	if err != nil {
		return nil, err
	}
	s.double.BaseURL, s.double.AllowLoopback = s.standIn.URL(), true
	if s.secret = o.Secret; o.Mode == certificate.Replay {
		s.secret = "planted-" + rand.Text()
	}
	return s, nil
}

func (s *sender) close() { _ = s.standIn.Close() }

// sendAll sends each call once, some at a time, in the order of the plan. Where ctx
// ends before that, its error comes with what was answered until then.
func (s *sender) sendAll(ctx context.Context, calls []Call, w *watch) ([]*check.Observation, error) {
	seen := make([]*check.Observation, len(calls))
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed error
	done := 0
	for range s.o.Parallel {
		wait.Go(func() {
			for i := range next {
				if w.skips(calls[i]) { // decided since it was taken up
					continue
				}
				o, err := s.send(ctx, calls[i])
				mu.Lock()
				if ctx.Err() != nil { // what was cut off is no answer
					mu.Unlock()
					continue
				}
				if seen[i] = o; err != nil && failed == nil {
					failed = err
				}
				if err == nil {
					w.seen(o)
				}
				done++
				s.o.Progress(done, len(calls))
				mu.Unlock()
			}
		})
	}
	for i := range calls {
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop || ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	if failed != nil {
		return nil, failed
	}
	s.count(calls, seen)
	return slices.DeleteFunc(seen, func(o *check.Observation) bool { return o == nil }), ctx.Err()
}

func (s *sender) send(ctx context.Context, c Call) (*check.Observation, error) {
	r, err := s.o.Contract.Request(c.asked.Input)
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", c.asked.ID, err)
	}
	r.Mode, r.Stream, r.Model, r.User = c.Mode, c.Stream, s.o.Profile.Model, r.User+c.suffix
	if c.model != "" {
		r.Model = c.model
	}
	if c.change != nil {
		c.change(&r)
	}
	if c.Cap > 0 {
		r.MaxOutputTokens = &c.Cap
	}
	to, replayed := s.o.Profile, false
	if s.o.Mode == certificate.Replay || c.Play {
		to, replayed = s.double, true
	}
	encoded, err := wire.Encode(to, r)
	if err != nil {
		return nil, fmt.Errorf("certify %s: %w", to.Name, err)
	}
	if c.wire != nil {
		encoded.Body = c.wire(encoded.Body)
	}
	if replayed && !c.Play {
		if err := s.play(c, encoded.Body); err != nil {
			return nil, err
		}
	}
	header := http.Header{standin.HeaderAttempt: {s.attempt(c)}}
	if c.Play {
		header.Set(standin.HeaderPlay, string(c.Probe))
	}
	secret := s.secret
	if to.Auth.Header == "" {
		secret = ""
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	if replayed && s.o.inside {
		ctx = call.Through(ctx, s.standIn.Dial)
	}
	if c.Probe == check.Cancel {
		s.leave(s.attempt(c), cancel)
	}
	t, err := call.Send(ctx, to, secret, r, encoded, header)
	if err != nil {
		return nil, err
	}
	if s.keep != nil {
		if err := s.keep(c, t, encoded.Body); err != nil {
			return nil, err
		}
	}
	o := s.observe(c, t, replayed)
	if c.Probe == check.Cancel {
		o.Work = s.work(s.attempt(c))
	}
	return o, nil
}

// toStop is how long a server may go on with its work after its client has gone.
const toStop = time.Second

// leave has the client go away as soon as half of the answer to an attempt has
// come.
func (s *sender) leave(attempt string, away context.CancelFunc) {
	s.mu.Lock()
	s.leaving[attempt] = away
	s.mu.Unlock()
}

// watch is told what happens at the stand-in.
func (s *sender) watch(m standin.Moment, c standin.Call) {
	if m != standin.Answering {
		return
	}
	s.mu.Lock()
	away := s.leaving[c.Ask.Attempt]
	s.mu.Unlock()
	if away != nil {
		away()
	}
}

// work asks the server whether it stopped when its client had gone.
func (s *sender) work(attempt string) check.Work {
	ctx, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	if s.standIn.AwaitEnd(ctx, standin.Match{Attempt: attempt}, 1) != nil {
		return check.WorkWentOn
	}
	return check.WorkEnded
}

func (s *sender) observe(c Call, t providers.Transcript, replayed bool) *check.Observation {
	o := &check.Observation{
		Probe: c.Probe, Case: c.Case, Asked: c.asked.ID, Repeat: c.Repeat, Profile: s.o.Profile.Name, Transcript: t, Replayed: replayed, Digest: digest(t),
		Judgement: judge.Judge(s.o.Contract, c.asked, t), Relation: c.follow,
	}
	if t.Status >= 200 && t.Status < 300 {
		o.Response = wire.Decode(t)
	}
	return o
}

// attempt is the id under which the stand-in counts a call. A provider is told
// nothing that could tell a run from other traffic.
func (s *sender) attempt(c Call) string { return fmt.Sprintf("%s%d", s.id, c.N) }

// count notes how often each call arrived at the stand-in.
func (s *sender) count(calls []Call, seen []*check.Observation) {
	counts := s.standIn.PerAttempt()
	for i, o := range seen {
		if o != nil {
			o.Served = counts[s.attempt(calls[i])]
		}
	}
}
