package postgres_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// pair is a primary with a streaming standby, and a store that finds whichever of
// them takes writes.
type pair struct {
	primary, standby *pgserver.Server
	relay            *edge.Postgres // before the primary
	store            *postgres.Store
	after            string // URL of the database at the standby
}

// toPromote bounds what waits for a standby: its start, its promotion, and the
// store's way to it.
const toPromote = 15 * time.Second

func replicated(t *testing.T, synchronous bool) *pair {
	t.Helper()
	primary, direct := durable(t)
	prepare := openAt(t, direct, postgres.Options{})
	if err := prepare.Migrate(ctx(t)); err != nil {
		t.Fatal(err)
	}
	standby, err := primary.Standby(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := primary.Synchronous(ctx(t), synchronous); err != nil {
		t.Fatal(err)
	}
	relay, relayed := throughRelay(t, direct)
	u, err := url.Parse(relayed)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{primary: primary, standby: standby, relay: relay}
	other := *u
	other.Host = standby.Addr()
	p.after = other.String()
	// as libpq has it: several hosts, and the one that takes writes
	u.Host += "," + standby.Addr()
	query := u.Query()
	query.Set("target_session_attrs", "read-write")
	u.RawQuery = query.Encode()
	p.store = openAt(t, u.String(), postgres.Options{Patience: toPromote})
	return p
}

// fails kills the primary and promotes the standby.
func (p *pair) fails(t *testing.T) {
	t.Helper()
	if err := p.primary.Crash(ctx(t)); err != nil {
		t.Fatal(err)
	}
	if err := p.standby.Continue(); err != nil {
		t.Fatal(err)
	}
	if err := p.standby.Promote(ctx(t)); err != nil {
		t.Fatal(err)
	}
}

// cutOff keeps from the standby whatever the primary commits from now on: it
// stands still, and its connection is gone, with nothing on its way in it.
func (p *pair) cutOff(t *testing.T) {
	t.Helper()
	if err := p.standby.Pause(); err != nil {
		t.Fatal(err)
	}
	sql(t, p.primary.URL("postgres"), "SELECT pg_terminate_backend(pid) FROM pg_stat_replication")
	for begun := time.Now(); value[int](t, p.primary.URL("postgres"), "SELECT count(*) FROM pg_stat_replication") > 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > toPromote {
			t.Fatal("the standby is still connected")
		}
	}
}

// acknowledged makes jobs and winners whose commits were answered.
func (p *pair) acknowledged(t *testing.T, n int, prefix string) []job.Claimed {
	t.Helper()
	var all []job.Claimed
	for i := range n {
		c := running(t, p.store, submission(job.Key(fmt.Sprint(prefix, i))))
		if err := p.store.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`{"n":1}`)); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// lost counts those of all that are not at the promoted standby as they were
// acknowledged.
func (p *pair) lost(t *testing.T, all []job.Claimed) (lost int) {
	t.Helper()
	now := openAt(t, p.after, postgres.Options{})
	for _, c := range all {
		j, err := now.Job(ctx(t), job.AnyOwner, c.Job.ID)
		if err != nil || j.Status != job.StatusSucceeded || j.CompletedBy != c.Attempt.ID || string(j.Result) != `{"n":1}` {
			lost++
		}
	}
	return lost
}

// TestAPromotedStandbyHasEveryWinner kills the primary of a synchronous pair
// between a compare-and-swap and its acknowledgement, on either side of the
// standby's copy, and asks the promoted standby.
func TestAPromotedStandbyHasEveryWinner(t *testing.T) {
	for _, tc := range []struct {
		name   string
		copied bool // the standby had the commit when the primary died
	}{{"the standby has it", true}, {"the standby has not", false}} {
		t.Run(tc.name, func(t *testing.T) {
			p := replicated(t, true)
			before := p.acknowledged(t, 10, "before-")
			c := running(t, p.store, submission("victim"))
			done := make(chan error, 1)
			var rule *edge.Rule
			if tc.copied {
				var err error
				if rule, err = p.relay.Arm(byJobID(c), edge.AfterCommit, edge.Hold, nil); err != nil {
					t.Fatal(err)
				}
			} else {
				p.cutOff(t)
			}
			go func() { done <- p.store.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`{"n":1}`)) }()
			if tc.copied {
				if err := rule.Await(ctx(t)); err != nil {
					t.Fatal(err)
				}
			} else {
				p.waitsForStandby(t)
			}
			select {
			case err := <-done:
				t.Fatalf("it was acknowledged too early: %v", err)
			default:
			}
			p.fails(t)
			if rule != nil {
				rule.Release()
			}
			if err := <-done; err != nil {
				t.Fatalf("the compare-and-swap ends with %v", err)
			}
			after := p.acknowledged(t, 3, "after-")
			all := append(append(before, c), after...)
			if n := p.lost(t, all); n != 0 {
				t.Errorf("%d of %d acknowledged winners are lost", n, len(all))
			}
			if wins := value[int](t, p.after, "SELECT count(*) FROM attempt_events WHERE type = 'job.succeeded' AND job_id = $1", string(c.Job.ID)); wins != 1 {
				t.Errorf("the victim won %d times", wins)
			}
			if races := value[int](t, p.after, "SELECT count(*) FROM races"); races != 0 {
				t.Errorf("%d of its own wins count as late", races)
			}
			if again, created, err := p.store.Submit(ctx(t), submission("before-0")); err != nil || created || again.ID != before[0].Job.ID {
				t.Errorf("a key of before: %+v, %v, %v", again, created, err)
			}
		})
	}
}

// waitsForStandby returns when a commit of the primary waits for the standby.
func (p *pair) waitsForStandby(t *testing.T) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < toPromote; time.Sleep(5 * time.Millisecond) {
		if value[int](t, p.primary.URL("postgres"), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") > 0 {
			return
		}
	}
	t.Fatal("no commit waits for the standby")
}

// TestAnAsynchronousStandbyLosesWinners is the control: without synchronous
// commit the same failure loses what was acknowledged, and the key is free again.
func TestAnAsynchronousStandbyLosesWinners(t *testing.T) {
	p := replicated(t, false)
	before := p.acknowledged(t, 3, "before-")
	caughtUp := func() bool {
		return value[bool](t, p.primary.URL("postgres"), "SELECT coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) FROM pg_stat_replication")
	}
	for begun := time.Now(); !caughtUp(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > toPromote {
			t.Fatal("the standby does not catch up")
		}
	}
	p.cutOff(t)
	gone := p.acknowledged(t, 10, "gone-")
	p.fails(t)
	if n := p.lost(t, before); n != 0 {
		t.Errorf("%d winners are lost that the standby had", n)
	}
	if n := p.lost(t, gone); n != len(gone) {
		t.Fatalf("%d of %d acknowledged winners are lost: the control shows nothing", n, len(gone))
	}
	anew, created, err := p.store.Submit(ctx(t), submission("gone-0"))
	if err != nil || !created || anew.ID == gone[0].Job.ID {
		t.Errorf("its key again: %+v, %v, %v", anew, created, err)
	}
}
