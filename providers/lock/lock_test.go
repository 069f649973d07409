package lock_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/lock"
)

// TestTheFixturesAreAsTheyAreLocked is what fails when a fixture is changed and its
// lock is not.
func TestTheFixturesAreAsTheyAreLocked(t *testing.T) {
	for _, dir := range []string{"contracts", "profiles", "vendors", "bad", "exchanges"} {
		if _, err := fs.Stat(fixtures.FS, path.Join(dir, lock.File)); err != nil {
			t.Errorf("%s has no lock: go run . lock providers/fixtures/%s", dir, dir)
		}
		if err := lock.Check(fixtures.FS, dir, "providers/fixtures/"+dir); err != nil {
			t.Error(err)
		}
	}
}

func locked(t *testing.T) fstest.MapFS {
	t.Helper()
	f := fstest.MapFS{"c/a.yaml": {Data: []byte("a: 1\n")}, "c/sub/b.yaml": {Data: []byte("b: 1\n")}}
	text, err := lock.Make(f, "c")
	if err != nil {
		t.Fatal(err)
	}
	f["c/lock.json"] = &fstest.MapFile{Data: text}
	if err := lock.Check(f, "c", "c"); err != nil {
		t.Fatalf("as it was locked: %v", err)
	}
	return f
}

func TestAnyChangeOfALockedFolderIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"a file that was changed":     {func(f fstest.MapFS) { f["c/sub/b.yaml"].Data[3] ^= 1 }, `"sub/b.yaml" was changed`},
		"a file that is missing":      {func(f fstest.MapFS) { delete(f, "c/a.yaml") }, `"a.yaml" is missing`},
		"a file too many":             {func(f fstest.MapFS) { f["c/sub/x.yaml"] = &fstest.MapFile{} }, `"sub/x.yaml" is not locked`},
		"a file under another name":   {func(f fstest.MapFS) { f["c/A.yaml"] = f["c/a.yaml"]; delete(f, "c/a.yaml") }, `"a.yaml" is missing; "A.yaml" is not locked`},
		"a lock that lacks a file":    {lockText(`{"files":{}}`), `"a.yaml" is not locked; "sub/b.yaml" is not locked`},
		"a lock that is none":         {lockText(`[]`), "lock.json is no lock"},
		"a digest that is none":       {lockText(`{"files":{"a.yaml":"12"}}`), `the digest of "a.yaml"`},
		"a lock with a name twice":    {lockText(`{"files":{"a":"","a":""}}`), "lock.json is no lock"},
		"a lock with something more":  {lockText(`{"files":{},"more":1}`), "and nothing else"},
		"a lock that is far too deep": {lockText(strings.Repeat("[", 100)), "lock.json is no lock"},
	} {
		t.Run(name, func(t *testing.T) {
			f := locked(t)
			c.change(f)
			err := lock.Check(f, "c", "my folder")
			var changed *lock.ChangedError
			if !errors.As(err, &changed) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "fixtures-changed: my folder") || !strings.HasSuffix(err.Error(), "interlock lock my folder") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestAFolderWithoutALockIsTakenAsItIs(t *testing.T) {
	f := locked(t)
	delete(f, "c/lock.json")
	if err := lock.Check(f, "c", "c"); err != nil {
		t.Error(err)
	}
}

func lockText(text string) func(fstest.MapFS) {
	return func(f fstest.MapFS) { f["c/lock.json"].Data = []byte(text) }
}
