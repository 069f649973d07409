// Package pgserver gives a stage its PostgreSQL: a private server that it
// starts within a second and removes again, or a server that somebody else
// runs, in which it makes throw-away databases only.
//
// The rule it keeps: nothing that was there before is touched, and nothing is
// left behind: no process, no folder, no port, no database. A run that
// crashed is cleaned up by the next one (see Sweep).
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Bounds of everything that waits.
const (
	toStart = 30 * time.Second // recovery after a crash included
	toStop  = 10 * time.Second
	toQuery = 20 * time.Second
	between = 5 * time.Millisecond // two looks at something that will come
)

// ErrNotOurs is returned by what needs the server's process, when the server
// belongs to somebody else.
var ErrNotOurs = errors.New("this PostgreSQL server is not run by the stage")

// Options say what server is wanted. The zero value asks for a private one.
type Options struct {
	URL      string            // use this server instead of a private one
	Dir      string            // folder for the private cluster, made by scratch.New; "" makes and removes an own one
	Cache    string            // folder that keeps an initialised cluster to copy; "" for the user's cache, "off" for none
	Bin      string            // folder with initdb and postgres; "" looks for it
	Durable  bool              // fsync on, as in production; a crash without a power cut loses nothing without it
	Settings map[string]string // further settings of the private server
	Note     func(string)      // told in one line what an owner should know, such as a change of user
}

// Server is a PostgreSQL server.
type Server struct {
	admin   url.URL // as whom databases are made; the path is the maintenance database
	version string
	cluster *cluster // nil when the server is not ours

	mu        sync.Mutex
	databases map[string]bool // made by us and not dropped yet
}

// Start starts a private server, or connects to the one at o.URL.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	s := &Server{databases: map[string]bool{}}
	if o.URL != "" {
		u, err := parse(o.URL)
		if err != nil {
			return nil, err
		}
		s.admin = *u
	} else {
		c, err := startCluster(ctx, o)
		if err != nil {
			return nil, err
		}
		s.cluster, s.admin = c, c.url("postgres")
	}
	if s.cluster != nil {
		s.version = s.cluster.version
		return s, nil
	}
	err := s.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SHOW server_version").Scan(&s.version)
	})
	if err != nil {
		return nil, unreachable(s.admin.Host, err)
	}
	s.dropAbandoned(ctx)
	return s, nil
}

// Private says whether the server is run by us.
func (s *Server) Private() bool { return s.cluster != nil }

// Version is the server's version, such as "15.18 (Debian 15.18-1)".
func (s *Server) Version() string { return s.version }

// Addr is host:port of the server.
func (s *Server) Addr() string {
	port := s.admin.Port()
	if port == "" {
		port = "5432"
	}
	return net.JoinHostPort(s.admin.Hostname(), port)
}

// URL is the connection string of a database. It holds the password: hand it
// over in the environment, never on a command line.
func (s *Server) URL(database string) string {
	u := s.admin
	u.Path = "/" + database
	return u.String()
}

// LocalURL is URL without the network, for who runs on this machine and sends many
// small statements: through the socket of a private server. On a foreign server
// it is URL.
func (s *Server) LocalURL(database string) string {
	if s.cluster == nil {
		return s.URL(database)
	}
	return s.cluster.local(database)
}

// Crash stops the private server at once, as a crash would: no checkpoint,
// every connection cut. Resume brings it back.
func (s *Server) Crash(ctx context.Context) error {
	if s.cluster == nil {
		return fmt.Errorf("crash: %w", ErrNotOurs)
	}
	return s.cluster.crash(ctx)
}

// Resume starts the private server again, on the same port and data, and
// returns when it accepts connections.
func (s *Server) Resume(ctx context.Context) error {
	if s.cluster == nil {
		return fmt.Errorf("resume: %w", ErrNotOurs)
	}
	return s.cluster.run(ctx)
}

// Close drops our databases on a foreign server, or stops and removes the
// private one.
func (s *Server) Close() error {
	if s.cluster != nil {
		return s.cluster.remove()
	}
	ctx, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	var failed error
	for _, name := range s.Databases() {
		failed = errors.Join(failed, s.Drop(ctx, name))
	}
	return failed
}

// Leave is Close that keeps the data: the private server is shut down in order,
// with all that it holds on disk; on a foreign server our databases stay.
func (s *Server) Leave() error {
	if s.cluster != nil {
		return s.cluster.leave()
	}
	ctx, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	return s.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		for _, name := range s.Databases() { // without the note no run drops it
			if _, err := conn.Exec(ctx, "COMMENT ON DATABASE "+name+" IS NULL"); err != nil {
				return err
			}
		}
		return nil
	})
}

// Databases names those that were made here and not dropped yet.
func (s *Server) Databases() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.databases))
}

// Data is the folder of the private cluster, "" on a foreign server.
func (s *Server) Data() string {
	if s.cluster == nil {
		return ""
	}
	return filepath.Join(s.cluster.dir, "pg", dataFolder)
}

// with runs do on a connection of its own.
func (s *Server) with(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, toQuery)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.admin.String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return do(ctx, conn)
}

// CheckURL says whether text has the form of a PostgreSQL URL. Nobody is asked.
func CheckURL(text string) error {
	_, err := parse(text)
	return err
}

// unreachable says in one line why a foreign server cannot be used. What pgx
// says of a connection names every address twice.
func unreachable(host string, err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("PostgreSQL at %s refuses: %w; mend the URL, or name none to have a private one", host, refused)
	}
	remedy := "start it, or name none to have a private one"
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("no PostgreSQL answers at %s: %w; %s", host, op.Err, remedy)
	}
	return fmt.Errorf("no PostgreSQL answers at %s: %w; %s", host, err, remedy)
}

func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") || u.Hostname() == "" {
		// The text may hold a password: do not repeat it.
		return nil, errors.New("the PostgreSQL URL must look like postgres://user@host:port/database")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/postgres"
	}
	return u, nil
}
