package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

func TestASubmitWakesWorkersHereAndElsewhere(t *testing.T) {
	s, url := open(t, postgres.Options{})
	other := openAt(t, url, postgres.Options{ApplicationName: "elsewhere"})
	listening, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); other.Listen(listening) }()
	defer func() { stop(); <-done }()
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		if value[int](t, url, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'elsewhere' AND query LIKE 'LISTEN%' AND state = 'idle'") == 1 {
			break
		}
		if time.Since(begun) > toStore {
			t.Fatal("nobody listens")
		}
	}
	submit(t, s, submission("k"))
	for name, woken := range map[string]<-chan struct{}{"here": s.Woken(), "elsewhere": other.Woken()} {
		select {
		case <-woken:
		case <-time.After(toStore):
			t.Errorf("nobody was woken %s", name)
		}
	}
}

// A notification inside the transaction of a submit would have all submits wait
// for each other: it is a transaction of its own, and no trigger sends one.
func TestNoNotificationWithinASubmit(t *testing.T) {
	_, url := open(t, postgres.Options{})
	seen := &statements{}
	s := openAt(t, url, postgres.Options{Tracer: seen, PoolSize: 1}) // one connection: all in order
	submit(t, s, submission("k"))
	notified := func() bool { return strings.Contains(strings.Join(seen.since(0), "\n"), "pg_notify") }
	for begun := time.Now(); !notified(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > toStore {
			t.Fatal("there is no notification at all")
		}
	}
	within, submits, notifications := "", 0, 0
	for _, text := range seen.since(0) {
		switch {
		case strings.HasPrefix(text, "begin"), strings.HasPrefix(text, "commit"), strings.HasPrefix(text, "rollback"):
			within = ""
		case strings.Contains(text, "INTO jobs"):
			within += "submit "
			submits++
		case strings.Contains(text, "pg_notify"):
			within += "notify "
			notifications++
		}
		if within == "submit notify " || within == "notify submit " {
			t.Fatalf("a submit notifies in its transaction: %q", seen.since(0))
		}
	}
	if submits != 1 || notifications != 1 {
		t.Errorf("%d submits and %d notifications were seen: %q", submits, notifications, seen.since(0))
	}
	if n := value[int](t, url, "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc ILIKE '%notify%'"); n != 0 {
		t.Errorf("%d functions of the schema notify", n)
	}
}

// However many attempts were claimed before, and whatever open transaction keeps
// their index entries alive, a waiting attempt with a low fence is found too.
func TestClaimFindsWhatIsLow(t *testing.T) {
	s, url := open(t, postgres.Options{})
	low := submit(t, s, submission("low"))
	sql(t, url, "UPDATE attempts SET not_before = not_before + interval '1 hour'")
	sql(t, url, "SELECT setval(pg_get_serial_sequence('attempts', 'fence'), 1000000)")
	for i := range 20 {
		submit(t, s, submission(job.Key(fmt.Sprint(i))))
		if c := claim(t, s, "w"); c.Attempt.Fence < 1000000 {
			t.Fatalf("fence %d", c.Attempt.Fence)
		}
	}
	sql(t, url, "UPDATE attempts SET not_before = not_before - interval '2 hours' WHERE job_id = $1", string(low.ID))
	for begun := time.Now(); ; {
		got, err := s.Claim(ctx(t), "w", time.Minute, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 1 && got[0].Job.ID == low.ID {
			return
		}
		if time.Since(begun) > 5*time.Second {
			t.Fatal("the attempt with the low fence was never claimed")
		}
	}
}

func TestClaimLeavesBusyProvidersAndSharesTheRest(t *testing.T) {
	s, _ := open(t, postgres.Options{PoolSize: 16})
	for i := range 40 {
		in := submission(job.Key(fmt.Sprint(i)))
		in.Intent.Provider = []string{"p", "q"}[i%2]
		submit(t, s, in)
	}
	got, err := s.Claim(ctx(t), "w", time.Minute, 100, "p")
	if err != nil || len(got) != 20 {
		t.Fatalf("claimed %d, %v", len(got), err)
	}
	for i, c := range got {
		if c.Attempt.Provider != "q" || c.Attempt.State != job.StateRunning || c.Deadline != 30*time.Second || c.Job.Intent.Contract == "" || c.Job.Version != 1 {
			t.Errorf("claimed %+v", c)
		}
		if i > 0 && c.Attempt.Fence < got[i-1].Attempt.Fence {
			t.Error("not the oldest first")
		}
	}
	// many workers at once take each attempt once
	counts := make(chan int, 8)
	together(8, func(w int) {
		n := 0
		for range 10 {
			got, err := s.Claim(ctx(t), fmt.Sprint("w", w), time.Minute, 1)
			if err != nil {
				t.Error(err)
			}
			n += len(got)
		}
		counts <- n
	})
	total := 0
	for range 8 {
		total += <-counts
	}
	if total != 20 {
		t.Errorf("20 attempts were claimed %d times", total)
	}
}
