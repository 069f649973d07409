package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// Principal is who the credential says is asking.
type Principal struct {
	Owner job.Owner
	Role  job.Role
	hash  [32]byte
}

func (p Principal) operator() bool { return p.Role == job.RoleOperator }

// scope is whose jobs a look-up by id may find: an operator's are everybody's.
func (p Principal) scope() job.Owner {
	if p.operator() {
		return job.AnyOwner
	}
	return p.Owner
}

// actor names the principal in the audit trail.
func (p Principal) actor() string { return string(p.Role) + ":" + string(p.Owner) }

// keyring finds principals by their API keys. It remembers answers for a short
// time, so that a revoked key stops working within keyTTL and a flood of wrong
// keys does not become a flood of statements.
type keyring struct {
	store Credentials
	mu    sync.Mutex
	known map[[32]byte]keyAnswer
}

type keyAnswer struct {
	who   Principal
	valid bool
	until time.Time
}

const (
	keyTTL      = 5 * time.Second
	wrongKeyTTL = time.Second
	maxKnown    = 10_000
)

func newKeyring(store Credentials) *keyring {
	return &keyring{store: store, known: make(map[[32]byte]keyAnswer)}
}

// identify reads `Authorization: Bearer KEY`. Absent, malformed, unknown,
// expired and revoked keys get one and the same refusal.
func (k *keyring) identify(ctx context.Context, h http.Header) (Principal, error) {
	no := refuse(unauthorized, "send a valid API key as Authorization: Bearer KEY")
	lines := h.Values("Authorization")
	if len(lines) != 1 {
		lines = []string{""} // looked up all the same: the time tells nothing
	}
	scheme, key, _ := strings.Cut(lines[0], " ")
	answer, err := k.lookUp(ctx, sha256.Sum256([]byte(key)))
	switch {
	case err != nil:
		return Principal{}, err
	case !answer.valid || !strings.EqualFold(scheme, "Bearer"):
		return Principal{}, no
	}
	return answer.who, nil
}

// lookUp never compares keys, only their digests, and those in constant time.
func (k *keyring) lookUp(ctx context.Context, hash [32]byte) (keyAnswer, error) {
	now := time.Now()
	k.mu.Lock()
	answer, ok := k.known[hash]
	k.mu.Unlock()
	if ok && now.Before(answer.until) {
		return answer, nil
	}
	found, err := k.store.Credential(ctx, hash)
	switch {
	case errors.Is(err, job.ErrNotFound):
		answer = keyAnswer{until: now.Add(wrongKeyTTL)}
	case err != nil:
		return keyAnswer{}, err
	default:
		answer = keyAnswer{until: now.Add(keyTTL),
			valid: subtle.ConstantTimeCompare(found.SHA256[:], hash[:]) == 1,
			who:   Principal{Owner: found.Owner, Role: found.Role, hash: hash}}
	}
	k.mu.Lock()
	if len(k.known) >= maxKnown {
		clear(k.known)
	}
	k.known[hash] = answer
	k.mu.Unlock()
	return answer, nil
}
