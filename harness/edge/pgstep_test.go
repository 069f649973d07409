package edge_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/edge"
)

// stepper notes the statements that leave, and holds those that hold says.
type stepper struct {
	mu       sync.Mutex
	left     []string
	answered int
	gone     chan struct{}
	hold     func(edge.Statement) bool
	came     chan edge.Statement
	let      chan struct{}
}

func newStepper(hold func(edge.Statement) bool) *stepper {
	return &stepper{hold: hold, came: make(chan edge.Statement), let: make(chan struct{}), gone: make(chan struct{}, 8)}
}

func (s *stepper) Leave(st edge.Statement, gone <-chan struct{}) {
	s.mu.Lock()
	s.left = append(s.left, st.SQL)
	s.mu.Unlock()
	if !s.hold(st) {
		return
	}
	s.came <- st
	select {
	case <-s.let:
	case <-gone:
	}
}

func (s *stepper) Answer(int64, bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered++
}

func (s *stepper) Gone(int64) { s.gone <- struct{}{} }

func TestRelayHoldsEachStatementOfOneFlight(t *testing.T) {
	b := newBench(t)
	ctx := bounded(t)
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	const insert = "INSERT INTO t (id, who) VALUES (gen_random_uuid(), $1)"
	if _, err := conn.Conn().Prepare(ctx, "i", insert); err != nil {
		t.Fatal(err)
	}
	s := newStepper(func(st edge.Statement) bool { return strings.HasPrefix(st.SQL, "INSERT") || st.SQL == "commit" })
	b.relay.Step(s)
	defer b.relay.Step(nil)
	done := make(chan error, 1)
	go func() {
		flight := conn.Conn().PgConn().StartPipeline(ctx)
		flight.SendQueryParams("begin", nil, nil, nil, nil)
		for _, who := range []string{"a", "b"} {
			flight.SendQueryPrepared("i", [][]byte{[]byte(who)}, nil, nil)
		}
		flight.SendQueryParams("commit", nil, nil, nil, nil)
		err := flight.Sync()
		if closed := flight.Close(); err == nil {
			err = closed
		}
		done <- err
	}()
	inTransaction := func() (n int) { // what the server has done so far, whether committed or not
		err := b.direct.QueryRow(ctx, `SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 't' AND l.mode = 'RowExclusiveLock'`).Scan(&n)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	for i, who := range []string{"a", "b"} {
		st := <-s.came
		if st.SQL != insert || len(st.Values) != 1 || string(st.Values[0]) != who || st.Backend == 0 || st.Simple {
			t.Errorf("statement %d is %+v", i+1, st)
		}
		if got := inTransaction(); got != i { // one has run when the second stands
			t.Errorf("when statement %d stands, %d transactions have written", i+1, got)
		}
		s.let <- struct{}{}
	}
	if st := <-s.came; st.SQL != "commit" {
		t.Errorf("then comes %q", st.SQL)
	}
	if n := b.rows(t, "a") + b.rows(t, "b"); n != 0 {
		t.Errorf("%d rows are committed before COMMIT left", n)
	}
	s.let <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if b.rows(t, "a") != 1 || b.rows(t, "b") != 1 {
		t.Error("the rows are not there")
	}
}

// What the server skips behind an error, it is not asked about; nor is BEGIN.
func TestRelayAsksAboutNothingThatTheServerSkips(t *testing.T) {
	b := newBench(t)
	ctx := bounded(t)
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	s := newStepper(func(edge.Statement) bool { return false })
	b.relay.Step(s)
	defer b.relay.Step(nil)
	flight := conn.Conn().PgConn().StartPipeline(ctx)
	flight.SendQueryParams("begin", nil, nil, nil, nil)
	flight.SendQueryParams("SELECT 1/0", nil, nil, nil, nil)
	flight.SendQueryParams("SELECT 'skipped'", nil, nil, nil, nil)
	_ = flight.Sync()
	if err := flight.Close(); err == nil {
		t.Error("the division did well")
	}
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if want := []string{"SELECT 1/0", "rollback"}; !slices.Equal(s.left, want) {
		t.Errorf("it was asked about %q, want %q", s.left, want)
	}
	if s.answered == 0 {
		t.Error("nobody was told of an answer")
	}
}

func TestAHeldStatementEndsWithItsConnection(t *testing.T) {
	b := newBench(t)
	s := newStepper(func(st edge.Statement) bool { return strings.Contains(st.SQL, "held") })
	conn, err := pgx.ConnectConfig(bounded(t), b.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	b.relay.Step(s)
	defer b.relay.Step(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = conn.Exec(bounded(t), "SELECT 'held'")
	}()
	<-s.came
	_ = conn.PgConn().Conn().Close()
	<-done
	select {
	case <-s.gone:
	case <-bounded(t).Done():
		t.Error("nobody is told that the connection is gone")
	}
}
