package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// throughRelay returns the relay in front of the database at direct, and the
// database's URL through it.
func throughRelay(t *testing.T, direct string) (*edge.Postgres, string) {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	relay, err := edge.NewPostgres(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := relay.Close(); err != nil {
			t.Error(err)
		}
	})
	u.Host = relay.Addr()
	return relay, u.String()
}

// lossy is one kind of transaction whose COMMIT is lost.
type lossy struct {
	name string
	// prepare makes the job through a healthy store and returns it.
	prepare func(t *testing.T, s *postgres.Store, key job.Key) job.Claimed
	// victim picks the transaction.
	victim func(c job.Claimed) edge.Victim
	// do runs it through the store whose COMMIT is lost, and says whether its
	// answer is right.
	do func(t *testing.T, s *postgres.Store, c job.Claimed) error
	// after is what the attempts must be; events how many of each move there may be.
	after string
}

func byJobID(c job.Claimed) edge.Victim { return edge.Victim{Values: []string{string(c.Job.ID)}} }

func prepared(state job.State) func(*testing.T, *postgres.Store, job.Key) job.Claimed {
	return func(t *testing.T, s *postgres.Store, key job.Key) job.Claimed { return inState(t, s, key, state) }
}

var lossyKinds = []lossy{
	{
		name: "submit",
		prepare: func(t *testing.T, s *postgres.Store, key job.Key) job.Claimed {
			return job.Claimed{Job: job.Job{Key: key}}
		},
		victim: func(c job.Claimed) edge.Victim { return edge.Victim{Values: []string{string(c.Job.Key)}} },
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			j, created, err := s.Submit(ctx(t), submission(c.Job.Key))
			if err == nil && !created {
				err = errors.New("told as a replay")
			}
			if err == nil && j.LastEvent == 0 {
				err = errors.New("without its newest event")
			}
			return err
		},
		after: "starting ",
	},
	{
		name: "start", prepare: prepared(job.StateFailed), victim: byJobID, after: "failed starting ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			a, replayed, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"})
			if err == nil && (replayed || a.N != 2) {
				err = fmt.Errorf("attempt %d, replayed %v", a.N, replayed)
			}
			return err
		},
	},
	{
		name: "claim", prepare: prepared(job.StateStarting), after: "running ",
		victim: func(job.Claimed) edge.Victim { return edge.Victim{Statement: "picked AS"} },
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			for begun := time.Now(); time.Since(begun) < toStore; { // a claim that was not stored is made again by the next poll
				got, err := s.Claim(ctx(t), "w", time.Minute, 10)
				if err == nil && len(got) == 1 && got[0].Job.ID == c.Job.ID {
					return nil
				}
				if err != nil && !errors.Is(err, job.ErrUnavailable) {
					return err
				}
			}
			return errors.New("never claimed")
		},
	},
	{
		name: "complete", prepare: prepared(job.StateRunning), victim: byJobID, after: "succeeded ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			return s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`))
		},
	},
	{
		name: "lose", after: "cancelled ",
		prepare: prepared(job.StateCancelled),
		victim:  func(job.Claimed) edge.Victim { return edge.Victim{Statement: "INTO races"} },
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			if err := s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)); !errors.Is(err, job.ErrLate) {
				return fmt.Errorf("got %v, want late", err)
			}
			races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: c.Job.ID})
			if err == nil && len(races) != 1 {
				err = fmt.Errorf("%d races", len(races))
			}
			return err
		},
	},
	{
		name: "fail", prepare: prepared(job.StateRunning), victim: byJobID, after: "failed ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			return s.Fail(ctx(t), settlement(c, "refused.400"))
		},
	},
	{
		name: "mark unknown", prepare: prepared(job.StateRunning), victim: byJobID, after: "unknown ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			_, err := s.MarkUnknown(ctx(t), settlement(c, "deadline"))
			return err
		},
	},
	{
		name: "cancel job", prepare: prepared(job.StateStarting), victim: byJobID, after: "cancelled ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			j, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"})
			if err == nil && (j.Status != job.StatusCancelled || j.Version != 2) {
				err = fmt.Errorf("job is %+v", j)
			}
			return err
		},
	},
	{
		name: "cancel attempt", prepare: prepared(job.StateUnknown), victim: byJobID, after: "cancelled ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			_, err := s.CancelAttempt(ctx(t), job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: 1, Actor: "operator:o"})
			return err
		},
	},
	{
		name: "release", prepare: prepared(job.StateUnknown), victim: byJobID, after: "released ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			_, err := s.ReleaseAttempt(ctx(t), job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: 1, Actor: "operator:o"})
			return err
		},
	},
	{
		name: "resolve as succeeded", prepare: prepared(job.StateUnknown), victim: byJobID, after: "succeeded ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			_, err := s.ResolveAttempt(ctx(t), job.Resolution{Move: job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: 1, Actor: "operator:o"},
				Outcome: job.OutcomeSucceeded, Result: json.RawMessage(`1`)})
			return err
		},
	},
	{
		name: "resolve as failed", prepare: prepared(job.StateUnknown), victim: byJobID, after: "failed ",
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			_, err := s.ResolveAttempt(ctx(t), job.Resolution{Move: job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: 1, Actor: "operator:o"},
				Outcome: job.OutcomeFailed})
			return err
		},
	},
	{
		name: "reap", victim: byJobID, after: "unknown ",
		prepare: func(t *testing.T, s *postgres.Store, key job.Key) job.Claimed {
			submit(t, s, submission(key))
			got, err := s.Claim(ctx(t), "w", -time.Second, 10)
			if err != nil || len(got) != 1 {
				t.Fatalf("claim: %v, %v", got, err)
			}
			return got[0]
		},
		do: func(t *testing.T, s *postgres.Store, c job.Claimed) error {
			n, err := s.ReapLeases(ctx(t))
			if err == nil && n != 1 {
				err = fmt.Errorf("reaped %d", n)
			}
			return err
		},
	},
}

