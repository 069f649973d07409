package worker_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/failover"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
	"github.com/interlock-harness/interlock/service/internal/postgres"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

// toHappen bounds every wait for something that must come.
const toHappen = 20 * time.Second

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

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
