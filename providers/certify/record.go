package certify

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/recording"
	"github.com/interlock-harness/interlock/providers/standin"
)

// StaleError: a recording answers another request than the one that is sent now.
type StaleError struct{ Case string }

func (e *StaleError) Error() string {
	return fmt.Sprintf("the recording of case %s was made for another request: contract, profile or adapter changed since", e.Case)
}

// play has the stand-in answer a call with its recording, if there is one.
func (s *sender) play(c Call, body []byte) error {
	r, ok := s.o.Recordings.Find(recording.Key{Probe: string(c.Probe), Label: c.Case, Repeat: c.Repeat, Mode: c.Mode, Stream: c.Stream})
	if !ok {
		return nil
	}
	if r.Request != certificate.Hash(body) {
		return &StaleError{c.Case}
	}
	s.mu.Lock()
	s.recorded++
	s.mu.Unlock()
	s.standIn.Script(standin.Match{Attempt: s.attempt(c)}, standin.Answer{Recorded: &standin.Recorded{
		Status: r.Status, Header: r.Header, Body: r.Body, Chunks: r.Chunks, End: r.End,
	}})
	return nil
}

// Recordable lists the requests of a plan that can be recorded: all that go to the
// provider itself, those that each case is made of first.
func Recordable(o Options) ([]Call, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	calls, err := o.items()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(calls, func(c Call) bool { return c.Play }), nil
}

// Record asks the provider and gives each answer to keep, at most once at a time. An
// answer that the end of ctx cut off is not given.
func Record(ctx context.Context, o Options, calls []Call, keep func(recording.Recording) error) error {
	o, err := o.filled()
	if err != nil {
		return err
	}
	s, err := o.sender()
	if err != nil {
		return err
	}
	defer s.close()
	var mu sync.Mutex
	s.keep = func(c Call, t providers.Transcript, body []byte) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r, err := recording.Of(recording.Meta{
			Profile: o.Profile.Name, Contract: o.Contract.Ref(), Probe: string(c.Probe), Case: c.asked.ID, Label: c.Case, Repeat: c.Repeat,
		}, t, body, o.Now())
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return keep(r)
	}
	_, err = s.sendAll(ctx, calls, newWatch(nil, nil))
	return err
}
