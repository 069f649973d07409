package interleave

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// class says what a statement can do to the others.
type class byte

const (
	// plainRead takes no row lock and changes nothing: it commutes with every
	// statement of another session but a COMMIT, which may change what it sees.
	plainRead class = 'r'
	// change writes or locks rows, and may have to wait for another session.
	change class = 'w'
	commit class = 'c'
	// undo is ROLLBACK: it lets locks go, and nothing becomes visible by it.
	undo class = 'u'
)

// sessionKey finds the session in the context of a call of the store.
type sessionKey struct{}

// aloneKey marks a call that runs while no schedule does: its statements pass.
type aloneKey struct{}

// gate is the tracer of a lane's store: it holds every statement of a session
// until the scheduler lets it go. Statements of no session (the notifier's) are
// refused before they are sent, once the pool is filled.
type gate struct{ closed atomic.Bool }

var nobody, endNobody = context.WithCancel(context.Background())

func init() { endNobody() }

// TraceQueryStart implements pgx.QueryTracer.
func (g *gate) TraceQueryStart(ctx context.Context, conn *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s, ok := ctx.Value(sessionKey{}).(*session)
	if !ok {
		if g.closed.Load() && ctx.Value(aloneKey{}) == nil {
			return nobody
		}
		return ctx
	}
	if strings.Contains(d.SQL, "set_config(") {
		return ctx // it neither sees nor changes nor waits for anything
	}
	s.arrive(ctx, int(conn.PgConn().PID()), d.SQL)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (g *gate) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	s, ok := ctx.Value(sessionKey{}).(*session)
	if !ok || d.Err == nil {
		return
	}
	s.riders = nil // the server skips what comes behind an error
	var refused *pgconn.PgError
	if errors.As(d.Err, &refused) {
		s.refused = refused.Code
	}
}

// together says whether the next statement of a flight rides with the one that
// was let go. A plain read does: it would be let go at once when that one returns
// (choose), unless this is a play in which it is put off.
func (g *gate) together(ctx context.Context, sql string) bool {
	s, ok := ctx.Value(sessionKey{}).(*session)
	if !ok || !s.mayRide || s.held[s.sent] || classOf(sql) != plainRead {
		return false
	}
	s.sent++
	s.riders = append(s.riders, sql)
	return true
}

// event is what a session tells the scheduler.
type event struct {
	session int
	riders  []string // plain reads that rode with the statement that went before
	done    bool     // the transaction returned; else a statement waits at the gate
	class   class
	sql     string
	pid     int
	refused string // SQLSTATE of the statement that went before, empty when it did well
}

// session is one transaction of a schedule while it runs.
type session struct {
	index   int
	events  chan<- event
	go1     chan struct{}
	single  bool         // its one statement is a transaction by itself
	mayRide bool         // plain reads may ride with the statement before them
	held    map[int]bool // but for these, counted from 0
	sent    int          // statements so far
	riders  []string
	refused string
}

// arrive holds the session at the gate until the scheduler lets it go, or the
// schedule is given up.
func (s *session) arrive(ctx context.Context, pid int, sql string) {
	s.sent++
	c := classOf(sql)
	if s.single { // once it has run, what it wrote is there for all
		c = commit
	}
	s.events <- event{session: s.index, riders: s.riders, class: c, sql: sql, pid: pid, refused: s.refused}
	s.refused, s.riders = "", nil
	select {
	case <-s.go1:
	case <-ctx.Done():
	}
}

// classes remembers the class of each statement's text.
var classes sync.Map

func classOf(sql string) class {
	c, ok := classes.Load(sql)
	if !ok {
		c, _ = classes.LoadOrStore(sql, readClass(sql))
	}
	return c.(class)
}

func readClass(sql string) class {
	words := strings.Fields(sql)
	switch strings.ToLower(words[0]) {
	case "commit":
		return commit
	case "rollback":
		return undo
	case "select":
		// without a table it calls a function, which may do anything
		if strings.Contains(sql, "FROM ") && !strings.Contains(sql, "FOR NO KEY UPDATE") && !strings.Contains(sql, "FOR UPDATE") {
			return plainRead
		}
	}
	return change
}

// describe names a statement for a person: its verb and its table.
func describe(sql string) string {
	words := strings.Fields(sql)
	locks := strings.Contains(sql, "FOR NO KEY UPDATE")
	for i, w := range words[:len(words)-1] {
		switch {
		case w == "UPDATE" && words[i+1] != "OF" && words[i+1] != "SKIP":
			return "update " + words[i+1]
		case w == "INSERT":
			return "insert " + words[i+2]
		case w == "FROM" && words[0] == "SELECT":
			if locks {
				return "lock " + words[i+1]
			}
			return "read " + words[i+1]
		}
	}
	return strings.ToLower(words[0])
}
