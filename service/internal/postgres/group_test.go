package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// answered is what one submit was told.
type answered struct {
	j       job.Job
	created bool
	err     error
}

// grouped has a store take several submits, in this order, as one group: it lets
// them go when all wait, and does not wait for their answers.
func grouped(t *testing.T, s *postgres.Store, ins ...job.Submission) []<-chan answered {
	t.Helper()
	answers := make([]<-chan answered, len(ins))
	s.Crowd()
	for i, in := range ins {
		answer := make(chan answered, 1)
		answers[i] = answer
		go func() {
			j, created, err := s.Submit(ctx(t), in)
			answer <- answered{j, created, err}
		}()
		waitForFlight(t, s, i+1)
	}
	for range postgres.MostFlights {
		s.Land()
	}
	return answers
}

func waitForFlight(t *testing.T, s *postgres.Store, n int) {
	t.Helper()
	for begun := time.Now(); s.Waiting() < n; time.Sleep(time.Millisecond) {
		if time.Since(begun) > toStore {
			t.Fatalf("%d submits wait for a flight, not %d", s.Waiting(), n)
		}
	}
}

func by(owner job.Owner, key job.Key) job.Submission {
	in := submission(key)
	in.Owner = owner
	return in
}

func other(key job.Key) job.Submission {
	in := submission(key)
	in.Fingerprint = sha256.Sum256([]byte("other"))
	return in
}

// inOneStatement reports whether jobs with these keys were stored by one statement.
func inOneStatement(t *testing.T, url string, keys ...string) bool {
	t.Helper()
	return value[bool](t, url, `SELECT count(*) = cardinality($1::text[]) AND count(DISTINCT xmin::text) = 1 AND count(DISTINCT cmin::text) = 1
		FROM jobs WHERE key = ANY ($1)`, keys)
}

func TestAGroupAnswersEach(t *testing.T) {
	elsewhere, url := open(t, postgres.Options{})
	taken, purged := submit(t, elsewhere, submission("taken")), submit(t, elsewhere, submission("purged"))
	if _, err := elsewhere.CancelJob(ctx(t), job.Move{Owner: "alice", Job: purged.ID, Actor: "owner:alice"}); err != nil {
		t.Fatal(err)
	}
	if n, err := elsewhere.Purge(ctx(t), -time.Minute, 10); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	s := openAt(t, url, postgres.Options{}) // it remembers none of these keys
	answers := grouped(t, s, submission("new-2"), submission("taken"), other("taken"), submission("purged"),
		submission("twice"), submission("twice"), other("twice"), by("bob", "taken"), submission("new-1"))
	got := make([]answered, len(answers))
	for i, a := range answers {
		got[i] = <-a
	}
	for _, i := range []int{0, 4, 7, 8} {
		if got[i].err != nil || !got[i].created || got[i].j.LastEvent == 0 || got[i].j.CreatedAt.IsZero() {
			t.Errorf("new job %d: %+v", i, got[i])
			continue
		}
		stored := value[string](t, url, "SELECT owner || ' ' || key FROM jobs WHERE id = $1", string(got[i].j.ID))
		if want := string(got[i].j.Owner) + " " + string(got[i].j.Key); stored != want {
			t.Errorf("new job %d is stored as %s, not %s", i, stored, want)
		}
		if last := value[int64](t, url, "SELECT max(id) FROM attempt_events WHERE job_id = $1", string(got[i].j.ID)); last != got[i].j.LastEvent {
			t.Errorf("new job %d: its newest event is %d, told %d", i, last, got[i].j.LastEvent)
		}
	}
	for i, want := range map[int]job.ID{1: taken.ID, 5: got[4].j.ID} {
		if got[i].err != nil || got[i].created || got[i].j.ID != want {
			t.Errorf("duplicate %d: %+v, want %s", i, got[i], want)
		}
	}
	for i, want := range map[int]job.ID{2: taken.ID, 6: got[4].j.ID} {
		var conflict *job.KeyConflictError
		if !errors.As(got[i].err, &conflict) || conflict.JobID != want {
			t.Errorf("another input %d: %+v", i, got[i])
		}
	}
	if !errors.Is(got[3].err, job.ErrPurged) {
		t.Errorf("purged: %+v", got[3])
	}
	if !inOneStatement(t, url, "new-1", "new-2", "twice") {
		t.Error("they were no group: this shows nothing")
	}
	if n := value[int](t, url, "SELECT count(*) FROM jobs"); n != 6 {
		t.Errorf("%d jobs", n)
	}
}

