package stage_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/service"
)

// Bounds of the tests' waits.
const (
	toFinish   = 60 * time.Second
	toComplete = 15 * time.Second
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "reference" { // the service of this project
		os.Exit(service.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "stand-and-wait" {
		standAndWait()
	}
	stage.Child(rehearse)
	code := m.Run()
	if rehearsed != nil {
		if err := rehearsed.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var (
	rehearsed *stage.Stage
	once      = sync.OnceValues(func() (*stage.Stage, error) {
		s, err := stage.Start(context.Background(), stage.Options{})
		rehearsed = s
		return s, err
	})
)

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), toFinish)
	t.Cleanup(cancel)
	return ctx
}

func world(t *testing.T, o ...stage.WorldOption) *stage.World {
	t.Helper()
	s, err := once()
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(bounded(t), t.Name(), o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// submit hands in an intent and returns its job.
func submit(t *testing.T, w *stage.World, c *target.Client, name string) target.Job {
	t.Helper()
	job, err := c.Submit(bounded(t), w.Key(name), w.Intent(name))
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func awaitStatus(t *testing.T, w *stage.World, c *target.Client, job, status string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), toComplete)
	defer cancel()
	if _, err := w.Status(ctx, c, job, status); err != nil {
		t.Fatal(err)
	}
}

func TestAJobPassesThroughTheWholeStage(t *testing.T) {
	w := world(t)
	client := w.Client("client-1")
	job := submit(t, w, client, "a")
	awaitStatus(t, w, client, job.ID, "succeeded")
	again := submit(t, w, client, "a")
	if again.ID != job.ID || !again.Replayed || again.Answer.Status != 200 || job.Answer.Status != 201 {
		t.Errorf("first %+v, again %+v", job, again)
	}
	if err := w.Finish(bounded(t), toComplete); err != nil {
		t.Fatal(err)
	}
	kinds := map[history.Kind]int{}
	var phases []string
	for _, e := range w.History() {
		kinds[e.Kind]++
		if e.Kind == history.Phase {
			phases = append(phases, e.Op)
		}
		if e.Kind == history.Arrive && (e.Job != job.ID || e.Attempt == "") {
			t.Errorf("the call arrived as %+v", e)
		}
	}
	if kinds[history.Arrive] != 1 || kinds[history.Answer] != 1 || kinds[history.Row] != 2 || fmt.Sprint(phases) != "[main heal drain audit]" {
		t.Errorf("history has %v and phases %v", kinds, phases)
	}
	if n := w.Provider(stage.OpenAI).PerAttempt(); len(n) != 1 {
		t.Errorf("calls by attempt: %v", n)
	}
}

func TestWorldsShareNothing(t *testing.T) {
	one, two := world(t), world(t)
	if one.Owner(1) == two.Owner(1) || one.Owner(1) == one.Owner(2) || one.Key("a") == two.Key("a") {
		t.Error("two worlds share an owner or a key")
	}
	held := one.Provider(stage.OpenAI).Hold(stage.Match{})
	a, b := one.Client("client-1"), two.Client("client-1")
	first, second := submit(t, one, a, "x"), submit(t, two, b, "x")
	awaitStatus(t, two, b, second.ID, "succeeded") // it is not held
	if err := held.Await(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if n := len(two.Provider(stage.OpenAI).Calls(stage.Match{})); n != 1 {
		t.Errorf("a world sees %d calls, want its own one", n)
	}
	held.Release()
	awaitStatus(t, one, a, first.ID, "succeeded")
	for _, e := range two.History() {
		if e.Job == first.ID {
			t.Errorf("an event of the other world: %+v", e)
		}
	}
}

func TestFaultsOnEveryEdge(t *testing.T) {
	w, ctx := world(t), bounded(t)
	client := w.Client("client-1")

	lost, err := w.LostResponse(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Through(lost.URL()).Submit(ctx, w.Key("a"), w.Intent("a")); !target.IsUnknown(err) {
		t.Errorf("the lost response is %v", err)
	}
	if again := submit(t, w, client, "a"); !again.Replayed || !lost.Fired() {
		t.Errorf("the job was not there (%+v), fired %v", again, lost.Fired())
	}

	ack, err := w.AckLost(stage.Victim(w.Key("b")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Submit(ctx, w.Key("b"), w.Intent("b")); !target.IsUnknown(err) || !ack.Fired() {
		t.Errorf("the lost acknowledgement is %v, fired %v", err, ack.Fired())
	}
	if again := submit(t, w, client, "b"); !again.Replayed {
		t.Error("the committed job is not there")
	}

	reset, err := w.ProviderReset(ctx, stage.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	c := submit(t, w, client, "c")
	awaitStatus(t, w, client, c.ID, "unknown")
	if n := len(w.Provider(stage.OpenAI).Calls(stage.Match{Text: "c"})); n != 0 || !reset.Fired() {
		t.Errorf("%d calls got through, fired %v", n, reset.Fired())
	}

	job := submit(t, w, client, "d")
	lock, err := w.LockJob(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Heal(ctx); err != nil {
		t.Error(err)
	}
	if err := w.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	for _, f := range history.Faults(w.History()) {
		if f.Healed.N == 0 {
			t.Errorf("fault %s was not healed", f.Armed.Op)
		}
	}
	e := submit(t, w, client, "e")
	awaitStatus(t, w, client, e.ID, "succeeded")
}

func TestAnIsolatedServiceCanBeKilledAndComesBack(t *testing.T) {
	out := t.TempDir()
	s, err := stage.Start(bounded(t), stage.Options{Out: out, PGURL: mustPG(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := bounded(t)
	w, err := s.World(ctx, "killed", stage.Isolated(stage.ServiceOptions{Workers: 2}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	client := w.Client("client-1")
	gate := w.Provider(stage.OpenAI).Hold(stage.Match{})
	job := submit(t, w, client, "a")
	if err := gate.Await(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := w.Kill(w.Service.Worker(i + 1)); err != nil {
			t.Fatal(err)
		}
	}
	paused, err := w.Pause(ctx, w.Service.Replica(1))
	if err != nil || !paused.Fired() {
		t.Fatalf("paused: %v", err)
	}
	row, err := w.Rows().AttemptRows(ctx, job.ID)
	if err != nil || row[0].State != "running" {
		t.Errorf("attempt is %+v, %v", row, err)
	}
	if err := w.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	for _, p := range w.Service.Processes() {
		if !p.Running() {
			t.Errorf("%s does not run", p.Name)
		}
		if info, err := os.Stat(p.Log()); err != nil || info.Size() == 0 {
			t.Errorf("%s has no log: %v", p.Name, err)
		}
	}
	next := submit(t, w, client, "b")
	awaitStatus(t, w, client, next.ID, "succeeded")
	addr := w.Service.Replica(2).Addr()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		_ = conn.Close()
		t.Error("a replica answers after the world was closed")
	}
	if n, _ := filepath.Glob(filepath.Join(out, "logs", "*")); len(n) == 0 {
		t.Error("no logs are kept")
	}
}

// mustPG is the server of the shared stage, used as one that belongs to
// somebody else.
func mustPG(t *testing.T) string {
	t.Helper()
	s, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return s.PG().URL("postgres")
}
