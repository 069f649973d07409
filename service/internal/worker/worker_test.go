package worker_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/failover"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
	"github.com/interlock-harness/interlock/service/internal/postgres"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

// toHappen bounds every wait for something that must come.
const toHappen = 20 * time.Second

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

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

// stage is a store, a worker on it, and its provider.
type stage struct {
	t        *testing.T
	store    *postgres.Store
	url      string
	provider *provider
	policy   *failover.Policy
}

func set(t *testing.T, gate shut, mutantName string) *stage {
	t.Helper()
	m, err := mutant.Choose(mutantName)
	if err != nil {
		t.Fatal(err)
	}
	url := pgtest.Copy(t, "migrated", func(url string) {
		store, err := postgres.New(bounded(t), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if err := store.Migrate(bounded(t)); err != nil {
			t.Fatal(err)
		}
	})
	policy := failover.New(gate, failover.Options{FirstBackoff: 50 * time.Millisecond, Mutant: m})
	store, err := postgres.New(bounded(t), url, postgres.Options{Failover: policy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return &stage{t: t, store: store, url: url, provider: newProvider(), policy: policy}
}

// run starts a worker and returns how to stop it; it is stopped anyway at the end.
func (s *stage) run(o worker.Options) (stop func()) {
	s.t.Helper()
	return s.runWith(s.provider, s.provider, o)
}

func (s *stage) runWith(caller worker.Caller, judge worker.Judge, o worker.Options) (stop func()) {
	s.t.Helper()
	if o.Grace == 0 {
		o.Grace = 50 * time.Millisecond
	}
	if testing.Verbose() {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w := worker.New(s.store, caller, judge, s.policy, o)
	go func() { defer close(done); w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(toHappen):
			s.t.Error("the worker does not stop")
		}
	})
	s.t.Cleanup(stop)
	return stop
}

func (s *stage) submit(key job.Key, change func(*job.Intent)) job.Job {
	s.t.Helper()
	in := job.Submission{Owner: "alice", Key: key, Fingerprint: sha256.Sum256([]byte(key)), FingerprintAlgorithm: 1, RawBody: []byte("{}"),
		Intent: job.Intent{Contract: "triage@1.0.0", Provider: "p", Input: json.RawMessage(`{}`), Failover: job.Failover{Mode: "manual"}, DeadlineMS: 30000}}
	if change != nil {
		change(&in.Intent)
	}
	j, _, err := s.store.Submit(bounded(s.t), in)
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

// eventually waits until the job is as wanted: status, result, and the attempts
// in order as "provider state" joined by commas.
func (s *stage) eventually(id job.ID, status job.Status, result, attempts string) {
	s.t.Helper()
	var got string
	want := fmt.Sprintf("%s %s [%s]", status, result, attempts)
	for begun := time.Now(); time.Since(begun) < toHappen; time.Sleep(2 * time.Millisecond) {
		got = s.look(id)
		if got == want {
			return
		}
	}
	s.t.Fatalf("job is %q, want %q", got, want)
}

func (s *stage) look(id job.ID) string {
	s.t.Helper()
	j, err := s.store.Job(bounded(s.t), job.AnyOwner, id)
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := s.store.Attempts(bounded(s.t), job.AnyOwner, id)
	if err != nil {
		s.t.Fatal(err)
	}
	var attempts []string
	for _, a := range list {
		attempts = append(attempts, a.Provider+" "+string(a.State))
	}
	return fmt.Sprintf("%s %s [%s]", j.Status, j.Result, strings.Join(attempts, ","))
}

// arrived waits until the provider has had n calls.
func (s *stage) arrived(n int) {
	s.t.Helper()
	for begun := time.Now(); time.Since(begun) < toHappen; time.Sleep(time.Millisecond) {
		if len(s.provider.called()) >= n {
			return
		}
	}
	s.t.Fatalf("%d calls arrived, want %d", len(s.provider.called()), n)
}

func (s *stage) events(id job.ID, kind job.EventType) []job.Event {
	s.t.Helper()
	all, err := s.store.Events(bounded(s.t), job.AnyOwner, id, 0, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	var some []job.Event
	for _, e := range all {
		if e.Type == kind {
			some = append(some, e)
		}
	}
	return some
}

func (s *stage) races(id job.ID) []job.Race {
	s.t.Helper()
	races, err := s.store.Races(bounded(s.t), job.AnyOwner, job.RaceFilter{Job: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return races
}

// value reads one value as text, beside the service.
func (s *stage) value(query string) (text string) {
	s.t.Helper()
	conn, err := pgx.Connect(bounded(s.t), s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(bounded(s.t), query).Scan(&text); err != nil {
		s.t.Fatal(err)
	}
	return text
}

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), toHappen)
	t.Cleanup(cancel)
	return ctx
}

func automatic(providers ...string) func(*job.Intent) {
	return func(in *job.Intent) { in.Failover = job.Failover{Mode: "automatic", Providers: providers} }
}

func TestAnAnswerBecomesTheResult(t *testing.T) {
	s := set(t, nil, "")
	s.provider.answers["p"] = always(answer(`{"n": 1.0}`))
	j := s.submit("k", nil)
	s.run(worker.Options{})
	s.eventually(j.ID, job.StatusSucceeded, `{"n": 1.0}`, "p succeeded")
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	h := s.provider.headers[0]
	if len(s.provider.calls) != 1 || h.Get("X-Job-Id") != string(j.ID) || h.Get("X-Attempt-Id") == "" {
		t.Errorf("calls %v with header %v", s.provider.calls, h)
	}
}

func TestALateAnswerResolvesTheUnknown(t *testing.T) {
	s := set(t, nil, "")
	gate := make(held)
	s.provider.answers["p"] = gate.then(answer(`"late"`))
	s.provider.answers["r"] = always(answer(`"other"`))
	j := s.submit("k", func(in *job.Intent) { in.DeadlineMS = 30; automatic("q")(in) })
	s.run(worker.Options{Concurrency: 1})
	s.eventually(j.ID, job.StatusUnknown, "", "p unknown")

	// the held call takes no place from others, and nothing follows on unknown
	other := s.submit("k2", func(in *job.Intent) { in.Provider = "r" })
	s.eventually(other.ID, job.StatusSucceeded, `"other"`, "r succeeded")
	if got := s.look(j.ID); got != "unknown  [p unknown]" {
		t.Errorf("meanwhile the first job is %q", got)
	}
	close(gate)
	s.eventually(j.ID, job.StatusSucceeded, `"late"`, "p succeeded")
	if n := len(s.provider.called()); n != 2 {
		t.Errorf("%d calls for two attempts", n)
	}
}

func TestARaceReleasesAtTheDeadlineAndOneWins(t *testing.T) {
	s := set(t, nil, "")
	first, second := make(held), make(held)
	s.provider.answers["p"], s.provider.answers["q"] = first.then(answer(`"p"`)), second.then(answer(`"q"`))
	j := s.submit("k", func(in *job.Intent) { in.DeadlineMS = 100; in.Race = true; automatic("q")(in) })
	s.run(worker.Options{})
	s.arrived(2)
	close(second)
	s.eventually(j.ID, job.StatusSucceeded, `"q"`, "p released,q succeeded")
	close(first)
	s.eventually(j.ID, job.StatusSucceeded, `"q"`, "p lost,q succeeded")
	if r := s.races(j.ID); len(r) != 1 || r[0].N != 1 || r[0].Reason != "late" || r[0].PayloadBytes != 3 || r[0].PayloadSHA256 != sha256.Sum256([]byte(`"p"`)) {
		t.Errorf("races are %+v", r)
	}
}

func TestADefiniteFailureGoesOnElsewhere(t *testing.T) {
	notSent := reply{transcript: providers.Transcript{Reach: providers.ReachNotSent, End: providers.EndNone}}
	for name, r := range map[string]reply{"not sent": notSent, "refused": status(400), "rejected": rejects, "not to be built": {err: errors.New("no such profile")}} {
		t.Run(name, func(t *testing.T) {
			s := set(t, shut{"q": true}, "")
			s.provider.answers["p"], s.provider.answers["r"] = always(r), always(answer(`"r"`))
			j := s.submit("k", automatic("q", "r"))
			s.run(worker.Options{})
			s.eventually(j.ID, job.StatusSucceeded, `"r"`, "p failed,r succeeded")
			denied := s.events(j.ID, job.EventFailoverDenied)
			if len(denied) != 1 || string(denied[0].Detail) != `{"provider":"q","reasons":["no-certificate"]}` {
				t.Errorf("refusals are %+v", denied)
			}
		})
	}
}

func TestAnUnknownOutcomeStaysWhereItIs(t *testing.T) {
	for name, r := range map[string]reply{
		"reset":         {transcript: providers.Transcript{Reach: providers.ReachSent, End: providers.EndReset}},
		"500":           status(500),
		"409":           status(409),
		"panic of ours": {panics: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, nil, "")
			s.provider.answers["p"] = always(r)
			j := s.submit("k", automatic("q"))
			s.run(worker.Options{})
			s.eventually(j.ID, job.StatusUnknown, "", "p unknown")
			if n := len(s.provider.called()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

func TestARefusalForLoadIsTriedAgainAfterItsTime(t *testing.T) {
	s := set(t, nil, "")
	s.provider.answers["p"] = func(_ context.Context, n int) reply {
		if n == 1 {
			return status(429, "Retry-After-Ms", "300")
		}
		return answer(`"ok"`)
	}
	j := s.submit("k", automatic())
	begun := time.Now()
	s.run(worker.Options{Poll: 10 * time.Millisecond})
	s.eventually(j.ID, job.StatusSucceeded, `"ok"`, "p failed,p succeeded")
	if took := time.Since(begun); took < 300*time.Millisecond {
		t.Errorf("called again after %s, asked for 300 ms", took)
	}
}

func TestTheBudgetEndsARetryStorm(t *testing.T) {
	s := set(t, nil, "")
	s.provider.answers["p"], s.provider.answers["q"] = always(status(429)), always(status(429))
	s.policy = failover.New(shut{}, failover.Options{FirstBackoff: time.Millisecond, MaxAttempts: 5})
	store, err := postgres.New(bounded(t), s.url, postgres.Options{Failover: s.policy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s.store = store
	j := s.submit("k", automatic("q"))
	s.run(worker.Options{Poll: 5 * time.Millisecond})
	s.eventually(j.ID, job.StatusFailed, "", "p failed,q failed,p failed,q failed,p failed")
	if n := len(s.provider.called()); n != 5 {
		t.Errorf("%d calls for a budget of 5", n)
	}
}

// changing is a gate that shuts after it was asked once.
type changing struct {
	mu    sync.Mutex
	asked int
}

func (g *changing) Refuses(from, to, contract string, at time.Time) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked++; g.asked > 1 {
		return []string{"expired"}
	}
	return nil
}

func TestTheGateIsAskedAgainAtTheCall(t *testing.T) {
	for name, want := range map[string]string{"": "failed  [p failed,q failed]", "gate-asked-once": `succeeded "q" [p failed,q succeeded]`} {
		t.Run("mutant "+name, func(t *testing.T) {
			s := set(t, nil, "")
			s.policy = failover.New(&changing{}, failover.Options{})
			store, err := postgres.New(bounded(t), s.url, postgres.Options{Failover: s.policy})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			s.store = store
			s.provider.answers["p"], s.provider.answers["q"] = always(status(400)), always(answer(`"q"`))
			m, _ := mutant.Choose(name)
			j := s.submit("k", automatic("q"))
			s.run(worker.Options{Mutant: m})
			for begun := time.Now(); s.look(j.ID) != want && time.Since(begun) < toHappen; time.Sleep(2 * time.Millisecond) {
			}
			if got := s.look(j.ID); got != want {
				t.Fatalf("job is %q, want %q", got, want)
			}
			if denied := len(s.events(j.ID, job.EventFailoverDenied)); name == "" && denied != 1 {
				t.Errorf("%d refusals are recorded", denied)
			}
		})
	}
}

func TestStoppingLetsFinishOrLeavesUnknown(t *testing.T) {
	t.Run("an answer within the grace is stored", func(t *testing.T) {
		s := set(t, nil, "")
		gate := make(held)
		s.provider.answers["p"] = gate.then(answer(`"in time"`))
		j := s.submit("k", nil)
		stop := s.run(worker.Options{Grace: toHappen})
		s.arrived(1)
		go close(gate)
		stop()
		s.eventually(j.ID, job.StatusSucceeded, `"in time"`, "p succeeded")
	})
	t.Run("no answer within the grace is unknown", func(t *testing.T) {
		s := set(t, nil, "")
		s.provider.answers["p"] = make(held).then(reply{})
		j := s.submit("k", automatic("q"))
		stop := s.run(worker.Options{Grace: 10 * time.Millisecond})
		s.arrived(1)
		stop()
		if got := s.look(j.ID); got != "unknown  [p unknown]" {
			t.Errorf("job is %q", got)
		}
	})
	t.Run("the mutant calls it failed", func(t *testing.T) {
		s := set(t, nil, "")
		s.provider.answers["p"] = make(held).then(reply{})
		j := s.submit("k", nil)
		m, _ := mutant.Choose("shutdown-is-failure")
		stop := s.run(worker.Options{Mutant: m})
		s.arrived(1)
		stop()
		if got := s.look(j.ID); got != "failed  [p failed]" {
			t.Errorf("job is %q", got)
		}
	})
}

func TestMutantsOfTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		first reply
		calls int
		want  string
	}{
		"hidden-retries":        {status(500), 2, `succeeded "second" [p succeeded]`},
		"second-call-on-reject": {rejects, 2, `succeeded "second" [p succeeded]`},
		"":                      {rejects, 1, "failed  [p failed]"},
	} {
		t.Run("mutant "+name, func(t *testing.T) {
			s := set(t, nil, "")
			s.provider.answers["p"] = func(_ context.Context, n int) reply {
				if n == 1 {
					return c.first
				}
				return answer(`"second"`)
			}
			m, _ := mutant.Choose(name)
			j := s.submit("k", nil)
			s.run(worker.Options{Mutant: m})
			for begun := time.Now(); s.look(j.ID) != c.want && time.Since(begun) < toHappen; time.Sleep(2 * time.Millisecond) {
			}
			if got, n := s.look(j.ID), len(s.provider.called()); got != c.want || n != c.calls {
				t.Errorf("job is %q after %d calls, want %q after %d", got, n, c.want, c.calls)
			}
		})
	}
	t.Run("deadline-is-failure", func(t *testing.T) {
		s := set(t, nil, "")
		s.provider.answers["p"] = make(held).then(reply{})
		m, _ := mutant.Choose("deadline-is-failure")
		j := s.submit("k", func(in *job.Intent) { in.DeadlineMS = 20 })
		s.run(worker.Options{Mutant: m})
		s.eventually(j.ID, job.StatusFailed, "", "p failed")
	})
}

func TestHeartbeatsKeepALeaseAndTheReaperEndsOneThatIsNotKept(t *testing.T) {
	s := set(t, nil, "")
	gate := make(held)
	s.provider.answers["p"] = gate.then(answer(`"slow but alive"`))
	ctx, cancel := context.WithCancel(context.Background())
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		worker.Reap(ctx, s.store, 5*time.Millisecond, slog.New(slog.DiscardHandler))
	}()
	defer func() { cancel(); <-reaped }()

	alive := s.submit("k", nil)
	s.run(worker.Options{Name: "w1", Lease: 300 * time.Millisecond, Heartbeat: 30 * time.Millisecond})
	s.arrived(1)
	// somebody whose heart does not beat
	dead := s.submit("k2", func(in *job.Intent) { in.Provider = "nobody" })
	if _, err := s.store.Claim(bounded(t), "w2", 100*time.Millisecond, 1); err != nil {
		t.Fatal(err)
	}
	s.eventually(dead.ID, job.StatusUnknown, "", "nobody unknown")
	if got := s.look(alive.ID); got != "running  [p running]" {
		t.Errorf("the one with a heartbeat is %q", got)
	}
	close(gate)
	s.eventually(alive.ID, job.StatusSucceeded, `"slow but alive"`, "p succeeded")
}

func TestConcurrencyIsBounded(t *testing.T) {
	s := set(t, nil, "")
	var mu sync.Mutex
	now, most := map[string]int{}, map[string]int{}
	for _, name := range []string{"p", "q"} {
		s.provider.answers[name] = func(context.Context, int) reply {
			mu.Lock()
			now[name]++
			now["all"]++
			most[name], most["all"] = max(most[name], now[name]), max(most["all"], now["all"])
			mu.Unlock()
			time.Sleep(3 * time.Millisecond) // long enough to overlap; no order depends on it
			mu.Lock()
			now[name]--
			now["all"]--
			mu.Unlock()
			return answer(`1`)
		}
	}
	var jobs []job.Job
	for i := range 40 {
		jobs = append(jobs, s.submit(job.Key(fmt.Sprint(i)), func(in *job.Intent) { in.Provider = []string{"p", "p", "q"}[i%3] }))
	}
	s.run(worker.Options{Concurrency: 5, PerProvider: 3})
	for _, j := range jobs {
		s.eventually(j.ID, job.StatusSucceeded, `1`, j.Intent.Provider+" succeeded")
	}
	mu.Lock()
	defer mu.Unlock()
	if most["all"] > 5 || most["p"] > 3 || most["q"] > 3 {
		t.Errorf("at once: %v, allowed 5 and 3 each", most)
	}
	if most["p"] < 2 {
		t.Errorf("nothing ran at once: %v", most)
	}
	if n := len(s.provider.called()); n != 40 {
		t.Errorf("%d calls for 40 attempts", n)
	}
}

// The time between claim and stored result, beyond the provider's own.
func TestOverheadIsSmall(t *testing.T) {
	s := set(t, nil, "")
	s.provider.answers["p"] = always(answer(`1`))
	s.run(worker.Options{})
	var took []time.Duration
	for i := range 60 {
		j := s.submit(job.Key(fmt.Sprint(i)), nil)
		s.eventually(j.ID, job.StatusSucceeded, `1`, "p succeeded")
		e := s.events(j.ID, job.EventAttemptMoved)
		took = append(took, e[len(e)-1].At.Sub(e[1].At))
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	t.Logf("claim to result: median %s, worst %s", took[len(took)/2], took[len(took)-1])
	if median := took[len(took)/2]; median > 10*time.Millisecond {
		t.Errorf("median %s, at most 10 ms", median)
	}
}
