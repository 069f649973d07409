package worker_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// reply is what a provider of the test answers.
type reply struct {
	transcript providers.Transcript
	judgement  providers.Judgement
	err        error
	panics     bool
}

func answer(result string) reply {
	return reply{transcript: providers.Transcript{Reach: providers.ReachSent, Status: 200, End: providers.EndEOF},
		judgement: providers.Judgement{Verdict: providers.Accept, Reason: "ok", Output: json.RawMessage(result)}}
}

func status(code int, header ...string) reply {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	v := providers.DefiniteFailure
	if code >= 500 {
		v = providers.Unknown
	}
	return reply{transcript: providers.Transcript{Reach: providers.ReachSent, Status: code, Header: h, End: providers.EndEOF},
		judgement: providers.Judgement{Verdict: v, Reason: "error.rejected"}}
}

var rejects = reply{transcript: providers.Transcript{Reach: providers.ReachSent, Status: 200, End: providers.EndEOF},
	judgement: providers.Judgement{Verdict: providers.Reject, Reason: "schema.enum"}}

// provider is a scripted provider: each call is recorded, and answered by the
// function, which may wait on what it likes, or on the end of its context.
type provider struct {
	mu      sync.Mutex
	calls   []string // "provider attempt-id"
	headers []http.Header
	answers map[string]func(ctx context.Context, n int) reply // by provider; n counts its calls from 1
	count   map[string]int
	replies map[job.AttemptID]reply
}

func newProvider() *provider {
	return &provider{answers: map[string]func(context.Context, int) reply{}, count: map[string]int{}, replies: map[job.AttemptID]reply{}}
}

func (p *provider) Call(ctx context.Context, c job.Claimed, header http.Header, _ func(string)) (providers.Transcript, error) {
	p.mu.Lock()
	name := c.Attempt.Provider
	p.count[name]++
	n := p.count[name]
	p.calls = append(p.calls, name+" "+string(c.Attempt.ID))
	p.headers = append(p.headers, header)
	do := p.answers[name]
	p.mu.Unlock()
	r := do(ctx, n)
	if r.panics {
		panic("the adapter has a fault")
	}
	p.mu.Lock()
	p.replies[c.Attempt.ID] = r
	p.mu.Unlock()
	return r.transcript, r.err
}

func (p *provider) Judge(j job.Job, name string, t providers.Transcript) providers.Judgement {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, r := range p.replies {
		if r.transcript.Status == t.Status && r.transcript.End == t.End && strings.Contains(strings.Join(p.calls, ","), name+" "+string(id)) {
			return r.judgement
		}
	}
	return providers.Judgement{Verdict: providers.Unknown, Reason: "unknown.cut_stream"}
}

func (p *provider) called() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.calls...)
}

// held answers r when it is let go, or nothing when the call is given up.
type held chan struct{}

func (h held) then(r reply) func(context.Context, int) reply {
	return func(ctx context.Context, _ int) reply {
		select {
		case <-h:
			return r
		case <-ctx.Done():
			return reply{transcript: providers.Transcript{Reach: providers.ReachSent, End: providers.EndStall}}
		}
	}
}

func always(r reply) func(context.Context, int) reply {
	return func(context.Context, int) reply { return r }
}

// shut is a gate that is shut for the providers that it names.
type shut map[string]bool

func (g shut) Refuses(from, to, contract string, at time.Time) []string {
	if g[to] {
		return []string{"no-certificate"}
	}
	return nil
}
