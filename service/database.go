package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// newLog writes JSON lines to w, one for each event.
func newLog(w io.Writer, level string) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: logLevels[level]}))
}

// toConnect bounds the one connection that is tried before anything else.
const toConnect = 5 * time.Second

// probe makes one connection, so that a wrong address, password or name is said
// at once and as it is; the store itself would try again.
func probe(ctx context.Context, c *config) error {
	parsed, err := pgx.ParseConfig(c.PGURL)
	if err != nil {
		return usage("the database URL cannot be read (it is not shown, it may hold a password)")
	}
	ctx, cancel := context.WithTimeout(ctx, toConnect)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, parsed)
	if err != nil {
		return unreachable(c, err)
	}
	return conn.Close(ctx)
}

// openStore connects to the configured database.
func openStore(ctx context.Context, c *config, o postgres.Options) (*postgres.Store, error) {
	if err := probe(ctx, c); err != nil {
		return nil, err
	}
	active, err := mutant.Choose(c.Mutant)
	if err != nil {
		return nil, usage("%v", err)
	}
	o.Mutant = active
	store, err := postgres.New(ctx, c.PGURL, o)
	if err != nil {
		return nil, unreachable(c, err)
	}
	return store, nil
}

// migrate is the command of that name.
func migrate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := readConfig("migrate", args, stdout, os.LookupEnv)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, c, postgres.Options{ApplicationName: "interlock migrate", Log: newLog(stderr, c.LogLevel)})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		return unreachable(c, err)
	}
	_, _ = fmt.Fprintln(stdout, "the schema is up to date")
	return nil
}

// unreachable says in one sentence why the database cannot be used. The address
// is named without its password, and an error of the connection by its cause
// alone, since the whole may quote the address.
func unreachable(c *config, err error) error {
	where := "the database"
	if parsed, parseErr := pgx.ParseConfig(c.PGURL); parseErr == nil {
		where = fmt.Sprintf("database %s at %s", parsed.Database, net.JoinHostPort(parsed.Host, fmt.Sprint(parsed.Port)))
	}
	var refused *pgconn.PgError
	var dial *net.OpError
	var connect *pgconn.ConnectError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, postgres.ErrForeignTables):
		return usage("%s: %v", where, err)
	case errors.Is(err, postgres.ErrNewerSchema):
		return fmt.Errorf("%s: %w", where, err)
	case errors.As(err, &refused) && refused.Code == "42P01": // undefined_table
		return fmt.Errorf("%s has no schema yet: run interlock migrate, or serve with --migrate", where)
	case errors.As(err, &refused):
		return fmt.Errorf("%s refuses: %s (SQLSTATE %s)", where, oneLine(refused.Message), refused.Code)
	case errors.As(err, &untrusted):
		return fmt.Errorf("cannot trust the certificate of %s: %v; sslrootcert of the URL names the file of who may sign it", where, untrusted.Err)
	case errors.As(err, &dial):
		return fmt.Errorf("cannot reach %s: %v", where, dial.Err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer in time", where)
	case errors.As(err, &connect):
		return fmt.Errorf("cannot reach %s: %s", where, oneLine(cause(err).Error()))
	}
	return fmt.Errorf("%s: %s", where, oneLine(err.Error()))
}

// cause is the innermost error, which quotes no address: of several, the last.
func cause(err error) error {
	for {
		switch wrapped := err.(type) {
		case interface{ Unwrap() error }:
			if wrapped.Unwrap() == nil {
				return err
			}
			err = wrapped.Unwrap()
		case interface{ Unwrap() []error }:
			all := wrapped.Unwrap()
			if len(all) == 0 {
				return err
			}
			err = all[len(all)-1]
		default:
			return err
		}
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
