package service

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// ownerName is what an owner may be called in the keys file.
var ownerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// readKeys reads the file of API keys: lines NAME ROLE SHA256-OF-KEY, where NAME
// is the owner and ROLE owner or operator; empty lines and lines that begin with
// # are skipped. An owner may have several keys, so that they can be changed
// without a gap; one key for two owners is refused, and no key itself stands in
// the file. Errors name the line and repeat nothing of it.
func readKeys(path string) ([]job.Credential, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("the file of --keys cannot be read: %v", errors.Unwrap(err))
	}
	defer f.Close()
	return parseKeys(f, path)
}

func parseKeys(r io.Reader, path string) ([]job.Credential, error) {
	var keys []job.Credential
	seen := map[[32]byte]int{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Fields(line)
		if len(parts) != 3 {
			return nil, usage("%s:%d: NAME ROLE SHA256-OF-KEY are wanted", path, n)
		}
		k := job.Credential{Owner: job.Owner(parts[0]), Role: job.Role(parts[1])}
		digest, err := hex.DecodeString(parts[2])
		switch {
		case !ownerName.MatchString(parts[0]):
			return nil, usage("%s:%d: a name is 1 to 64 letters, digits, dots, @, _ and -", path, n)
		case k.Role != job.RoleOwner && k.Role != job.RoleOperator:
			return nil, usage("%s:%d: the role is owner or operator", path, n)
		case err != nil || len(digest) != 32:
			return nil, usage("%s:%d: the SHA-256 of the key is 64 hexadecimal digits", path, n)
		}
		k.SHA256 = [32]byte(digest)
		if first, ok := seen[k.SHA256]; ok {
			return nil, usage("%s:%d: this key stands in line %d already", path, n, first)
		}
		seen[k.SHA256] = n
		keys = append(keys, k)
	}
	if err := lines.Err(); err != nil {
		return nil, usage("%s cannot be read: %v", path, err)
	}
	return keys, nil
}
