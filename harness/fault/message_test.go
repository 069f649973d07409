package fault_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
)

func TestOneMessageOfManyIsLost(t *testing.T) {
	for _, s := range []edge.Stream{edge.Up, edge.Down} {
		t.Run(string(s), func(t *testing.T) {
			p, ctx, rec := newProvider(t), bounded(t), history.New()
			f, err := fault.LostMessage(ctx, fault.Wire{Network: edge.Embedded(), Recorder: rec, Edge: fault.ClientAPI, Upstream: p.Listener.Addr().String()}, s, edge.Message{Nth: 2})
			if err != nil {
				t.Fatal(err)
			}
			for i, lost := range []bool{false, true, false} {
				if err := post(ctx, f.URL()); (err != nil) != lost {
					t.Errorf("message %d: %v", i+1, err)
				}
				if f.Fired() != (i > 0) {
					t.Errorf("after message %d it has fired: %v", i+1, f.Fired())
				}
			}
			want := int64(3)
			if s == edge.Up {
				want = 2
			}
			if n := p.executed.Load(); n != want {
				t.Errorf("executed %d times, want %d", n, want)
			}
			if err := f.Heal(ctx); err != nil {
				t.Error(err)
			}
			lived(t, rec, "lost-message", true)
		})
	}
}

func TestOneMessageOfManyIsHeld(t *testing.T) {
	p, ctx, rec := newProvider(t), bounded(t), history.New()
	f, err := fault.HoldMessage(ctx, fault.Wire{Network: edge.Embedded(), Recorder: rec, Edge: fault.ClientAPI, Upstream: p.Listener.Addr().String()}, edge.Down, edge.Message{Nth: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := post(ctx, f.URL()); err != nil || f.Fired() {
		t.Errorf("the first was held: %v, %v", f.Fired(), err)
	}
	done := make(chan error, 1)
	go func() { done <- post(ctx, f.URL()) }()
	if err := f.Await(ctx); err != nil {
		t.Fatal(err)
	}
	if n := p.executed.Load(); n != 2 {
		t.Errorf("executed %d times while the answer is held, want 2", n)
	}
	f.Release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := f.Heal(ctx); err != nil {
		t.Error(err)
	}
	lived(t, rec, "hold-message", true)
}

func TestDuplicateDelivery(t *testing.T) {
	for _, how := range []edge.Delivery{edge.Both, edge.AfterLoss} {
		t.Run(string(how), func(t *testing.T) {
			p, ctx, rec := newProvider(t), bounded(t), history.New()
			b, err := edge.NewBalancer(edge.Backend{Name: "api-1", URL: p.URL}, edge.Backend{Name: "api-2", URL: p.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = b.Close() }()
			f := fault.Duplicate(rec, b, "", how) // post sends no key
			if f.Fired() {
				t.Error("it fired before anybody came")
			}
			if err := post(ctx, b.URL()); err != nil {
				t.Error(err)
			}
			if n := p.executed.Load(); n != 2 || !f.Fired() {
				t.Errorf("executed %d times, fired %v", n, f.Fired())
			}
			if err := f.Heal(ctx); err != nil {
				t.Error(err)
			}
			if err := post(ctx, b.URL()); err != nil || p.executed.Load() != 3 {
				t.Errorf("after healing: executed %d times, %v", p.executed.Load(), err)
			}
			lived(t, rec, "duplicate-delivery", true)
		})
	}
}

func TestStalledPostgresHoldsEveryConnection(t *testing.T) {
	s, url := database(t)
	ctx, rec := bounded(t), history.New()
	relay, err := edge.NewPostgres(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = relay.Close() }()
	f := fault.StallPostgres(rec, relay)
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- try(ctx, through(url, s.Addr(), relay.Addr()), "SELECT") }()
	}
	if err := f.Await(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if f.Held() != 2 {
		t.Errorf("%d connections wait, want 2", f.Held())
	}
	if err := f.Heal(ctx); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := try(ctx, through(url, s.Addr(), relay.Addr()), "SELECT"); err != nil {
		t.Errorf("after healing: %v", err)
	}
	lived(t, rec, "postgres-stall", true)
}

func TestDeadlockEndsTheServicesTransaction(t *testing.T) {
	_, url := database(t)
	ctx, rec := bounded(t), history.New()
	f, err := fault.Deadlock(ctx, rec, url, job, attempt)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { // as the service locks: the job, then its attempt
		done <- try(ctx, url, `DO $$ BEGIN
			PERFORM FROM jobs WHERE id = '`+job+`' FOR NO KEY UPDATE;
			UPDATE attempts SET state = 'unknown' WHERE id = '`+attempt+`';
		END $$`)
	}()
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !contains(err, "40P01") {
		t.Errorf("the service's transaction ended with %v, want 40P01", err)
	}
	if err := f.Heal(ctx); err != nil {
		t.Error(err)
	}
	lived(t, rec, "deadlock", true)
}

// The run may end while the circle is being closed: that is no trouble of the stage,
// and nothing stays locked.
func TestDeadlockIsHealedWhereItsClosingWasGivenUp(t *testing.T) {
	_, url := database(t)
	ctx, rec := bounded(t), history.New()
	f, err := fault.Deadlock(ctx, rec, url, job, attempt)
	if err != nil {
		t.Fatal(err)
	}
	other, err := fault.LockJob(ctx, history.New(), url, job) // so that the closing waits
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() { waits <- try(ctx, url, "UPDATE attempts SET state = 'unknown' WHERE id = '"+attempt+"'") }()
	closing, giveUp := context.WithCancel(ctx)
	closed := make(chan error, 1)
	go func() { closed <- f.Close(closing) }()
	if _, err := other.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	giveUp()
	if err := <-closed; !errors.Is(err, context.Canceled) {
		t.Errorf("closing it ended with %v, want %v", err, context.Canceled)
	}
	if err := f.Heal(ctx); err != nil {
		t.Errorf("what is gone is healed: %v", err)
	}
	if err := <-waits; err != nil {
		t.Errorf("the attempt is still locked: %v", err)
	}
	if err := other.Heal(ctx); err != nil {
		t.Error(err)
	}
	lived(t, rec, "deadlock", false)
}

func TestFailStatementFailsAsOftenAsToldAndLeavesNothing(t *testing.T) {
	_, url := database(t)
	for _, fired := range []bool{true, false} {
		ctx, rec := bounded(t), history.New()
		f, err := fault.FailStatement(ctx, rec, url, "INSERT", "jobs", "NEW.key = 'victim'", "40001", 2)
		if err != nil {
			t.Fatal(err)
		}
		run(t, url, "INSERT INTO jobs (id, owner, key) VALUES (gen_random_uuid(), 'o', 'other ' || clock_timestamp())")
		if f.Fired() {
			t.Error("it fired on another row")
		}
		for i := 0; fired && i < 3; i++ {
			err := try(ctx, url, "INSERT INTO jobs (id, owner, key) VALUES (gen_random_uuid(), 'o', 'victim')")
			if wants := i < 2; contains(err, "40001") != wants {
				t.Errorf("statement %d ended with %v", i+1, err)
			}
		}
		if f.Fired() != fired {
			t.Errorf("fired %v, want %v", f.Fired(), fired)
		}
		if err := f.Heal(ctx); err != nil {
			t.Error(err)
		}
		lived(t, rec, "statement-fails", fired)
		run(t, url, "DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM pg_class WHERE relname LIKE 'interlock_fault%') AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgname LIKE 'interlock_fault%'); END $$")
	}
}

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func through(url, from, to string) string { return strings.Replace(url, from, to, 1) }