// A lost COMMIT, whichever side of it broke, has one effect and the right answer.
func TestALostCommitIsLookedUp(t *testing.T) {
	direct, url := open(t, postgres.Options{})
	relay, relayed := throughRelay(t, url)
	cut := openAt(t, relayed, postgres.Options{})
	for _, kind := range lossyKinds {
		for _, how := range []struct {
			at edge.Place
			do edge.Deed
		}{{edge.BeforeCommit, edge.Close}, {edge.AfterCommit, edge.Close}, {edge.AfterCommit, edge.Half}, {edge.AfterCommit, edge.RST}} {
			name := fmt.Sprintf("%s: %s %s", kind.name, how.do, how.at)
			t.Run(name, func(t *testing.T) {
				key := job.Key(name)
				c := kind.prepare(t, direct, key)
				rule, err := relay.Arm(kind.victim(c), how.at, how.do, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer rule.Disarm()
				if err := kind.do(t, cut, c); err != nil {
					t.Errorf("answered %v", err)
				}
				if !rule.Fired() {
					t.Error("no COMMIT was lost: this shows nothing")
				}
				j, err := direct.JobByKey(ctx(t), "alice", key)
				if err != nil {
					t.Fatal(err)
				}
				if got := states(t, direct, j.ID); got != kind.after {
					t.Errorf("attempts are %q, want %q", got, kind.after)
				}
				twice := value[int](t, url, `SELECT count(*) FROM (SELECT attempt_id, type, from_state, to_state FROM attempt_events
					WHERE job_id = $1 GROUP BY 1, 2, 3, 4 HAVING count(*) > 1) double`, string(j.ID))
				if twice != 0 {
					t.Errorf("%d moves are told twice", twice)
				}
				_, _ = direct.CancelJob(ctx(t), job.Move{Owner: "alice", Job: j.ID, Actor: "test"}) // leave nothing to claim
			})
		}
	}
}

// When the database cannot be reached to look, the answer is that nobody knows.
func TestALostCommitThatCannotBeLookedUpIsUnavailable(t *testing.T) {
	direct, url := open(t, postgres.Options{})
	relay, relayed := throughRelay(t, url)
	cut := openAt(t, relayed, postgres.Options{Patience: 2 * time.Second})
	c := running(t, direct, submission("k"))
	jobOf(t, cut, c.Job.ID) // it is connected
	rule, err := relay.Arm(byJobID(c), edge.AfterCommit, edge.Close, func(string) { go relay.Close() })
	if err != nil {
		t.Fatal(err)
	}
	if err := cut.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if !rule.Fired() {
		t.Error("no COMMIT was lost")
	}
	// the same settlement once more, when the database is back, finds its own win
	if err := direct.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)); err != nil {
		t.Errorf("repeated: %v", err)
	}
	if races, err := direct.Races(ctx(t), "alice", job.RaceFilter{}); err != nil || len(races) != 0 {
		t.Errorf("the own win counts as a lost race: %v, %v", races, err)
	}
}

func mutated(t *testing.T, name string) mutant.Active {
	t.Helper()
	m, err := mutant.Choose(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each mutant of the lost COMMIT gives the wrong answer that it is named for.
func TestMutantsOfTheLostCommit(t *testing.T) {
	cutStore := func(t *testing.T, name string, at edge.Place) (direct, cut *postgres.Store, arm func(edge.Victim)) {
		direct, url := open(t, postgres.Options{})
		relay, relayed := throughRelay(t, url)
		cut = openAt(t, relayed, postgres.Options{Mutant: mutated(t, name)})
		return direct, cut, func(v edge.Victim) {
			rule, err := relay.Arm(v, at, edge.Close, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if !rule.Fired() {
					t.Error("no COMMIT was lost")
				}
			})
		}
	}
	t.Run("lost-submit-is-new", func(t *testing.T) {
		direct, cut, arm := cutStore(t, "lost-submit-is-new", edge.AfterCommit)
		arm(edge.Victim{Values: []string{"the-key"}})
		told, _, err := cut.Submit(ctx(t), submission("the-key"))
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := direct.Submit(ctx(t), submission("the-key"))
		if err != nil || again.ID == told.ID {
			t.Errorf("one job: %s, %v", again.ID, err)
		}
	})
	t.Run("lost-commit-is-success", func(t *testing.T) {
		direct, cut, arm := cutStore(t, "lost-commit-is-success", edge.BeforeCommit)
		c := running(t, direct, submission("k"))
		arm(byJobID(c))
		if err := cut.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)); err != nil {
			t.Fatal(err)
		}
		if got := states(t, direct, c.Job.ID); got != "running " {
			t.Errorf("the result is stored: %s", got)
		}
	})
	t.Run("lost-commit-is-repeated", func(t *testing.T) {
		direct, cut, arm := cutStore(t, "lost-commit-is-repeated", edge.AfterCommit)
		c := running(t, direct, submission("k"))
		arm(byJobID(c))
		if err := cut.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)); !errors.Is(err, job.ErrLate) {
			t.Errorf("the own win was kept: %v", err)
		}
	})
}
