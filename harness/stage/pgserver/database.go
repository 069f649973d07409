package pgserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

// ours is how the databases that we make are called. On a foreign server
// nothing else is ever dropped.
var ours = regexp.MustCompile(`^interlock_[0-9a-f]{12}$`)

// Create makes an empty throw-away database, or a copy of template, and
// returns its name. Nobody may be connected to the template.
func (s *Server) Create(ctx context.Context, template string) (string, error) {
	if template == "" {
		if spare := s.takeSpare(); spare != "" {
			return spare, nil
		}
	}
	name := databaseName()
	statement := "CREATE DATABASE " + name
	if template != "" {
		statement += " TEMPLATE " + pgx.Identifier{template}.Sanitize()
	}
	err := s.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
		s.mu.Lock()
		s.databases[name] = true
		s.mu.Unlock()
		if s.cluster != nil {
			return nil
		}
		// On a foreign server the database names its owner, so that a later
		// run on this machine can drop it when we crash.
		host, _ := os.Hostname()
		note, _ := json.Marshal(databaseNote{Owner: scratch.Me("database"), Host: host})
		_, err := conn.Exec(ctx, "COMMENT ON DATABASE "+name+" IS "+quote(string(note)))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create database: %w", err)
	}
	return name, nil
}

// Drop drops a database that Create made, and cuts who is still connected.
func (s *Server) Drop(ctx context.Context, name string) error {
	s.mu.Lock()
	made := s.databases[name]
	s.mu.Unlock()
	if !made || !ours.MatchString(name) {
		return fmt.Errorf("drop database %q: it was not made by this stage", name)
	}
	err := s.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		return err
	})
	if err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	s.mu.Lock()
	delete(s.databases, name)
	s.mu.Unlock()
	return nil
}

func databaseName() string {
	random := make([]byte, 6)
	_, _ = rand.Read(random)
	return "interlock_" + hex.EncodeToString(random)
}

// takeSpare returns the empty database of a private server, once.
func (s *Server) takeSpare() string {
	if s.cluster == nil {
		return ""
	}
	s.cluster.mu.Lock()
	name := s.cluster.spare
	s.cluster.spare = ""
	s.cluster.mu.Unlock()
	if name != "" {
		s.mu.Lock()
		s.databases[name] = true
		s.mu.Unlock()
	}
	return name
}

type databaseNote struct {
	scratch.Owner
	Host string `json:"host"`
}

// dropAbandoned drops databases that a crashed run of this machine left on a
// foreign server. Failing to do so is nobody's problem: the next run tries.
func (s *Server) dropAbandoned(ctx context.Context) {
	_ = s.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `
			SELECT datname, shobj_description(oid, 'pg_database')
			FROM   pg_database
			WHERE  datname LIKE 'interlock\_%'
			  AND  shobj_description(oid, 'pg_database') IS NOT NULL`)
		if err != nil {
			return err
		}
		host, _ := os.Hostname()
		var dead []string
		var name, text string
		_, err = pgx.ForEachRow(rows, []any{&name, &text}, func() error {
			var n databaseNote
			if json.Unmarshal([]byte(text), &n) == nil && n.Product == "interlock" && n.PID > 0 &&
				n.Host == host && ours.MatchString(name) && !n.Alive() {
				dead = append(dead, name)
			}
			return nil
		})
		for _, name := range dead {
			if _, dropErr := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); dropErr != nil {
				return dropErr
			}
		}
		return err
	})
}

func quote(s string) string {
	out := []byte{'\''}
	for i := range len(s) {
		if s[i] == '\'' {
			out = append(out, '\'')
		}
		out = append(out, s[i])
	}
	return string(append(out, '\''))
}