// The schema says whose a key is: where the statement of a group does not ask, the
// server refuses the group, and its submits go on alone, with a statement that asks.
func TestAGroupThatDoesNotAskForTakenKeysGoesOnAlone(t *testing.T) {
	elsewhere, url := open(t, postgres.Options{})
	taken := submit(t, elsewhere, submission("taken"))
	guards := mutant.Guards(postgres.Statements())
	i := slices.IndexFunc(guards, func(m mutant.Mutant) bool { return m.Name == "guard:submit-jobs:1" })
	for _, c := range []struct {
		name   string
		fault  mutant.Active
		keys   []string // of the two new jobs
		really bool     // they are stored by one statement
	}{
		{"it asks", mutant.Active{}, []string{"new-1", "twice-1"}, true},
		{"it does not", mutant.With(guards[i]), []string{"new-2", "twice-2"}, false},
	} {
		s := openAt(t, url, postgres.Options{Mutant: c.fault})
		fresh, twice := job.Key(c.keys[0]), job.Key(c.keys[1])
		var got []answered
		for _, a := range grouped(t, s, submission(fresh), submission("taken"), other("taken"), submission(twice), submission(twice)) {
			got = append(got, <-a)
		}
		var conflict *job.KeyConflictError
		if got[0].err != nil || !got[0].created || got[1].err != nil || got[1].created || got[1].j.ID != taken.ID || !errors.As(got[2].err, &conflict) ||
			got[3].err != nil || got[4].err != nil || got[3].created == got[4].created || got[3].j.ID != got[4].j.ID {
			t.Errorf("%s: %+v", c.name, got)
		}
		if one := inOneStatement(t, url, c.keys...); one != c.really {
			t.Errorf("%s: the new jobs were stored by one statement: %t", c.name, one)
		}
	}
	if n := value[int](t, url, "SELECT count(*) FROM jobs"); n != 5 {
		t.Errorf("%d jobs", n)
	}
}

// Keys are taken in one order, so that groups never wait for each other in a ring;
// attempts are claimed in the order in which they were asked for.
func TestAGroupTakesKeysInOrderAndQueuesAsItCame(t *testing.T) {
	s, url := open(t, postgres.Options{})
	for _, a := range grouped(t, s, submission("c"), by("zoe", "a"), submission("a"), submission("b")) {
		if got := <-a; got.err != nil || !got.created {
			t.Error(got)
		}
	}
	if rows := value[string](t, url, "SELECT string_agg(owner || ' ' || key, ', ' ORDER BY ctid) FROM jobs"); rows != "alice a, alice b, alice c, zoe a" {
		t.Errorf("keys were taken as %s", rows)
	}
	if queue := value[string](t, url, "SELECT string_agg(j.owner || ' ' || j.key, ', ' ORDER BY a.fence) FROM attempts a JOIN jobs j ON j.id = a.job_id"); queue != "alice c, zoe a, alice a, alice b" {
		t.Errorf("the queue is %s", queue)
	}
}

func TestAWrongRowDoesNotFailItsGroup(t *testing.T) {
	s, url := open(t, postgres.Options{})
	answers := grouped(t, s, submission("a"), by("*", "b"), submission("c")) // no owner is called *
	for i, a := range answers {
		if got := <-a; (got.err == nil) != (i != 1) || got.created != (i != 1) {
			t.Errorf("submit %d: %+v", i, got)
		}
	}
	if n := value[int](t, url, "SELECT count(*) FROM jobs"); n != 2 {
		t.Errorf("%d jobs", n)
	}
}

