package console

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// tokenFile keeps the token of this user, so that tabs that are still open find
// a console again that was started anew.
const tokenFile = "console-token"

var tokenForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// userToken reads the token of this user, or makes one. Where it cannot be kept
// it is good for this run.
func userToken() string {
	fresh := rand.Text()
	cache, err := os.UserCacheDir()
	if err != nil {
		return fresh
	}
	return keptToken(filepath.Join(cache, "interlock", tokenFile), fresh)
}

// keptToken is what the file holds, unless others can read it or it holds
// something else; then it holds fresh from now on.
func keptToken(path, fresh string) string {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 == 0 {
		if text, err := os.ReadFile(path); err == nil && tokenForm.MatchString(strings.TrimSpace(string(text))) {
			return strings.TrimSpace(string(text))
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fresh
	}
	_ = os.Remove(path)
	_ = os.WriteFile(path, []byte(fresh+"\n"), 0o600) // else it is good for this run
	return fresh
}
