package call

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/wire"
)

// How work in the background is asked for: the pause doubles from the first to
// the last, one question may take so long, and after so many refusals in a row
// (400 to 499) the provider is taken to have lost it.
const (
	firstAsk     = 250 * time.Millisecond
	lastAsk      = 5 * time.Second
	toAsk        = 20 * time.Second
	mostRefusals = 5
)

// mostForID is how far into an answer its id is looked for, in bytes.
const mostForID = 64 << 10

// Follow is Do for one who wants to ask again later: known is told the provider's
// id of the work once, as soon as it has arrived and before the answer is
// complete. Without Profile.Background there is no such id.
//
// Where the work goes on after the first answer, or that answer was cut, it is
// asked for by its id until the provider states its end or ctx ends. Then the
// transcript is that of the last question; without a stated end it is the one of
// the first request. Questions change nothing at the provider, so they may be
// repeated; the request itself is sent once.
func Follow(ctx context.Context, p providers.Profile, secret string, r providers.Request, header http.Header, known func(id string)) (providers.Transcript, error) {
	encoded, err := wire.Encode(p, r)
	if err != nil {
		return fresh(p, r), fmt.Errorf("call %s: %w", p.Name, err)
	}
	adapter, can := wire.BackgroundFor(p.Protocol)
	if !p.Background || !can {
		return Send(ctx, p, secret, r, encoded, header)
	}
	started := time.Now()
	kept := providers.Kept{}
	t, err := send(ctx, p, secret, r, encoded, header, func(t providers.Transcript) {
		if kept.ID != "" || len(t.Body) > mostForID {
			return
		}
		if kept = adapter.Kept(t); kept.ID != "" {
			known(kept.ID)
		}
	})
	if err != nil || kept.ID == "" || adapter.Kept(t).Ended {
		return t, err
	}
	if ended, ok := follow(ctx, p, secret, r, kept.ID); ok {
		ended.Duration = time.Since(started)
		return ended, nil
	}
	t.Duration = time.Since(started)
	return t, nil
}

// follow asks for work until it has ended. It returns false when that was not to
// be learnt.
func follow(ctx context.Context, p providers.Profile, secret string, r providers.Request, id string) (providers.Transcript, bool) {
	refusals := 0
	for pause := firstAsk; refusals < mostRefusals; pause = min(2*pause, lastAsk) {
		select {
		case <-ctx.Done():
			return providers.Transcript{}, false
		case <-time.After(pause):
		}
		t, kept, err := Ask(ctx, p, secret, r, id)
		switch {
		case err != nil:
			return t, false
		case kept.Ended:
			return t, true
		case t.Status/100 == 4 && t.Status != http.StatusTooManyRequests && t.Status != http.StatusRequestTimeout:
			refusals++
		default:
			refusals = 0
		}
	}
	return providers.Transcript{}, false
}

// Ask asks the provider once how the work of that id stands. r is the request
// that began it. The answer counts only where it names the same work: kept is
// empty for any other, also for an error of the provider, which says nothing
// about the work.
//
// The error is for a question that could not be asked: a route whose protocol
// keeps nothing, an id that cannot be one, a missing key.
func Ask(ctx context.Context, p providers.Profile, secret string, r providers.Request, id string) (providers.Transcript, providers.Kept, error) {
	return question(ctx, p, secret, r, id, wire.Background.Retrieve)
}

// Stop asks the provider once to stop the work of that id; else it is Ask. Work
// that had ended before stays as it ended.
func Stop(ctx context.Context, p providers.Profile, secret string, r providers.Request, id string) (providers.Transcript, providers.Kept, error) {
	return question(ctx, p, secret, r, id, wire.Background.Cancel)
}

func question(ctx context.Context, p providers.Profile, secret string, r providers.Request, id string,
	encode func(wire.Background, providers.Profile, string) (providers.HTTPRequest, error)) (providers.Transcript, providers.Kept, error) {
	adapter, can := wire.BackgroundFor(p.Protocol)
	if !can {
		return fresh(p, r), providers.Kept{}, errors.New("the protocol of " + p.Name + " keeps no answer that could be asked for")
	}
	r.Stream = false // it is answered with the whole object
	encoded, err := encode(adapter, p, id)
	if err != nil {
		return fresh(p, r), providers.Kept{}, fmt.Errorf("ask %s: %w", p.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, toAsk)
	defer cancel()
	t, err := Send(ctx, p, secret, r, encoded, nil)
	if err != nil {
		return t, providers.Kept{}, err
	}
	kept := adapter.Kept(t)
	if t.Status != http.StatusOK || kept.ID != id || t.End != providers.EndEOF {
		kept = providers.Kept{}
	}
	return t, kept, nil
}
