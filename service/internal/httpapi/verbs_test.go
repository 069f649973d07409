package httpapi_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/job"
)

func (f *fixture) verb(t testing.TB, o owner, id string, n int, verb, body string) answer {
	t.Helper()
	return f.call(t, request("POST", fmt.Sprintf("/v1/jobs/%s/attempts/%d/%s", id, n, verb), o.operator, body, "Content-Type: application/json"))
}

func TestVerbsAnswerInEveryState(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	const reason = `{"reason":"r"}`
	for i, tc := range []struct {
		state job.State
		verb  string
		want  string
	}{
		{"starting", "cancel", "200 cancelled"}, {"running", "cancel", "200 cancelled"}, {"unknown", "cancel", "200 cancelled"},
		{"failed", "cancel", "409 attempt-terminal"}, {"succeeded", "cancel", "409 attempt-terminal"},
		{"starting", "release", "409 not-releasable"}, {"running", "release", "409 not-releasable"}, {"unknown", "release", "200 released"},
		{"failed", "release", "409 not-releasable"}, {"succeeded", "release", "409 not-releasable"},
		{"starting", "resolve", "409 not-unknown"}, {"running", "resolve", "409 not-unknown"}, {"unknown", "resolve", "200 failed"},
		{"failed", "resolve", "409 not-unknown"}, {"succeeded", "resolve", "409 not-unknown"},
	} {
		id := f.submit(t, o, fmt.Sprint("verb-", i), "verbs")
		f.bring(t, id, tc.state)
		body := reason
		if tc.verb == "resolve" {
			body = `{"reason":"r","outcome":"failed","evidence":"console"}`
		}
		a := f.verb(t, o, id, 1, tc.verb, body)
		got := fmt.Sprintf("%d %s", a.status, a.problem())
		if a.status == 200 {
			validate(t, "Attempt", a.body)
			got += a.field(t, "state")
			if a.header.Get("X-Attempt-Id") != a.field(t, "id") || a.header.Get("X-Job-Id") != id {
				t.Errorf("%s of %s: identity is %v", tc.verb, tc.state, a.header)
			}
		}
		if got != tc.want {
			t.Errorf("%s of %s gives %s, want %s", tc.verb, tc.state, got, tc.want)
		}
	}
}

