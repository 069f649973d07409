package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

func TestJobsArePagedNewestFirst(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	want := map[job.Status]job.State{
		job.StatusStarting: job.StateStarting, job.StatusRunning: job.StateRunning, job.StatusUnknown: job.StateUnknown,
		job.StatusOpen: job.StateReleased, job.StatusSucceeded: job.StateSucceeded, job.StatusFailed: job.StateFailed,
	}
	var all []job.ID
	byStatus := map[job.Status][]job.ID{}
	for round := range 3 {
		for _, status := range []job.Status{job.StatusRunning, job.StatusUnknown, job.StatusOpen, job.StatusSucceeded, job.StatusFailed, job.StatusStarting} {
			c := inState(t, s, job.Key(fmt.Sprint(status, round)), want[status])
			all = append([]job.ID{c.Job.ID}, all...)
			byStatus[status] = append([]job.ID{c.Job.ID}, byStatus[status]...)
			if status == job.StatusStarting && round < 2 { // leave nothing for the next claim
				if _, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: c.Job.ID, Actor: "test"}); err != nil {
					t.Fatal(err)
				}
				byStatus[job.StatusCancelled] = append([]job.ID{c.Job.ID}, byStatus[job.StatusCancelled]...)
				byStatus[job.StatusStarting] = nil
			}
		}
	}
	other := submission("x")
	other.Owner = "bob"
	submit(t, s, other)

	pages := func(f job.Filter) (ids []job.ID) {
		t.Helper()
		f.Limit = 2
		for {
			page, err := s.Jobs(ctx(t), "alice", f)
			if err != nil || len(page) > 2 {
				t.Fatalf("%d jobs on a page, %v", len(page), err)
			}
			for _, j := range page {
				if f.Status != "" && j.Status != f.Status {
					t.Errorf("a job that is %s among those that are %s", j.Status, f.Status)
				}
				ids = append(ids, j.ID)
			}
			if len(page) == 0 {
				return ids
			}
			f.After = page[len(page)-1].ID
		}
	}
	if got := pages(job.Filter{}); fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("all: %v, want %v", got, all)
	}
	for status, ids := range byStatus {
		if got := pages(job.Filter{Status: status}); fmt.Sprint(got) != fmt.Sprint(ids) {
			t.Errorf("%s: %v, want %v", status, got, ids)
		}
	}
	everybody, err := s.Jobs(ctx(t), job.AnyOwner, job.Filter{})
	if err != nil || len(everybody) != len(all)+1 {
		t.Errorf("an operator lists %d jobs, %v", len(everybody), err)
	}
}

func TestEventsResumeBehindANumber(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	a, b := twoContenders(t, s, "k")
	if err := s.Complete(ctx(t), settlement(b, "ok"), json.RawMessage(`1`)); err != nil {
		t.Fatal(err)
	}
	if err := s.Complete(ctx(t), settlement(a, "ok"), json.RawMessage(`2`)); !errors.Is(err, job.ErrLate) {
		t.Fatal(err)
	}
	all, err := s.Events(ctx(t), "alice", a.Job.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, e := range all {
		got = append(got, fmt.Sprintf("%s %d %s>%s %s %s", e.Type, e.N, e.From, e.To, e.Actor, e.Reason))
		rest, err := s.Events(ctx(t), "alice", a.Job.ID, e.ID, 0)
		if err != nil || len(rest) != len(all)-i-1 {
			t.Errorf("%d events behind number %d, %v", len(rest), e.ID, err)
		}
		if i > 0 && e.At.Before(all[i-1].At) {
			t.Errorf("event %d is earlier than the one before", e.ID)
		}
	}
	want := []string{
		"job.submitted 0 > owner:alice ",
		"attempt.moved 1 >starting owner:alice ",
		"attempt.moved 1 starting>running worker ",
		"attempt.moved 1 running>unknown worker deadline",
		"attempt.moved 1 unknown>released operator:o ",
		"attempt.moved 2 >starting owner:alice ",
		"attempt.moved 2 starting>running worker ",
		"attempt.moved 2 running>succeeded worker ok",
		"job.succeeded 2 > worker ok",
		"attempt.moved 1 released>lost worker late",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events are\n%v\nwant\n%v", got, want)
	}
	if j := jobOf(t, s, a.Job.ID); j.LastEvent != all[len(all)-1].ID {
		t.Errorf("the newest event is %d, the job says %d", all[len(all)-1].ID, j.LastEvent)
	}
	pulse, err := s.Pulse(ctx(t), []job.ID{a.Job.ID, "00000000-0000-7000-8000-000000000000"})
	if p := pulse[a.Job.ID]; err != nil || len(pulse) != 1 || p.Status != job.StatusSucceeded || p.Version != 2 || p.Event != all[len(all)-1].ID {
		t.Errorf("pulse is %+v, %v", pulse, err)
	}
}

// A reader that polls while movers commit sees every event exactly once: the
// numbers within a job rise in commit order.
func TestNoEventAppearsBehindAReader(t *testing.T) {
	s, _ := open(t, postgres.Options{PoolSize: 32})
	c := inState(t, s, "k", job.StateFailed)
	stop, done := make(chan struct{}), make(chan []job.Event)
	go func() {
		var seen []job.Event
		last := int64(0)
		for final := false; ; {
			events, err := s.Events(ctx(t), "alice", c.Job.ID, last, 0)
			if err != nil {
				t.Error(err)
			}
			for _, e := range events {
				seen, last = append(seen, e), e.ID
			}
			if final {
				done <- seen
				return
			}
			select {
			case <-stop:
				final = true
			default:
			}
		}
	}()
	for range 20 {
		n := len(attemptsOf(t, s, c.Job.ID))
		together(6, func(w int) {
			switch w % 3 {
			case 0:
				_, _, _ = s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"})
			case 1:
				_, _ = s.CancelAttempt(ctx(t), job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: n, Actor: "operator:o"})
			case 2:
				_, _ = s.Claim(ctx(t), fmt.Sprint("w", w), time.Minute, 1)
			}
		})
	}
	close(stop)
	seen := <-done
	all, err := s.Events(ctx(t), "alice", c.Job.ID, 0, 0)
	if err != nil || len(all) != len(seen) {
		t.Errorf("the reader saw %d of %d events, %v", len(seen), len(all), err)
	}
	if len(all) < 20 {
		t.Errorf("only %d events: this shows little", len(all))
	}
}

