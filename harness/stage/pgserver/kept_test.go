package pgserver_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// started starts and ends a server whose cluster is copied from cache, and returns
// what it had to tell.
func started(ctx context.Context, cache string) (notes string, err error) {
	s, err := pgserver.Start(ctx, pgserver.Options{Cache: cache, Note: func(text string) { notes += text + "\n" }})
	if err != nil {
		return notes, err
	}
	if _, err = s.Create(ctx, ""); err == nil {
		_, err = s.Create(ctx, "")
	}
	if closing := s.Close(); err == nil {
		err = closing
	}
	return notes, err
}

// files counts those below a folder that hold something.
func files(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			info, err := d.Info()
			if err == nil && info.Size() > 0 {
				n++
			}
			return err
		}
		return err
	})
	return n, err
}

func TestAKeptClusterIsSharedAndMadeAnewWhenItIsBroken(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	var both sync.WaitGroup
	for range 2 { // at once, on an empty cache
		both.Go(func() {
			if _, err := started(t.Context(), cache); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	kept, _ := filepath.Glob(filepath.Join(cache, "*"))
	if len(kept) != 1 {
		t.Fatalf("the cache holds %v, not one cluster", kept)
	}
	whole, err := files(kept[0])
	if err != nil || whole < 100 {
		t.Fatalf("%d files, %v", whole, err)
	}
	junk := bytes.Repeat([]byte{7}, 8192)
	for name, spoil := range map[string]func() error{
		"a control file of the right size": func() error { return os.WriteFile(filepath.Join(kept[0], "global", "pg_control"), junk, 0o600) },
		"an empty control file":            func() error { return os.Truncate(filepath.Join(kept[0], "global", "pg_control"), 0) },
		"a lost catalog":                   func() error { return os.RemoveAll(filepath.Join(kept[0], "base", "1")) },
		"half a copy":                      func() error { return os.Remove(filepath.Join(kept[0], "PG_VERSION")) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if notes, err := started(t.Context(), cache); err != nil {
			t.Errorf("%s: %v %s", name, err, notes)
		}
		if now, err := files(kept[0]); err != nil || now != whole {
			t.Errorf("%s: the kept cluster has %d files, not %d: %v", name, now, whole, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "half-*")); len(left) > 0 {
		t.Errorf("half copies were left: %v", left)
	}
}
