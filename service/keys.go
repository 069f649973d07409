package service

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// ownerName is what an owner may be called in the keys file.
var ownerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// keyList is the file of --keys: the whole list of API keys. All processes of a
// service go by what the database holds, and each brings the database to its list
// when it starts and whenever the file changes: a key whose line disappears is
// revoked for all of them.
type keyList struct {
	path    string
	keys    []job.Credential
	applied [32]byte // digest of the text that the database was brought to last
	seen    [32]byte // digest at the last look
}

// readKeyList reads the list for the first time.
func readKeyList(path string) (*keyList, error) {
	l := &keyList{path: path}
	text, err := l.read()
	if err != nil {
		return nil, err
	}
	l.keys, err = parseKeys(bytes.NewReader(text), path)
	l.seen = sha256.Sum256(text)
	return l, err
}

func (l *keyList) read() ([]byte, error) {
	text, err := os.ReadFile(l.path)
	if err != nil {
		return nil, usage("the file of --keys cannot be read: %v", errors.Unwrap(err))
	}
	return text, nil
}

// keyStore is where the list goes.
type keyStore interface {
	PutCredentials(ctx context.Context, all []job.Credential) error
	RevokeUnlisted(ctx context.Context, listed []job.Credential) ([]job.Credential, error)
}

// apply brings the database to the list: new keys first, so that a change of keys
// has no gap.
func (l *keyList) apply(ctx context.Context, store keyStore, log *slog.Logger) error {
	if err := store.PutCredentials(ctx, l.keys); err != nil {
		return fmt.Errorf("the API keys cannot be stored: %w", err)
	}
	revoked, err := store.RevokeUnlisted(ctx, l.keys)
	if err != nil {
		return fmt.Errorf("the API keys that are no longer listed cannot be revoked: %w", err)
	}
	for _, c := range revoked {
		log.Warn("an API key is revoked: no line lists it", "owner", c.Owner, "role", c.Role, "sha256_begins", hex.EncodeToString(c.SHA256[:4]))
	}
	l.applied = l.seen
	return nil
}

// keysEvery is how often the file is looked at. A change counts when it looks the
// same twice: an editor may be half through.
const keysEvery = 5 * time.Second

// watch applies the file again when it changes, and at once for each hangup.
// What cannot be read or applied is logged; the keys stay as they are until it
// can.
func (l *keyList) watch(ctx context.Context, hangup <-chan os.Signal, tick <-chan time.Time, store keyStore, log *slog.Logger) {
	complaint := ""
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			asked = true
		case <-tick:
		}
		err := l.look(ctx, asked, store, log)
		if err == nil {
			complaint = ""
		} else if text := err.Error(); asked || text != complaint {
			complaint = text
			log.Error("the list of API keys is not taken over, the keys stay as they were", "error", text)
		}
	}
}

func (l *keyList) look(ctx context.Context, asked bool, store keyStore, log *slog.Logger) error {
	text, err := l.read()
	if err != nil {
		return err
	}
	digest := sha256.Sum256(text)
	settled := digest == l.seen
	l.seen = digest
	if !asked && (digest == l.applied || !settled) {
		return nil
	}
	keys, err := parseKeys(bytes.NewReader(text), l.path)
	if err != nil {
		return err
	}
	l.keys = keys
	if err := l.apply(ctx, store, log); err != nil {
		return err
	}
	log.Info("the list of API keys is taken over", "keys", len(keys))
	return nil
}

// parseKeys reads lines NAME ROLE SHA256-OF-KEY, where NAME is the owner and ROLE
// owner or operator; empty lines and lines that begin with # are skipped. An owner
// may have several keys, so that they can be changed without a gap; one key for
// two owners is refused, and no key itself stands in the file. So is a list of no
// key: a file that was cut short would lock everybody out. Errors name the line
// and repeat nothing of it.
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
	if len(keys) == 0 {
		return nil, usage("%s: it lists no key, and nobody could ask for anything; lines NAME ROLE SHA256-OF-KEY are wanted", path)
	}
	return keys, nil
}
