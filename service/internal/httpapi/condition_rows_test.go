package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

func TestIfMatchGuardsAChange(t *testing.T) { // D10
	f := serve(t)
	o := f.owner(t)
	id := f.submit(t, o, "d10", "d10")
	stale := f.call(t, request("GET", "/v1/jobs/"+id, o.key, "")).header.Get("ETag")
	f.fail(t, id)
	events := sql[int](t, f, "SELECT count(*) FROM attempt_events")
	start := func(condition string) answer {
		lines := []string{"Idempotency-Key: d10-start", "Content-Type: application/json"}
		if condition != "" {
			lines = append(lines, "If-Match: "+condition)
		}
		return f.call(t, request("POST", "/v1/jobs/"+id+"/attempts", o.key, `{}`, lines...))
	}
	for condition, want := range map[string]string{
		"*": "400 header-invalid", "abc": "400 header-invalid", `"1", "2"`: "400 header-invalid", `"1`: "400 header-invalid", `""x"`: "400 header-invalid",
		"\"1\"\r\nIf-Match: \"1\"": "400 header-invalid",
		`W/"1"`:                    "412 version-mismatch", `"2"`: "412 version-mismatch", `"abc"`: "412 version-mismatch", `""`: "412 version-mismatch",
		`"01"`: "412 version-mismatch", stale: "412 version-mismatch",
	} {
		a := start(condition)
		if got := fmt.Sprintf("%d %s", a.status, a.problem()); got != want {
			t.Errorf("If-Match: %s gives %s, want %s", condition, got, want)
		}
		if a.problem() == "version-mismatch" && condition == stale && a.field(t, "version") != "1" {
			t.Errorf("the version is not told: %s", a.body)
		}
	}
	if now := sql[int](t, f, "SELECT count(*) FROM attempt_events"); now != events {
		t.Error("a refused condition wrote an event")
	}
	fresh := f.call(t, request("GET", "/v1/jobs/"+id, o.key, "")).header.Get("ETag")
	if a := start(fresh); a.status != 202 {
		t.Fatalf("the fresh tag %s gives %d %s", fresh, a.status, a.body)
	}
	// The key of the click is looked up before the condition, which is stale now.
	if a := start(fresh); a.status != 202 || a.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same click again gives %d %s", a.status, a.body)
	}
	cancel := f.call(t, request("POST", "/v1/jobs/"+id+"/cancel", o.key, "", "If-Match: "+fresh))
	if cancel.status != 412 {
		t.Errorf("a stale cancel gives %d %s", cancel.status, cancel.body)
	}
	if a := f.call(t, request("POST", "/v1/jobs/"+id+"/cancel", o.key, "", `If-Match: "1"`)); a.status != 200 || a.field(t, "status") != "cancelled" {
		t.Errorf("a cancel at the version alone gives %d %s", a.status, a.body)
	}
}

