package httpapi

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// faults is what the mutants of the HTTP contract do and remember. With the
// clean service each hook returns at once and changes nothing.
type faults struct {
	mu      sync.Mutex
	keys    map[string]job.Key // KeyCachePerProcess
	failed  map[string]error   // FailureRemembered
	replica string             // KeyPerReplica
	read    map[job.ID]job.Job // ReadsFromCache
}

func scoped(c *call, key job.Key) string { return string(c.who.Owner) + "\x00" + string(key) }

// submission changes what is about to be stored.
func (f *faults) submission(c *call, s *job.Submission, b body) {
	active := c.s.mutant
	switch {
	case active.Is(mutant.KeyPerRequest):
		s.Key = job.Key(uuid.NewString())
	case active.Is(mutant.KeyPerConnection):
		s.Key += job.Key(" " + c.r.RemoteAddr)
	case active.Is(mutant.KeyPerReplica):
		f.mu.Lock()
		if f.replica == "" {
			f.replica = uuid.NewString()
		}
		s.Key += job.Key(" " + f.replica)
		f.mu.Unlock()
	case active.Is(mutant.KeyCachePerProcess):
		s.Key = f.cached(scoped(c, s.Key))
	case active.Is(mutant.KeyCutShort):
		s.Key = job.Key(strings.ToLower(string(s.Key[:min(len(s.Key), 64)])))
	case active.Is(mutant.PayloadIgnored):
		s.Fingerprint = [32]byte{1}
	case active.Is(mutant.RawByteHash):
		s.Fingerprint = sha256.Sum256(b.raw)
	case active.Is(mutant.FloatNumbers):
		var value any
		_ = json.Unmarshal(b.raw, &value)
		text, _ := json.Marshal(value)
		s.Fingerprint = sha256.Sum256(text)
	case active.Is(mutant.HashAfterDefaults):
		text, _ := json.Marshal(s.Intent)
		text, _ = strictjson.Canonical(text)
		s.Fingerprint = sha256.Sum256(text)
	case active.Is(mutant.HashSansProvider):
		intent := s.Intent
		intent.Provider = ""
		text, _ := json.Marshal(intent)
		s.Fingerprint = sha256.Sum256(text)
	}
}

func (f *faults) cached(key string) job.Key {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = map[string]job.Key{}
	}
	if _, ok := f.keys[key]; !ok {
		f.keys[key] = job.Key(uuid.NewString())
	}
	return f.keys[key]
}

// cache answers a read with what was read first.
func (f *faults) cache(c *call, j *job.Job) {
	if !c.s.mutant.Is(mutant.ReadsFromCache) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read == nil {
		f.read = map[job.ID]job.Job{}
	}
	if first, ok := f.read[j.ID]; ok {
		*j = first
		return
	}
	f.read[j.ID] = *j
}

// leave leaves a goroutine behind.
func (f *faults) leave(c *call) {
	if c.s.mutant.Is(mutant.GoroutineLeft) {
		go func() { select {} }()
	}
}

// submitted remembers a failure as the answer of its key.
func (f *faults) submitted(c *call, key job.Key, err error) {
	if !c.s.mutant.Is(mutant.FailureRemembered) || err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = map[string]error{}
	}
	f.failed[scoped(c, key)] = err
}

func (f *faults) remembered(c *call, key job.Key) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed[scoped(c, key)]
}

// unread stores a job for a key whose body never arrived.
func (f *faults) unread(c *call, key job.Key, err error) {
	active := c.s.mutant
	if !active.Is(mutant.KeyBeforeBody) && !(active.Is(mutant.KeyBeforeContinue) && c.r.Header.Get("Expect") != "") {
		return
	}
	if r, ok := errors.AsType[*refusal](err); !ok || r.kind != bodyUnreadable && r.kind != bodyTimeout {
		return
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	_, _, _ = c.s.store.Submit(ctx, job.Submission{
		Owner: c.who.Owner, Key: key, Fingerprint: [32]byte{2}, FingerprintAlgorithm: FingerprintV1, RawBody: []byte("{}"),
		Intent: job.Intent{Contract: "unread@1.0.0", Provider: "unread", Input: json.RawMessage("{}"),
			Failover: job.Failover{Mode: "manual"}, DeadlineMS: 1000},
	})
}

// completed closes what a broken-off JSON text left open, dropping as little of
// its end as makes it whole.
func completed(prefix []byte) []byte {
	for i := len(prefix); i > 0; i-- {
		whole := append(slices.Clone(prefix[:i]), closers(prefix[:i])...)
		if strictjson.Check(whole, strictjson.Defaults) == nil {
			return whole
		}
	}
	return prefix
}

func closers(prefix []byte) []byte {
	var open []byte
	inText, escaped := false, false
	for _, b := range prefix {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = b == '\\', b != '"'
		case b == '"':
			inText = true
		case b == '{':
			open = append(open, '}')
		case b == '[':
			open = append(open, ']')
		case (b == '}' || b == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	slices.Reverse(open)
	if inText {
		return append([]byte{'"'}, open...)
	}
	return open
}
