package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/standin"
)

// eventually waits until the child is as wanted.
func (c *child) eventually(what string, holds func() bool) {
	c.t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > toCome {
			c.t.Fatalf("not within %s: %s; it says %s", toCome, what, c.stderr)
		}
	}
}

func TestAnAttemptThatStaysUnknownIsAnAlarm(t *testing.T) {
	s := newSetting(t)
	c := s.start(t, "--unknown-alarm", "300ms")
	gate := s.provider.Hold(standin.Match{})
	held := strings.Replace(intent("held"), `"input"`, `"deadline_ms":20,"input"`, 1)
	status, _, body := c.ask("POST", "/v1/jobs", ownerKey, held, "Idempotency-Key", "k")
	if status != 201 {
		t.Fatal(status, body)
	}
	id := field(t, body, "id")
	metric := func(name string) string {
		_, _, text := c.ask("GET", "/metrics", "", "")
		for line := range strings.Lines(text) {
			if value, ok := strings.CutPrefix(line, name+" "); ok {
				return strings.TrimSpace(value)
			}
		}
		return ""
	}
	c.eventually("the log calls for somebody", func() bool {
		log := c.stderr.String()
		return strings.Contains(log, `"msg":"an attempt stays unknown`) && strings.Contains(log, `"job_id":"`+id+`"`)
	})
	if age := metric("interlock_unknown_oldest_age_seconds"); age == "" || age == "0" {
		t.Errorf("the metric of its age is %q", age)
	}
	if _, _, list := c.ask("GET", "/v1/unknown?older_than_ms=300", ownerKey, ""); !strings.Contains(list, id) {
		t.Errorf("the list lacks it: %s", list)
	}
	gate.Release()
	c.eventually("the late answer ends it", func() bool { return metric("interlock_unknown_oldest_age_seconds") == "0" })
	if _, _, list := c.ask("GET", "/v1/unknown", ownerKey, ""); strings.Contains(list, id) {
		t.Errorf("the list still has it: %s", list)
	}
}

func TestOldJobsArePurged(t *testing.T) {
	s := newSetting(t)
	c := s.start(t, "--purge-after", "300ms")
	status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("a"), "Idempotency-Key", "k", "Prefer", "wait=10")
	if status != 200 || field(t, body, "status") != "succeeded" {
		t.Fatal(status, body)
	}
	c.eventually("its key is gone", func() bool {
		status, _, _ := c.ask("POST", "/v1/jobs", ownerKey, intent("a"), "Idempotency-Key", "k")
		return status == 410
	})
	if status, _, body := c.ask("GET", "/v1/jobs/"+field(t, body, "id"), ownerKey, ""); status != 410 {
		t.Errorf("%d %s", status, body)
	}
	if n := len(s.provider.Ledger()); n != 1 {
		t.Errorf("%d requests for one job", n)
	}
}

// TestAnApiAloneReapsLeases kills the only worker: what it left behind becomes
// unknown all the same.
func TestAnApiAloneReapsLeases(t *testing.T) {
	s := newSetting(t)
	api := s.start(t, "--role", "api")
	worker := s.start(t, "--role", "worker", "--lease", "1s", "--heartbeat", "200ms")
	s.provider.Hold(standin.Match{})
	status, _, body := api.ask("POST", "/v1/jobs", ownerKey, intent("a"), "Idempotency-Key", "k")
	if status != 201 {
		t.Fatal(status, body)
	}
	is := func(want string) bool {
		_, _, now := api.ask("GET", "/v1/jobs/"+field(t, body, "id"), ownerKey, "")
		return field(t, now, "status") == want
	}
	api.eventually("the worker is at it", func() bool { return is("running") })
	if err := worker.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	worker.wait()
	api.eventually("nobody knows how it ended", func() bool { return is("unknown") })
}
