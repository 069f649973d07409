package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// query is one statement of a round trip.
type query struct {
	sql  string // clean text; the store's mutant may change it
	args pgx.NamedArgs
	read func(pgx.Rows) error // reads all rows; nil skips them
	rows int64                // filled: rows touched, or returned
}

// wireError is a failure that says nothing about what the server did: the
// connection broke, or the server was going down.
type wireError struct{ cause error }

func (e *wireError) Error() string { return e.cause.Error() }
func (e *wireError) Unwrap() error { return e.cause }

const beginText = "begin isolation level read committed"

// trip says what a round trip carries beside its queries.
type trip struct {
	begin, commit bool
}

// roundTrip sends the queries, and BEGIN before and COMMIT after them where
// asked, in one flight, and reads all answers. Each statement still sees what was
// committed before it started, as if it had been sent alone. The first error of
// the server ends the flight: the rest is skipped by it.
//
// An error of type *wireError leaves open what the server did; any other error
// means that the server refused, or that nothing was sent.
func (s *Store) roundTrip(ctx context.Context, conn *pgx.Conn, t trip, queries ...*query) (err error) {
	if s.options.Spans != nil {
		end := s.options.Spans(ctx, s.namesOf(queries))
		defer func() { end(err) }()
	}
	if s.options.Tracer != nil {
		return s.oneByOne(ctx, conn, t, queries)
	}
	return s.fly(ctx, conn, t, queries)
}

// fly is roundTrip without telling anybody.
func (s *Store) fly(ctx context.Context, conn *pgx.Conn, t trip, queries []*query) (err error) {
	type bound struct {
		statement *pgconn.StatementDescription
		builder   pgx.ExtendedQueryBuilder
	}
	prepared := make([]bound, len(queries))
	for i, q := range queries {
		c, err := s.compile(s.sql(q.sql))
		if err != nil {
			return err
		}
		values, err := c.values(q.args)
		if err != nil {
			return err
		}
		if prepared[i].statement, err = conn.Prepare(ctx, c.name, c.text); err != nil {
			return wire(err)
		}
		if err := prepared[i].builder.Build(conn.TypeMap(), prepared[i].statement, values); err != nil {
			return fmt.Errorf("statement %s: %w", c.name, err)
		}
	}

	flight := conn.PgConn().StartPipeline(ctx)
	if t.begin {
		flight.SendQueryParams(beginText, nil, nil, nil, nil)
	}
	for i := range prepared {
		b := &prepared[i]
		flight.SendQueryStatement(b.statement, b.builder.ParamValues, b.builder.ParamFormats, b.builder.ResultFormats)
	}
	if t.commit {
		// the text, not a prepared name: whoever watches the wire sees a COMMIT
		flight.SendQueryParams("commit", nil, nil, nil, nil)
	}
	err = flight.Sync()
	if err == nil {
		err = s.readFlight(conn, flight, t, queries)
	}
	if closeErr := flight.Close(); err == nil {
		err = closeErr
	}
	return wire(err)
}

// namesOf joins the names of statements; those that have none are left out.
func (s *Store) namesOf(queries []*query) string {
	var names []string
	for _, q := range queries {
		if name, ok := s.names[q.sql]; ok {
			names = append(names, name)
		}
	}
	if names == nil {
		return "other"
	}
	return strings.Join(names, " ")
}

func (s *Store) readFlight(conn *pgx.Conn, flight *pgconn.Pipeline, t trip, queries []*query) error {
	if t.begin {
		if _, err := result(flight); err != nil {
			return err
		}
	}
	var readErr error
	for _, q := range queries {
		rr, err := result(flight)
		if err != nil {
			return err
		}
		rows := pgx.RowsFromResultReader(conn.TypeMap(), rr)
		if q.read != nil && readErr == nil {
			readErr = q.read(rows)
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			var refused *pgconn.PgError
			var lost *wireError
			if errors.As(err, &refused) || errors.As(wire(err), &lost) {
				return err
			}
			readErr = err
		}
		q.rows = rows.CommandTag().RowsAffected()
	}
	if t.commit {
		rr, err := result(flight)
		if err != nil {
			return err
		}
		tag, err := rr.Close()
		if err != nil {
			return err
		}
		if tag.String() != "COMMIT" {
			return errRolledBack
		}
	}
	if readErr != nil {
		return &scanError{readErr}
	}
	return nil
}

// oneByOne is roundTrip for a store with a tracer: each statement is sent when
// the answer of the one before is there, unless both may travel together. BEGIN, which does nothing by itself,
// still travels with the first.
func (s *Store) oneByOne(ctx context.Context, conn *pgx.Conn, t trip, queries []*query) error {
	for sent := 0; sent < len(queries); {
		traced := s.options.Tracer.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: s.sql(queries[sent].sql)})
		end := sent + 1
		for end < len(queries) && s.options.Together != nil && s.options.Together(ctx, s.sql(queries[end].sql)) {
			end++
		}
		err := s.fly(traced, conn, trip{begin: t.begin && sent == 0}, queries[sent:end])
		s.options.Tracer.TraceQueryEnd(traced, conn, pgx.TraceQueryEndData{Err: err})
		if err != nil {
			return err
		}
		sent = end
	}
	if t.commit {
		tag, err := conn.Exec(ctx, "commit") // the driver tells the tracer of this one
		if err != nil {
			return wire(err)
		}
		if tag.String() != "COMMIT" {
			return errRolledBack
		}
	}
	return nil
}

// errRolledBack: COMMIT of a transaction that had failed before.
var errRolledBack = errors.New("the transaction was rolled back")

// scanError is a row that this package could not read: its own mistake, never
// the wire's.
type scanError struct{ cause error }

func (e *scanError) Error() string { return e.cause.Error() }
func (e *scanError) Unwrap() error { return e.cause }

func result(flight *pgconn.Pipeline) (*pgconn.ResultReader, error) {
	r, err := flight.GetResults()
	if err != nil {
		return nil, err
	}
	rr, ok := r.(*pgconn.ResultReader)
	if !ok {
		return nil, &wireError{fmt.Errorf("the server answered out of order: %T", r)}
	}
	return rr, nil
}

// one reads at most one row into dest. Whether there was one, the query's rows
// tell.
func one(dest ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if rows.Next() {
			return rows.Scan(dest...)
		}
		return nil
	}
}
