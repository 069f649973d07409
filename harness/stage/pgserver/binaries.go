package pgserver

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// ErrNoBinaries is returned when no PostgreSQL is installed.
var ErrNoBinaries = errors.New("no PostgreSQL programs found (initdb, postgres): install postgresql, or name a server with --pg-url")

// toAsk bounds a question to one of PostgreSQL's programs.
const toAsk = 10 * time.Second

// Find returns the folder of PostgreSQL's programs initdb and postgres: from
// PATH, from pg_config, or from where the usual packages put them, newest
// first.
func Find(ctx context.Context) (string, error) {
	for _, dir := range candidates(ctx) {
		if complete(dir) {
			return dir, nil
		}
	}
	return "", ErrNoBinaries
}

func candidates(ctx context.Context) []string {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		// Distributions put links into PATH; the programs find their other
		// files from where they really are.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	if path, err := exec.LookPath("pg_config"); err == nil {
		ctx, cancel := context.WithTimeout(ctx, toAsk)
		defer cancel()
		if out, err := exec.CommandContext(ctx, path, "--bindir").Output(); err == nil {
			dirs = append(dirs, strings.TrimSpace(string(out)))
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
		"/usr/pgsql-*/bin",                  // packages of postgresql.org for Red Hat
		"/usr/libexec/postgresql*",          // Alpine
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		found, _ := filepath.Glob(pattern)
		sort.SliceStable(found, func(i, j int) bool { return major(found[i]) > major(found[j]) })
		dirs = append(dirs, found...)
	}
	return dirs
}

// major is the version number in a path such as /usr/lib/postgresql/15/bin,
// 0 when there is none.
func major(path string) int {
	digits := strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	for _, d := range digits {
		if n, err := strconv.Atoi(d); err == nil && n >= 9 {
			return n
		}
	}
	return 0
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 {
			return false
		}
	}
	return true
}
