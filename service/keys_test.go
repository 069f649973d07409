package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// table is a database of credentials.
type table struct {
	valid map[[32]byte]job.Owner
	down  error
	calls int
}

func (t *table) PutCredentials(_ context.Context, all []job.Credential) error {
	if t.calls++; t.down != nil {
		return t.down
	}
	for _, c := range all {
		t.valid[c.SHA256] = c.Owner
	}
	return nil
}

func (t *table) RevokeUnlisted(_ context.Context, listed []job.Credential) (revoked []job.Credential, err error) {
	keep := map[[32]byte]bool{}
	for _, c := range listed {
		keep[c.SHA256] = true
	}
	for sum, owner := range t.valid {
		if !keep[sum] {
			delete(t.valid, sum)
			revoked = append(revoked, job.Credential{Owner: owner, SHA256: sum})
		}
	}
	return revoked, nil
}

func (t *table) owners() string {
	names := map[string]bool{}
	for _, owner := range t.valid {
		names[string(owner)] = true
	}
	var list []string
	for _, name := range []string{"a", "b", "c"} {
		if names[name] {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

func TestTheListOfKeysIsFollowed(t *testing.T) { synctest.Test(t, followTheList) }

func followTheList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(owner string, n int) string { return fmt.Sprintf("%s owner %064x\n", owner, n) }
	write(line("a", 1) + line("b", 2))
	list, err := readKeyList(path)
	if err != nil {
		t.Fatal(err)
	}
	database := &table{valid: map[[32]byte]job.Owner{{9}: "c"}} // left by a list of before
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	if err := list.apply(t.Context(), database, log); err != nil {
		t.Fatal(err)
	}
	tick, hangup, gone := make(chan time.Time), make(chan os.Signal), make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() { defer close(gone); list.watch(ctx, hangup, tick, database, log) }()
	look := func() { tick <- time.Time{}; synctest.Wait() } // until the watcher waits for the next one
	reload := func() { hangup <- os.Interrupt; synctest.Wait() }
	settled := func() { look(); look(); look() }

	for _, step := range []struct {
		name string
		do   func()
		want string
		says string
	}{
		{"the first list", settled, "a b", "no line lists it\" owner=c"},
		{"a line disappears", func() { write(line("a", 1)); settled() }, "a", "no line lists it\" owner=b"},
		{"it is back, and another", func() { write(line("a", 1) + line("b", 2) + line("c", 3)); settled() }, "a b c", "keys=3"},
		{"half written", func() { write(line("a", 1)); look(); write(line("a", 1) + line("b", 2)); look(); look() }, "a b", "keys=2"},
		{"at once", func() { write(line("b", 2)); reload(); look() }, "b", "keys=1"},
		{"broken", func() { write("b owner 12\n"); settled(); reload(); look() }, "b", "keys:1: the SHA-256"},
		{"emptied", func() { write("# nobody\n"); settled() }, "b", "lists no key"},
		{"gone", func() { _ = os.Remove(path); settled() }, "b", "cannot be read"},
		{"whole again", func() { write(line("a", 1) + line("b", 2)); settled() }, "a b", "keys=2"},
	} {
		step.do()
		if got := database.owners(); got != step.want {
			t.Errorf("%s: %q have access, want %q", step.name, got, step.want)
		}
		if !strings.Contains(logged.String(), step.says) {
			t.Errorf("%s: the log does not say %q:\n%s", step.name, step.says, logged.String())
		}
		logged.Reset()
	}

	calls := database.calls
	settled()
	if database.calls != calls {
		t.Error("a list that did not change was applied again")
	}
	database.down = errors.New("the database is away")
	write(line("c", 3))
	settled()
	if n := strings.Count(logged.String(), "the database is away"); n != 1 || database.owners() != "a b" {
		t.Errorf("while the database is away: %d lines in the log, %q", n, database.owners())
	}
	database.down = nil
	settled()
	if database.owners() != "c" {
		t.Errorf("when the database is back: %q", database.owners())
	}
	stop()
	<-gone
}
