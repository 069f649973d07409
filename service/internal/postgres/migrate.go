package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date: numbered files, only ever added, under
// an advisory lock, so that several processes may call it at once. It keeps the
// rights of the login, which must own the tables. A mutant of the schema is
// applied afterwards.
func (s *Store) Migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	config := s.pool.Config().ConnConfig.Copy()
	if err := checkDatabase(ctx, config, len(mustRead(files))); err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := s.deform(ctx, config); err != nil {
		return err
	}
	s.pool.Reset() // new connections assume the service's role
	return nil
}

// ErrForeignTables: the database holds tables of these names that no version of
// this program made.
var ErrForeignTables = errors.New("the database holds tables of the service's names that are not the service's")

// ErrNewerSchema: a newer version of this program has migrated the database.
var ErrNewerSchema = errors.New("the schema is newer than this program")

const ownState = `
	SELECT to_regclass('goose_db_version') IS NOT NULL,
	       coalesce((SELECT string_agg(name, ', ' ORDER BY name)
	                 FROM   unnest(ARRAY['jobs', 'attempts', 'attempt_events', 'races', 'credentials']) AS name
	                 WHERE  to_regclass(name) IS NOT NULL), '')`

// CheckSchema returns ErrForeignTables or ErrNewerSchema where this program has no
// business in the database. It changes nothing.
func (s *Store) CheckSchema(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return checkDatabase(ctx, s.pool.Config().ConnConfig.Copy(), len(mustRead(files)))
}

// checkDatabase looks at a database before anything is done to it; known is the
// newest version of the schema that this program knows.
func checkDatabase(ctx context.Context, config *pgx.ConnConfig, known int) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var migrated bool
	var tables string
	if err := conn.QueryRow(ctx, ownState).Scan(&migrated, &tables); err != nil {
		return fmt.Errorf("look at the database: %w", err)
	}
	if !migrated {
		if tables != "" {
			return fmt.Errorf("%w (%s): give the service a database of its own", ErrForeignTables, tables)
		}
		return nil
	}
	var version int64
	if err := conn.QueryRow(ctx, schemaVersion).Scan(&version); err != nil {
		return fmt.Errorf("schema version: %w", err)
	}
	if version > int64(known) {
		return fmt.Errorf("%w: it is at version %d, and this program knows %d; use the newer program", ErrNewerSchema, version, known)
	}
	return nil
}

// mustRead lists the embedded migrations, which are there.
func mustRead(files fs.FS) []fs.DirEntry {
	list, err := fs.ReadDir(files, ".")
	if err != nil {
		panic("postgres: the embedded migrations cannot be listed: " + err.Error())
	}
	return list
}

// deform applies the schema part of the mutant, on a throw-away database only.
func (s *Store) deform(ctx context.Context, config *pgx.ConnConfig) error {
	if len(s.mutant.Schema()) == 0 {
		return nil
	}
	if err := s.requireThrowAway(ctx); err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// one process at a time: the statements are repeatable, not concurrent
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('interlock mutant'))"); err != nil {
			return err
		}
		for _, statement := range s.mutant.Schema() {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("mutant %s: %s: %w", s.mutant.Name(), statement, err)
			}
		}
		return nil
	})
}

// errNotThrowAway keeps mutants away from data that somebody needs.
var errNotThrowAway = errors.New("a mutant runs only on a throw-away database that the stage marked: table interlock_stage, row marker = 'throw-away'")

// requireThrowAway looks for the mark that the stage leaves in its databases.
func (s *Store) requireThrowAway(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var marked bool
	err = conn.QueryRow(ctx, "SELECT to_regclass('interlock_stage') IS NOT NULL").Scan(&marked)
	if err == nil && marked {
		err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM interlock_stage WHERE marker = 'throw-away')").Scan(&marked)
	}
	if err != nil {
		return fmt.Errorf("look for the mark of the stage: %w", err)
	}
	if !marked {
		return errNotThrowAway
	}
	s.log.Warn("THIS PROCESS RUNS A MUTANT: it is wrong on purpose", "mutant", s.mutant.Name())
	return nil
}