func TestTwelveComesBeforeNineAndReplayBeforeBoth(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	id := f.submit(t, o, "k", "k")
	f.gate.deny("q", "no certificate of q")
	start := func(key, body string, lines ...string) answer {
		return f.call(t, request("POST", "/v1/jobs/"+id+"/attempts", o.key, body, append(lines, "Idempotency-Key: "+key, "Content-Type: application/json")...))
	}
	if a := start("s1", `{"provider":"q"}`, `If-Match: "7"`); a.status != 412 {
		t.Errorf("stale and in flight: %d %s, want 412", a.status, a.body)
	}
	a := start("s1", `{"provider":"q"}`)
	if a.status != 409 || a.problem() != "attempt-in-flight" || a.field(t, "state") != "starting" || a.field(t, "attempt_id") == "" ||
		a.field(t, "since") == "" || a.header.Get("Retry-After") == "" || a.header.Get("X-Attempt-Id") != a.field(t, "attempt_id") || a.field(t, "retryable") != "true" {
		t.Errorf("in flight and not certified: %d %v %s, want 409 attempt-in-flight", a.status, a.header, a.body)
	}
	f.fail(t, id)
	a = start("s1", `{"provider":"q"}`)
	if a.status != 403 || a.problem() != "provider-not-certified" || a.field(t, "reasons") != "[no certificate of q]" {
		t.Errorf("not certified: %d %s", a.status, a.body)
	}
	if n := sql[int](t, f, "SELECT count(*) FROM attempt_events WHERE job_id = $1 AND type = 'failover.denied'", id); n != 1 {
		t.Errorf("%d refusals of the gate are recorded", n)
	}
	if a = start("s2", `{}`); a.status != 202 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := f.call(t, request("POST", "/v1/jobs/"+id+"/cancel", o.key, `{"reason":"not needed"}`, "Content-Type: application/json")); a.status != 200 {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
	if a = start("s3", `{}`); a.status != 409 || a.problem() != "job-terminal" || a.header.Get("X-Should-Retry") != "false" {
		t.Errorf("on a finished job: %d %s", a.status, a.body)
	}
	if a := f.call(t, request("POST", "/v1/jobs/"+id+"/cancel", o.key, "")); a.status != 409 || a.problem() != "job-terminal" {
		t.Errorf("cancel again: %d %s", a.status, a.body)
	}
}

func TestNotModifiedHasNoBody(t *testing.T) { // D11
	f := shared(t)
	o := f.owner(t)
	id := f.submit(t, o, "d11", "d11")
	for _, target := range []string{"/v1/jobs/" + id, "/v1/jobs?key=d11", "/v1/jobs", "/v1/jobs/" + id + "/attempts", "/v1/jobs/" + id + "/events", "/v1/races", "/v1/providers"} {
		first := f.call(t, request("GET", target, o.key, ""))
		tag := first.header.Get("ETag")
		if first.status != 200 || tag == "" {
			t.Errorf("%s: %d, ETag %q", target, first.status, tag)
			continue
		}
		for _, condition := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			a := f.call(t, request("GET", target, o.key, "", "If-None-Match: "+condition))
			if a.status != http.StatusNotModified || len(a.body) != 0 || a.header.Get("ETag") != tag {
				t.Errorf("%s with %s: %d %s", target, condition, a.status, a.body)
			}
		}
		if a := f.call(t, request("GET", target, o.key, "", `If-None-Match: "other"`)); a.status != 200 {
			t.Errorf("%s with another tag: %d", target, a.status)
		}
		if a := f.call(t, request("GET", target, o.key, "", `If-None-Match: abc`)); a.status != 400 || a.problem() != "header-invalid" {
			t.Errorf("%s with a bare word: %d", target, a.status)
		}
	}
	before := f.call(t, request("GET", "/v1/jobs/"+id, o.key, "")).header.Get("ETag")
	f.bring(t, id, "running")
	after := f.call(t, request("GET", "/v1/jobs/"+id, o.key, "", "If-None-Match: "+before))
	if after.status != 200 || after.header.Get("ETag") == before || after.field(t, "version") != "1" {
		t.Errorf("an attempt that moved gives %d %v %s", after.status, after.header, after.body)
	}
}

func TestWaitingEndsWithTheJobOrTheTime(t *testing.T) { // D12
	f := shared(t)
	o := f.owner(t)
	for value, want := range map[string]string{"wait=-1": "400 header-invalid", "wait=abc": "400 header-invalid", "wait=": "400 header-invalid", "wait=1.5": "400 header-invalid"} {
		a := f.call(t, post(o, goodBody("d12"), "Idempotency-Key: d12", "Prefer: "+value))
		if got := fmt.Sprintf("%d %s", a.status, a.problem()); got != want {
			t.Errorf("Prefer: %s gives %s, want %s", value, got, want)
		}
	}
	if n := f.jobs(t, o); n != 0 {
		t.Fatalf("%d jobs", n)
	}
	begun := time.Now()
	a := f.call(t, post(o, goodBody("slow"), "Idempotency-Key: slow", "Prefer: respond-async, wait=1"))
	if a.status != 202 || time.Since(begun) < time.Second || a.header.Get("Preference-Applied") != "wait=1" || a.header.Get("Location") == "" {
		t.Errorf("after %s: %d %v %s", time.Since(begun), a.status, a.header, a.body)
	}
	if a := f.call(t, post(o, goodBody("none"), "Idempotency-Key: none", "Prefer: wait=0")); a.status != 202 {
		t.Errorf("wait=0: %d", a.status)
	}
	id := f.submit(t, o, "quick", "quick")
	answered := make(chan answer, 2)
	for range 2 { // a duplicate attaches and waits too
		go func() {
			answered <- f.call(t, post(o, goodBody("quick"), "Idempotency-Key: quick", "Prefer: wait=99999"))
		}()
	}
	f.bring(t, id, "running")
	select {
	case a := <-answered:
		t.Fatalf("answered before the job ended: %d %s", a.status, a.body)
	case <-time.After(200 * time.Millisecond):
	}
	claimed := sql[int64](t, f, "SELECT fence FROM attempts WHERE job_id = $1", id)
	f.complete(t, id, claimed)
	for range 2 {
		a := <-answered
		if a.status != 200 || a.field(t, "status") != "succeeded" || a.header.Get("Preference-Applied") != "wait=60" || a.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
	}
	if a := f.call(t, post(o, goodBody("quick"), "Idempotency-Key: quick", "Prefer: wait=5")); a.status != 200 {
		t.Errorf("a finished job: %d", a.status)
	}
}