func TestCredentials(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	one, two := job.Credential{Owner: "alice", Role: job.RoleOwner, SHA256: [32]byte{1}}, job.Credential{Owner: "ops", Role: job.RoleOperator, SHA256: [32]byte{2}}
	for range 2 {
		if err := s.PutCredentials(ctx(t), []job.Credential{one, two}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []job.Credential{one, two} {
		if got, err := s.Credential(ctx(t), want.SHA256); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if _, err := s.Credential(ctx(t), [32]byte{9}); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("an unknown key: %v", err)
	}
	thief := one
	thief.Owner = "mallory"
	if err := s.PutCredentials(ctx(t), []job.Credential{thief}); err == nil {
		t.Error("a key changed hands")
	}
	if err := s.PutCredentials(ctx(t), []job.Credential{{Owner: job.AnyOwner, Role: job.RoleOwner, SHA256: [32]byte{3}}}); err == nil {
		t.Error("a credential is everybody's")
	}
	revoked, err := s.RevokeUnlisted(ctx(t), []job.Credential{two})
	if err != nil || len(revoked) != 1 || revoked[0] != one {
		t.Fatalf("revoked %+v, %v", revoked, err)
	}
	if _, err := s.Credential(ctx(t), one.SHA256); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("a revoked key: %v", err)
	}
	if _, err := s.Credential(ctx(t), two.SHA256); err != nil {
		t.Errorf("a listed key: %v", err)
	}
	if again, err := s.RevokeUnlisted(ctx(t), []job.Credential{two}); err != nil || len(again) != 0 {
		t.Errorf("revoked twice: %+v, %v", again, err)
	}
	if err := s.PutCredentials(ctx(t), []job.Credential{one}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Credential(ctx(t), one.SHA256); err != nil || got != one {
		t.Errorf("a key that is listed again: %+v, %v", got, err)
	}
	if all, err := s.RevokeUnlisted(ctx(t), nil); err != nil || len(all) != 2 {
		t.Errorf("no key is listed: revoked %+v, %v", all, err)
	}
}

// TestCredentialsOfManyTrips stores more keys than go in one round trip.
func TestCredentialsOfManyTrips(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	var all []job.Credential
	for i := range 1201 {
		all = append(all, job.Credential{Owner: job.Owner(fmt.Sprintf("owner-%d", i)), Role: job.RoleOwner, SHA256: [32]byte{1, byte(i), byte(i >> 8)}})
	}
	for range 2 {
		if err := s.PutCredentials(ctx(t), all); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range all {
		if got, err := s.Credential(ctx(t), want.SHA256); err != nil || got != want {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
	}
	all[700].Owner = "mallory"
	if err := s.PutCredentials(ctx(t), all); err == nil || !strings.Contains(err.Error(), "the credential of mallory is another owner's") {
		t.Errorf("a key changed hands: %v", err)
	}
	if revoked, err := s.RevokeUnlisted(ctx(t), all[:1200]); err != nil || len(revoked) != 1 || revoked[0] != all[1200] {
		t.Errorf("revoked %+v, %v", revoked, err)
	}
}

func TestStatsAndStuck(t *testing.T) {
	s, url := open(t, postgres.Options{})
	if st, err := s.Stats(ctx(t)); err != nil || len(st.Attempts) != 0 || st.OldestUnknown != 0 || st.OldestWaiting != 0 {
		t.Errorf("stats of nothing are %+v, %v", st, err)
	}
	u := inState(t, s, "u", job.StateUnknown)
	inState(t, s, "r", job.StateRunning)
	inState(t, s, "d", job.StateSucceeded)
	inState(t, s, "s", job.StateStarting)
	sql(t, url, "UPDATE attempts SET since = since - interval '1 hour' WHERE state = 'unknown'")
	st, err := s.Stats(ctx(t))
	if err != nil || st.Attempts[job.StateUnknown] != 1 || st.Attempts[job.StateRunning] != 1 || st.Attempts[job.StateStarting] != 1 || len(st.Attempts) != 3 {
		t.Errorf("stats are %+v, %v", st, err)
	}
	if st.OldestUnknown < time.Hour || st.OldestUnknown > 2*time.Hour || st.OldestWaiting <= 0 || st.OldestWaiting > time.Minute {
		t.Errorf("ages are %+v", st)
	}
	for owner, want := range map[job.Owner]int{"alice": 1, "bob": 0, job.AnyOwner: 1} {
		list, err := s.Stuck(ctx(t), owner, 30*time.Minute, 0)
		if err != nil || len(list) != want {
			t.Fatalf("%s: %+v, %v", owner, list, err)
		}
		if want == 1 && (list[0].Attempt.ID != u.Attempt.ID || list[0].Owner != "alice" || list[0].Contract != "triage@1.0.0") {
			t.Errorf("stuck is %+v", list[0])
		}
	}
	if list, err := s.Stuck(ctx(t), job.AnyOwner, 2*time.Hour, 0); err != nil || len(list) != 0 {
		t.Errorf("younger ones are stuck too: %+v, %v", list, err)
	}
}

func TestPurgeLeavesTheKeyTaken(t *testing.T) {
	s, url := open(t, postgres.Options{})
	old := []job.Claimed{
		inState(t, s, "succeeded", job.StateSucceeded), inState(t, s, "lost", job.StateLost),
		inState(t, s, "failed", job.StateFailed), inState(t, s, "cancelled", job.StateCancelled),
	}
	kept := []job.Claimed{inState(t, s, "unknown", job.StateUnknown), inState(t, s, "released", job.StateReleased), inState(t, s, "running", job.StateRunning)}
	if n, err := s.Purge(ctx(t), time.Hour, 100); err != nil || n != 0 {
		t.Errorf("purged %d fresh jobs, %v", n, err)
	}
	purged := 0
	for range 4 { // in batches
		n, err := s.Purge(ctx(t), -time.Minute, 2)
		if err != nil || n > 2 {
			t.Fatal(n, err)
		}
		purged += n
	}
	if purged != len(old) {
		t.Errorf("purged %d jobs, want %d", purged, len(old))
	}
	for _, c := range old {
		if _, err := s.Job(ctx(t), "alice", c.Job.ID); !errors.Is(err, job.ErrPurged) {
			t.Errorf("reading %s: %v", c.Job.Key, err)
		}
		if _, err := s.Job(ctx(t), "bob", c.Job.ID); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("another owner reading %s: %v", c.Job.Key, err)
		}
		if _, err := s.Attempts(ctx(t), "alice", c.Job.ID); !errors.Is(err, job.ErrPurged) {
			t.Errorf("attempts of %s: %v", c.Job.Key, err)
		}
		if _, _, err := s.Submit(ctx(t), submission(c.Job.Key)); !errors.Is(err, job.ErrPurged) {
			t.Errorf("submitting %s: %v", c.Job.Key, err)
		}
		other := submission(c.Job.Key)
		other.Fingerprint[0]++
		var conflict *job.KeyConflictError
		if _, _, err := s.Submit(ctx(t), other); !errors.As(err, &conflict) {
			t.Errorf("submitting %s with another input: %v", c.Job.Key, err)
		}
		if _, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"}); !errors.Is(err, job.ErrPurged) {
			t.Errorf("starting %s: %v", c.Job.Key, err)
		}
	}
	for _, c := range kept {
		if len(attemptsOf(t, s, c.Job.ID)) == 0 {
			t.Errorf("%s lost its attempts", c.Job.Key)
		}
	}
	if n := value[int](t, url, "SELECT count(*) FROM attempts a JOIN jobs j ON j.id = a.job_id WHERE purged_at IS NOT NULL"); n != 0 {
		t.Errorf("%d attempts of purged jobs", n)
	}
	refusedBy(t, url, "UPDATE jobs SET purged_at = NULL WHERE purged_at IS NOT NULL", "finished_job_is_frozen")
}