func TestACallerWhoGoesDoesNotTakeItsGroupAlong(t *testing.T) {
	s, url := open(t, postgres.Options{})
	s.Crowd()
	gone, leave := context.WithCancel(ctx(t))
	left, stayed := make(chan error, 1), make(chan answered, 1)
	go func() { _, _, err := s.Submit(gone, submission("gone")); left <- err }()
	waitForFlight(t, s, 1)
	go func() {
		j, created, err := s.Submit(ctx(t), submission("stayed"))
		stayed <- answered{j, created, err}
	}()
	waitForFlight(t, s, 2)
	leave()
	if err := <-left; !errors.Is(err, job.ErrUnavailable) { // it may be stored
		t.Errorf("who left was told %v", err)
	}
	for range postgres.MostFlights {
		s.Land()
	}
	if got := <-stayed; got.err != nil || !got.created {
		t.Error(got)
	}
	if !inOneStatement(t, url, "gone", "stayed") {
		t.Error("they were no group: this shows nothing")
	}
}

// A COMMIT that is lost is lost for all of a group, and each finds out for itself.
func TestALostCommitOfAGroupIsLookedUpByEach(t *testing.T) {
	_, url := open(t, postgres.Options{})
	relay, relayed := throughRelay(t, url)
	keys := func(name string) []job.Submission {
		return []job.Submission{submission(job.Key(name + "1")), submission(job.Key(name + "2")), submission(job.Key(name + "3"))}
	}
	for name, at := range map[string]edge.Place{"before": edge.BeforeCommit, "after": edge.AfterCommit} {
		t.Run(name, func(t *testing.T) {
			rule, err := relay.Arm(edge.Victim{Values: []string{name + "2"}}, at, edge.Close, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer rule.Disarm()
			for i, a := range grouped(t, openAt(t, relayed, postgres.Options{}), keys(name)...) {
				if got := <-a; got.err != nil || !got.created || got.j.LastEvent == 0 {
					t.Errorf("submit %d: %+v", i, got)
				}
			}
			if !rule.Fired() {
				t.Error("no COMMIT was lost: this shows nothing")
			}
			if n := value[int](t, url, "SELECT count(*) FROM jobs j JOIN attempts a ON a.job_id = j.id WHERE j.key LIKE $1", name+"%"); n != 3 {
				t.Errorf("%d jobs with their attempts", n)
			}
		})
	}
	t.Run("the mutant gets all of a group wrong", func(t *testing.T) {
		rule, err := relay.Arm(edge.Victim{Values: []string{"mutant2"}}, edge.BeforeCommit, edge.Close, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer rule.Disarm()
		s := openAt(t, relayed, postgres.Options{Mutant: mutated(t, string(mutant.LostCommitIsSuccess))})
		for i, a := range grouped(t, s, keys("mutant")...) {
			if got := <-a; got.err != nil || !got.created {
				t.Errorf("submit %d: %+v", i, got)
			}
		}
		if n := value[int](t, url, "SELECT count(*) FROM jobs WHERE key LIKE 'mutant%'"); !rule.Fired() || n != 0 {
			t.Errorf("%d of them are stored", n)
		}
	})
}

// heldKeys keeps keys of alice uncommitted until it is ended.
func heldKeys(t *testing.T, url string, keys ...string) (end func(how string)) {
	t.Helper()
	c, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	if _, err := c.Exec(ctx(t), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(ctx(t), `INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent)
		SELECT gen_random_uuid(), 'alice', key, decode(repeat('5a', 32), 'hex'), 1, '', '{}' FROM unnest($1::text[]) key`, keys)
	if err != nil {
		t.Fatal(err)
	}
	return func(how string) {
		if _, err := c.Exec(ctx(t), how); err != nil {
			t.Error(err)
		}
	}
}

// Whose key somebody else has not committed waits for that alone.
func TestAKeyThatIsHeldDoesNotHoldUpItsGroup(t *testing.T) {
	for how, want := range map[string]bool{"ROLLBACK": true, "COMMIT": false} {
		t.Run(how, func(t *testing.T) {
			s, url := open(t, postgres.Options{Patience: toStore})
			end := heldKeys(t, url, "held")
			answers := grouped(t, s, submission("a"), submission("held"), submission("z"))
			for _, i := range []int{0, 2} {
				if got := <-answers[i]; got.err != nil || !got.created { // while the key is held
					t.Errorf("submit %d: %+v", i, got)
				}
			}
			waiting(t, url, 1)
			end(how)
			got := <-answers[1]
			var conflict *job.KeyConflictError
			if got.created != want || !want && !errors.As(got.err, &conflict) || want && got.err != nil {
				t.Errorf("after %s: %+v", how, got)
			}
		})
	}
}

// lockJobs locks the table of jobs until unlock is called.
func lockJobs(t *testing.T, url, mode string) (unlock func()) {
	t.Helper()
	c, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	for _, statement := range []string{"BEGIN", "LOCK TABLE jobs IN " + mode + " MODE"} {
		if _, err := c.Exec(ctx(t), statement); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		if _, err := c.Exec(ctx(t), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}

// A table that is locked holds up each on a connection of its own, although a group
// is prepared first.
func TestALockedTableDoesNotKeepAGroupTogether(t *testing.T) {
	s, url := open(t, postgres.Options{Patience: toStore})
	unlock := lockJobs(t, url, "SHARE")
	answers := grouped(t, s, submission("a"), submission("b"), submission("c"))
	waiting(t, url, 3)
	unlock()
	for i, a := range answers {
		if got := <-a; got.err != nil || !got.created {
			t.Errorf("submit %d: %+v", i, got)
		}
	}
}

// Submits that wait for held keys do not keep the flights for themselves.
func TestHeldKeysDoNotKeepOtherSubmitsWaiting(t *testing.T) {
	s, url := open(t, postgres.Options{Patience: toStore})
	var keys []string
	for i := range postgres.MostFlights {
		keys = append(keys, fmt.Sprint("held-", i))
	}
	end := heldKeys(t, url, keys...)
	var blocked sync.WaitGroup
	for _, key := range keys {
		blocked.Go(func() {
			if _, created, err := s.Submit(ctx(t), submission(job.Key(key))); err != nil || !created {
				t.Errorf("%s: created %v, %v", key, created, err)
			}
		})
	}
	waiting(t, url, len(keys))
	submit(t, s, submission("free"))
	end("ROLLBACK")
	blocked.Wait()
}

// Two processes whose groups hold the same keys in opposite order give one job to
// each key.
func TestGroupsOfTwoProcessesAgree(t *testing.T) {
	one, url := open(t, postgres.Options{})
	two := openAt(t, url, postgres.Options{})
	for round := range rounds(t, 10) {
		var ins []job.Submission
		for i := range 16 {
			ins = append(ins, submission(job.Key(fmt.Sprintf("%d-%d", round, i))))
		}
		reversed := slices.Clone(ins)
		slices.Reverse(reversed)
		var got [2][]answered
		var both sync.WaitGroup
		for i, side := range []struct {
			s   *postgres.Store
			ins []job.Submission
		}{{one, ins}, {two, reversed}} {
			both.Go(func() {
				for _, a := range grouped(t, side.s, side.ins...) {
					got[i] = append(got[i], <-a)
				}
			})
		}
		both.Wait()
		slices.Reverse(got[1])
		for i := range ins {
			a, b := got[0][i], got[1][i]
			if a.err != nil || b.err != nil || a.created == b.created || a.j.ID != b.j.ID {
				t.Errorf("%s: %+v and %+v", ins[i].Key, a, b)
			}
		}
	}
	if n := value[int](t, url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

func TestAGroupIsASpanOfEachRequest(t *testing.T) {
	type request struct{}
	var mu sync.Mutex
	spans := map[any]int{}
	url := migrated(t)
	s := openAt(t, url, postgres.Options{Spans: func(ctx context.Context, names string) func(error) {
		mu.Lock()
		defer mu.Unlock()
		if names == "submit-jobs" {
			spans[ctx.Value(request{})]++
		}
		return func(error) {}
	}})
	s.Crowd()
	var done sync.WaitGroup
	for i := range 3 {
		done.Go(func() {
			if _, _, err := s.Submit(context.WithValue(ctx(t), request{}, i), submission(job.Key(fmt.Sprint(i)))); err != nil {
				t.Error(err)
			}
		})
	}
	waitForFlight(t, s, 3)
	for range postgres.MostFlights {
		s.Land()
	}
	done.Wait()
	if spans[0] != 1 || spans[1] != 1 || spans[2] != 1 {
		t.Errorf("spans by request: %v", spans)
	}
}