func TestWaitingClientsAreLetGoWhenTheServerDrains(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	answered := make(chan answer, 1)
	go func() {
		answered <- f.call(t, post(o, goodBody("drain"), "Idempotency-Key: drain", "Prefer: wait=60"))
	}()
	eventually(t, "the job is there", func() bool { return f.jobs(t, o) == 1 })
	begun := time.Now()
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	a := <-answered
	if a.status != 202 || a.field(t, "status") != "starting" || time.Since(begun) > 3*time.Second {
		t.Errorf("after %s: %d %s", time.Since(begun), a.status, a.body)
	}
}

func TestClientThatLeavesDoesNotUndoItsSubmit(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	for i := range 20 {
		raw := post(o, goodBody("gone"), fmt.Sprint("Idempotency-Key: gone-", i))
		f.hangUp(t, raw)
	}
	eventually(t, "all submits are stored", func() bool { return f.jobs(t, o) == 20 })
	whole := sql[int](t, f, "SELECT count(*) FROM jobs j WHERE owner = $1 AND EXISTS (SELECT FROM attempts a WHERE a.job_id = j.id) AND EXISTS (SELECT FROM attempt_events e WHERE e.job_id = j.id)", o.name)
	if whole != 20 {
		t.Errorf("%d of 20 jobs have their attempt and event", whole)
	}
}

func TestCancelJobTakesAReasonOrNone(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	for i, tc := range []struct {
		body string
		want string
	}{
		{"", "200"}, {`{}`, "200"}, {`{"reason":"changed my mind"}`, "200"},
		{`{"reason":1}`, "422 params-invalid"}, {`{"why":"x"}`, "422 params-invalid"}, {`[]`, "422 params-invalid"}, {`{`, "400 body-not-strict-json"},
	} {
		id := f.submit(t, o, fmt.Sprint("c", i), "x")
		lines := []string{}
		if tc.body != "" {
			lines = append(lines, "Content-Type: application/json")
		}
		a := f.call(t, request("POST", "/v1/jobs/"+id+"/cancel", o.key, tc.body, lines...))
		if got := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, a.problem())); got != tc.want {
			t.Errorf("%q gives %s, want %s", tc.body, got, tc.want)
		}
		if a.status == 200 {
			validate(t, "Job", a.body)
		}
	}
}

func TestStoreThatDoesNotAnswerIsUnavailable(t *testing.T) {
	f := serve(t, withLimits(func(l *httpapi.Limits) { l.StoreTime = time.Second }))
	o := f.owner(t)
	f.submit(t, o, "warm", "warm")
	unlock := f.lockJobs(t)
	a := f.call(t, post(o, goodBody("x"), "Idempotency-Key: k"))
	if a.status != 503 || a.problem() != "store-unavailable" || a.header.Get("Retry-After") == "" || a.field(t, "retryable") != "true" || a.field(t, "indeterminate") != "true" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	unlock()
	if a := f.call(t, post(o, goodBody("x"), "Idempotency-Key: k")); a.status != 201 && a.status != 200 {
		t.Errorf("the same key then gives %d %s", a.status, a.body)
	}
	if n := f.jobs(t, o); n != 2 {
		t.Errorf("%d jobs", n)
	}
}
