package target

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Reader looks at a database again and again. It keeps its connection between two
// looks, since a new one costs more than the look, and connects anew after an
// error. It serves one caller at a time.
type Reader struct {
	of   *Database
	conn *pgx.Conn
}

// Reader begins to look at the database; Close ends it.
func (d *Database) Reader() *Reader { return &Reader{of: d} }

// Count runs a query that returns one number.
func (r *Reader) Count(ctx context.Context, query string, args ...any) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, toRead)
	defer cancel()
	if err := r.connect(ctx); err != nil {
		return 0, err
	}
	var n int
	if err := r.conn.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		r.Close(ctx)
		return 0, fmt.Errorf("look at the database: %w", err)
	}
	return n, nil
}

// Blockers says of each of these backends for which others it waits now; one that
// waits for none is left out.
func (r *Reader) Blockers(ctx context.Context, backends []int) (map[int][]int, error) {
	ctx, cancel := context.WithTimeout(ctx, toRead)
	defer cancel()
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	rows, err := r.conn.Query(ctx, `
		SELECT pid, pg_catalog.pg_blocking_pids(pid) FROM unnest($1::int[]) pid`, backends)
	if err != nil {
		r.Close(ctx)
		return nil, fmt.Errorf("ask who waits: %w", err)
	}
	blockers := map[int][]int{}
	var pid int
	var before []int
	if _, err = pgx.ForEachRow(rows, []any{&pid, &before}, func() error {
		if len(before) > 0 {
			blockers[pid] = append([]int(nil), before...)
		}
		return nil
	}); err != nil {
		r.Close(ctx)
		return nil, fmt.Errorf("ask who waits: %w", err)
	}
	return blockers, nil
}

func (r *Reader) connect(ctx context.Context) (err error) {
	if r.conn == nil {
		r.conn, err = r.of.connect(ctx)
	}
	return err
}

// Close ends the connection, also after ctx.
func (r *Reader) Close(ctx context.Context) {
	if r.conn != nil {
		_ = r.conn.Close(context.WithoutCancel(ctx))
		r.conn = nil
	}
}