// TestRaceIsToldWithoutItsPayload plays the race that the service is about: A is
// silent and released, B wins, and A's late answer is only told of.
func TestRaceIsToldWithoutItsPayload(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	id := f.submit(t, o, "race", "race")
	first := f.claim(t, id)
	if _, err := f.store.MarkUnknown(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	start := func(key string) answer {
		return f.call(t, request("POST", "/v1/jobs/"+id+"/attempts", o.key, "", "Idempotency-Key: "+key))
	}
	if a := start("b"); a.status != 409 || a.problem() != "attempt-in-flight" || a.field(t, "state") != "unknown" {
		t.Fatalf("a new attempt beside an unknown one: %d %s", a.status, a.body)
	}
	if a := f.verb(t, o, id, 1, "release", `{"reason":"silent"}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := start("b"); a.status != 202 || a.field(t, "n") != "2" {
		t.Fatalf("after the release: %d %s", a.status, a.body)
	}
	second := f.claim(t, id)
	if err := f.store.Complete(t.Context(), second, []byte(`{"label":"b"}`)); err != nil {
		t.Fatal(err)
	}
	late := []byte(`{"label":"canary of the late answer"}`)
	if err := f.store.Complete(t.Context(), first, late); err == nil {
		t.Fatal("the late answer won")
	}
	j := f.call(t, request("GET", "/v1/jobs/"+id, o.key, ""))
	if j.field(t, "result") != "map[label:b]" || j.field(t, "completed_by") != string(second.Attempt) || j.field(t, "version") != "2" {
		t.Errorf("the job is %s", j.body)
	}
	races := f.call(t, request("GET", "/v1/races?job="+id, o.key, ""))
	validate(t, "RaceList", races.body)
	var list struct{ Races []map[string]any }
	decode(t, races.body, &list)
	if len(list.Races) != 1 {
		t.Fatalf("%s", races.body)
	}
	r := list.Races[0]
	want := map[string]any{"job_id": id, "attempt_id": string(first.Attempt), "winner_id": string(second.Attempt), "n": 1.0,
		"payload_sha256": fmt.Sprintf("%x", sha256.Sum256(late)), "payload_bytes": float64(len(late))}
	for name, v := range want {
		if r[name] != v {
			t.Errorf("%s is %v, want %v", name, r[name], v)
		}
	}
	for _, target := range []string{"/v1/races", "/v1/jobs/" + id, "/v1/jobs/" + id + "/attempts", "/v1/jobs/" + id + "/events"} {
		if a := f.call(t, request("GET", target, o.key, "")); strings.Contains(string(a.body), "canary") {
			t.Errorf("%s shows the dropped payload", target)
		}
	}
	if strings.Contains(f.logs.String(), "canary") {
		t.Error("the log shows the dropped payload")
	}
	attempts := f.call(t, request("GET", "/v1/jobs/"+id+"/attempts", o.key, ""))
	validate(t, "AttemptList", attempts.body)
	if !strings.Contains(string(attempts.body), `"state":"lost"`) || !strings.Contains(string(attempts.body), `"trigger_key":"b"`) {
		t.Errorf("%s", attempts.body)
	}
	// A success that is resolved after the job has ended is lost, not refused.
	id = f.submit(t, o, "resolved-late", "race")
	f.bring(t, id, "unknown")
	f.bring(t, id, "cancelled")
	a := f.verb(t, o, id, 1, "resolve", `{"reason":"r","outcome":"succeeded","evidence":"e","result":{"label":"late"}}`)
	if a.status != 200 || a.field(t, "state") != "lost" {
		t.Errorf("a success after the cancel: %d %s", a.status, a.body)
	}
}

func TestRacesComeInPages(t *testing.T) {
	f := shared(t)
	o, other := f.owner(t), f.owner(t)
	for i := range 5 {
		id := f.submit(t, o, fmt.Sprint("r", i), "x")
		by := f.claim(t, id)
		f.bring(t, id, "cancelled")
		if err := f.store.Complete(t.Context(), by, []byte(`{"label":"late"}`)); err == nil {
			t.Fatal("a cancelled job was completed")
		}
	}
	seen := 0
	for after := ""; ; {
		a := f.call(t, request("GET", "/v1/races?limit=2"+after, o.key, ""))
		var list struct {
			Races []struct{ ID int64 }
			Next  string
		}
		decode(t, a.body, &list)
		seen += len(list.Races)
		if list.Next == "" {
			break
		}
		after = "&after=" + list.Next
	}
	if seen != 5 {
		t.Errorf("%d races in all pages, want 5", seen)
	}
	if a := f.call(t, request("GET", "/v1/races", other.key, "")); strings.TrimSpace(string(a.body)) != `{"races":[]}` {
		t.Errorf("another owner sees %s", a.body)
	}
}

func TestStartsAtOnceMakeOneAttempt(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	for round := range 3 {
		id := f.submit(t, o, fmt.Sprint("starts-", round), "x")
		f.fail(t, id)
		answers := make(chan answer, 32)
		for i := range 32 {
			go func() {
				answers <- f.call(t, request("POST", "/v1/jobs/"+id+"/attempts", o.key, "", fmt.Sprint("Idempotency-Key: click-", i)))
			}()
		}
		count := map[int]int{}
		for range 32 {
			a := <-answers
			count[a.status]++
			if a.status == 409 && a.problem() != "attempt-in-flight" {
				t.Errorf("%s", a.body)
			}
		}
		if count[202] != 1 || count[409] != 31 {
			t.Errorf("round %d: %v", round, count)
		}
		if n := sql[int](t, f, "SELECT count(*) FROM attempts WHERE job_id = $1", id); n != 2 {
			t.Errorf("round %d: %d attempts", round, n)
		}
	}
}

func TestUnknownAttemptsAreListed(t *testing.T) {
	f := serve(t)
	a, b := f.owner(t), f.owner(t)
	first := f.submit(t, a, "k", "x")
	f.bring(t, first, "unknown")
	second := f.submit(t, b, "k", "x")
	f.bring(t, second, "unknown")
	f.bring(t, f.submit(t, a, "k2", "x"), "running")
	list := func(key, query string) string {
		got := f.call(t, request("GET", "/v1/unknown"+query, key, ""))
		if got.status != 200 {
			return fmt.Sprint(got.status, " ", got.problem())
		}
		validate(t, "UnknownList", got.body)
		var l struct {
			Attempts []struct {
				JobID string `json:"job_id"`
			}
		}
		decode(t, got.body, &l)
		var ids []string
		for _, e := range l.Attempts {
			ids = append(ids, e.JobID)
		}
		return strings.Join(ids, " ")
	}
	for _, tc := range []struct{ key, query, want string }{
		{a.key, "", first},
		{b.key, "", second},
		{b.operator, "", first + " " + second},
		{b.operator, "?limit=1", first},
		{b.operator, "?older_than_ms=3600000", ""},
		{b.operator, "?older_than_ms=0", "400 query-invalid"},
		{b.operator, "?older_than_ms=1h", "400 query-invalid"},
		{"nobody", "", "401 unauthorized"},
	} {
		if got := list(tc.key, tc.query); got != tc.want {
			t.Errorf("%s %s lists %q, want %q", tc.key, tc.query, got, tc.want)
		}
	}
}

// TestAFaultOfOursTellsNothing breaks the database under the service: the answer
// is a plain 500, and the cause is in the log under the request's id.
func TestAFaultOfOursTellsNothing(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	id := f.submit(t, o, "k", "k")
	if _, err := f.connect(t).Exec(t.Context(), "DROP VIEW job_status"); err != nil {
		t.Fatal(err)
	}
	a := f.call(t, request("GET", "/v1/jobs/"+id, o.key, ""))
	if a.status != 500 || a.problem() != "internal" || strings.Contains(string(a.body), "job_status") {
		t.Errorf("%d %s", a.status, a.body)
	}
	found := false
	for line := range strings.Lines(f.logs.String()) {
		found = found || strings.Contains(line, a.header.Get("X-Request-Id")) && strings.Contains(line, "job_status")
	}
	if !found {
		t.Errorf("the log does not say why: %s", f.logs)
	}
}

// TestAClientThatRepeatsConflictsStopsAtAReusedKey plays the rule by which the
// vendors' generated SDKs repeat: x-should-retry decides, and without it a 409 is
// repeated like a 429 or a 5xx.
func TestAClientThatRepeatsConflictsStopsAtAReusedKey(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	sends := func(raw string) (n int, last answer) {
		for n < 3 {
			last = f.call(t, raw)
			n++
			switch again := last.header.Get("X-Should-Retry"); {
			case again == "true":
			case again == "false" || last.status != 408 && last.status != 409 && last.status != 429 && last.status < 500:
				return n, last
			}
		}
		return n, last
	}
	id := f.submit(t, o, "k", "k")
	start := request("POST", "/v1/jobs/"+id+"/attempts", o.key, "", "Idempotency-Key: click")
	if n, a := sends(start); n != 3 || a.problem() != "attempt-in-flight" {
		t.Errorf("what may clear: %d requests, then %d %s", n, a.status, a.body)
	}
	if n, a := sends(post(o, goodBody("another"), "Idempotency-Key: k")); n != 1 || a.problem() != "idempotency-key-reused" {
		t.Errorf("a reused key: %d requests, then %d %s", n, a.status, a.body)
	}
	f.bring(t, id, "succeeded")
	if n, a := sends(start); n != 1 || a.problem() != "job-terminal" {
		t.Errorf("a job that has ended: %d requests, then %d %s", n, a.status, a.body)
	}
}
