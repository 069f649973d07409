package service_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAKeyWhoseLineDisappearsLosesAccess changes the list of keys under two
// replicas: one is told (SIGHUP), one starts anew, and the other goes by what they
// found.
func TestAKeyWhoseLineDisappearsLosesAccess(t *testing.T) {
	s := newSetting(t)
	line := func(owner, key string) string { return fmt.Sprintf("%s owner %x\n", owner, sha256.Sum256([]byte(key))) }
	s.write(t, "keys", line("o-1", ownerKey)+line("o-1", "ilk_next")+line("o-2", "ilk_other"))
	one := s.start(t)
	two := start(t, s.env, append(s.flags, "--keys", s.write(t, "keys-of-two", line("o-1", ownerKey)+line("o-1", "ilk_next")+line("o-2", "ilk_other")))...)
	status := func(c *child, key string) int { code, _, _ := c.ask("GET", "/v1/jobs", key, ""); return code }
	expect := func(c *child, key string, want int) {
		t.Helper()
		deadline := time.Now().Add(toCome)
		for status(c, key) != want {
			if time.Now().After(deadline) {
				t.Fatalf("key %s is answered %d, want %d; %s", key, status(c, key), want, c.stderr)
			}
			time.Sleep(20 * time.Millisecond) // between two looks
		}
	}
	for _, c := range []*child{one, two} {
		for _, key := range []string{ownerKey, "ilk_next", "ilk_other"} {
			expect(c, key, 200)
		}
	}
	code, _, body := one.ask("POST", "/v1/jobs", ownerKey, intent("mine"), "Idempotency-Key", "k")
	if code != 201 {
		t.Fatal(code, body)
	}

	s.write(t, "keys", line("o-1", "ilk_next")+line("o-2", "ilk_other"))
	if err := one.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	expect(one, ownerKey, 401)
	expect(two, ownerKey, 401)
	if code, _, again := one.ask("POST", "/v1/jobs", "ilk_next", intent("mine"), "Idempotency-Key", "k"); code != 200 || field(t, again, "id") != field(t, body, "id") {
		t.Errorf("the owner's next key gets %d %s: it is not the same owner", code, again)
	}

	s.write(t, "keys", line("o-1", "ilk_next"))
	if code := one.stop(); code != 0 {
		t.Fatalf("it ends with %d: %s", code, one.stderr)
	}
	one = s.start(t)
	if status(one, "ilk_other") != 401 || status(one, "ilk_next") != 200 {
		t.Errorf("after a restart the keys are answered %d and %d, want 401 and 200", status(one, "ilk_other"), status(one, "ilk_next"))
	}
	expect(two, "ilk_other", 401)
	expect(two, "ilk_next", 200)
	if log := one.stderr.String(); !strings.Contains(log, `"owner":"o-2"`) || strings.Contains(log, "ilk_") {
		t.Errorf("the log does not name whose key is revoked, or names the key: %s", log)
	}
}

func TestTwoKeysOfOneOwnerBothWork(t *testing.T) { // D22
	s := newSetting(t)
	s.write(t, "keys", fmt.Sprintf("o-1 owner %s\no-1 owner %s\n", hashOf("old"), hashOf("new")))
	c := s.start(t)
	for _, key := range []string{"old", "new"} {
		if status, _, body := c.ask("GET", "/v1/jobs", key, ""); status != 200 {
			t.Errorf("%s: %d %s", key, status, body)
		}
	}
}

func hashOf(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }
