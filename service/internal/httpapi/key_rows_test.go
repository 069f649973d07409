package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// keyed is a good submit whose key lines the row brings itself.
func keyed(lines ...string) string { return post(owner{key: "KEY"}, goodBody("key"), lines...) }

func keyRows() []row {
	long := strings.Repeat("k", 255)
	const bad, none = "400 idempotency-key-invalid", "400 idempotency-key-missing"
	line := func(v string) string { return keyed("Idempotency-Key: " + v) }
	return []row{
		{id: "B01", name: "absent", raw: keyed(), want: []string{none}},
		{id: "B02", name: "empty", raw: line(""), want: []string{bad}},
		{id: "B02", name: "blanks", raw: line("   "), want: []string{bad}},
		{id: "B03", name: "empty quoted", raw: line(`""`), want: []string{bad}},
		{id: "B04", name: "255 bytes", raw: line(long), want: []string{"201"}, jobs: 1},
		{id: "B04", name: "256 bytes", raw: line(long + "k"), want: []string{bad}, key: long},
		{id: "B05", name: "two lines", raw: keyed("Idempotency-Key: a", "Idempotency-Key: b"), want: []string{bad}, key: "a"},
		{id: "B05", name: "two equal lines", raw: keyed("Idempotency-Key: a", "Idempotency-Key: a"), want: []string{bad}, key: "a"},
		{id: "B06", name: "bare comma", raw: line("a, b"), want: []string{bad}, key: "a"},
		{id: "B07", name: "quoted comma", raw: line(`"a, b"`), want: []string{"201"}, jobs: 1},
		{id: "B09", name: "escaped quote", raw: line(`"a\"b"`), want: []string{"201"}, jobs: 1},
		{id: "B09", name: "escaped backslash", raw: line(`"a\\b"`), want: []string{"201"}, jobs: 1},
		{id: "B10", name: "no closing quote", raw: line(`"abc`), want: []string{bad}, key: "abc"},
		{id: "B10", name: "no opening quote", raw: line(`abc"`), want: []string{bad}, key: "abc"},
		{id: "B11", name: "parameter", raw: line(`"a"; v=1`), want: []string{bad}, key: "a"},
		{id: "B12", name: "tab", raw: line("a\tb"), want: []string{bad}},
		{id: "B12", name: "DEL", raw: line("a\x7fb"), want: []string{"400 request-malformed"}, closed: true},
		{id: "B13", name: "byte 0x80", raw: line("\x80"), want: []string{bad}},
		{id: "B13", name: "UTF-8", raw: line("schlüssel"), want: []string{bad}},
		{id: "B15", name: "blanks after it", raw: line("abc   ") + line("abc"), want: []string{"201", "200"}, jobs: 1},
		{id: "B16", name: "underscore", raw: keyed("Idempotency_Key: a"), want: []string{none}, key: "a"},
		{id: "B17", name: "X- prefix", raw: keyed("X-Idempotency-Key: a"), want: []string{none}, key: "a"},
		{id: "B18", name: "in the query", raw: strings.Replace(keyed(), "/v1/jobs", "/v1/jobs?idempotency_key=a", 1), want: []string{"400 query-invalid"}, key: "a"},
		{id: "B18", name: "in the body", want: []string{none}, key: "a",
			raw: post(owner{key: "KEY"}, strings.Replace(goodBody("key"), `{"intent"`, `{"idempotency_key":"a","intent"`, 1))},
		{id: "B23", name: "climbing", raw: line("../../x"), want: []string{"201"}, jobs: 1},
		{id: "B23", name: "SQL", raw: line(`"'; DROP TABLE jobs;--"`), want: []string{"201"}, jobs: 1},
		{id: "B23", name: "SQL unquoted", raw: line(`'; DROP TABLE jobs;--`), want: []string{bad}},
		{id: "B23", name: "escaped NUL", raw: line("%00"), want: []string{"201"}, jobs: 1},
		{id: "B23", name: "lookup", raw: line("${jndi:x}"), want: []string{"201"}, jobs: 1},
		{id: "B23", name: "markup", raw: line("<script>"), want: []string{"201"}, jobs: 1},
	}
}

func TestKeyRowsAreAnsweredAsListed(t *testing.T) {
	f := shared(t)
	for _, r := range keyRows() {
		t.Run(r.id+" "+r.name, func(t *testing.T) { r.run(t, f) })
	}
}

func TestKeyIsStoredAsItIs(t *testing.T) {
	f := shared(t)
	for header, want := range map[string]string{
		`"a, b"`: "a, b", `"a\"b"`: `a"b`, `"a\\b"`: `a\b`, "../../x": "../../x", `"'; DROP TABLE jobs;--"`: "'; DROP TABLE jobs;--",
		"%00": "%00", "${jndi:x}": "${jndi:x}", "<script>": "<script>",
	} {
		o := f.owner(t)
		a := f.call(t, post(o, goodBody("k"), "Idempotency-Key: "+header))
		if a.header.Get("Idempotency-Key") != header {
			t.Errorf("%s is echoed as %s", header, a.header.Get("Idempotency-Key"))
		}
		if got := sql[string](t, f, "SELECT key FROM jobs WHERE owner = $1", o.name); got != want {
			t.Errorf("%s is stored as %q, want %q", header, got, want)
		}
		if a.field(t, "key") != want {
			t.Errorf("%s is answered as %q, want %q", header, a.field(t, "key"), want)
		}
		if strings.Contains(string(a.body), "<script>") {
			t.Errorf("markup stands unescaped in %s", a.body)
		}
	}
}

func TestKeyBareAndQuotedIsOneKey(t *testing.T) { // B08
	f := shared(t)
	o := f.owner(t)
	first := f.call(t, post(o, goodBody("b08"), "Idempotency-Key: abc"))
	again := f.call(t, post(o, goodBody("b08"), `Idempotency-Key: "abc"`))
	if first.status != 201 || again.status != 200 || first.field(t, "id") != again.field(t, "id") {
		t.Fatalf("%d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	if again.header.Get("Idempotency-Replayed") != "true" || first.header.Get("Idempotency-Replayed") != "" {
		t.Error("Idempotency-Replayed is on the wrong answer")
	}
}

func TestANewJobSaysWhereItIs(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	submit := func() answer { return f.call(t, post(o, goodBody("where"), "Idempotency-Key: where")) }
	first := submit()
	read := f.call(t, request("GET", first.header.Get("Location"), o.key, ""))
	if first.status != 201 || read.status != 200 || string(read.body) != string(first.body) {
		t.Fatalf("%d at %q, where there is %d %s", first.status, first.header.Get("Location"), read.status, read.body)
	}
	again := submit()
	for name, a := range map[string]answer{"new": first, "replayed": again} {
		h := a.header
		if h.Get("ETag") != read.header.Get("ETag") || h.Get("ETag") == "" || h.Get("X-Job-Id") != first.field(t, "id") || h.Get("Idempotency-Key") != "where" ||
			h.Get("Location") != "/v1/jobs/"+first.field(t, "id") {
			t.Errorf("%s: %v", name, h)
		}
	}
	if again.status != 200 || string(again.body) != string(first.body) {
		t.Errorf("replayed: %d %s, the first was %s", again.status, again.body, first.body)
	}
}

func TestKeyCaseMakesTwoJobs(t *testing.T) { // B14
	f := shared(t)
	o := f.owner(t)
	if f.submit(t, o, "abc", "b14") == f.submit(t, o, "ABC", "b14") {
		t.Fatal("abc and ABC are one job")
	}
}

func TestSameKeyOfTwoOwnersIsTwoJobs(t *testing.T) { // B19
	f := shared(t)
	a, b := f.owner(t), f.owner(t)
	first := f.call(t, post(a, goodBody("canary of a"), "Idempotency-Key: shared"))
	second := f.call(t, post(b, goodBody("canary of a"), "Idempotency-Key: shared"))
	other := f.call(t, post(b, goodBody("other"), "Idempotency-Key: unshared"))
	if first.status != 201 || second.status != 201 || first.field(t, "id") == second.field(t, "id") {
		t.Fatalf("%d and %d", first.status, second.status)
	}
	if second.header.Get("Idempotency-Replayed") != "" || len(second.header) != len(other.header) {
		t.Errorf("the answer to b tells of a's key: %v", second.header)
	}
	if len(second.body) != len(other.body)-len("un") {
		t.Errorf("the body to b differs in kind: %s", second.body)
	}
}

func TestTriggerKeyHasItsOwnScope(t *testing.T) { // B20
	f := shared(t)
	o := f.owner(t)
	id := f.submit(t, o, "k", "b20")
	f.fail(t, id)
	start := func(body string) answer {
		return f.call(t, request("POST", "/v1/jobs/"+id+"/attempts", o.key, body, "Content-Type: application/json", "Idempotency-Key: k"))
	}
	first := start(`{}`)
	if first.status != http.StatusAccepted || first.header.Get("X-Attempt-Id") == "" {
		t.Fatalf("the submit's key does not start an attempt: %d %s", first.status, first.body)
	}
	again := start(` { } `)
	if again.status != http.StatusAccepted || again.field(t, "id") != first.field(t, "id") || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same click gives %d %s", again.status, again.body)
	}
	other := start(`{"provider":"q"}`)
	if other.status != 409 || other.problem() != "idempotency-key-reused" || other.header.Get("X-Should-Retry") != "false" {
		t.Errorf("the same click with another body gives %d %s", other.status, other.body)
	}
	second := f.submit(t, o, "k2", "b20 too")
	f.fail(t, second)
	elsewhere := f.call(t, request("POST", "/v1/jobs/"+second+"/attempts", o.key, `{}`, "Content-Type: application/json", "Idempotency-Key: k"))
	if elsewhere.status != http.StatusAccepted || elsewhere.field(t, "id") == first.field(t, "id") {
		t.Errorf("the key on another job gives %d %s", elsewhere.status, elsewhere.body)
	}
}

func TestReusedKeyIsAConflictInEveryState(t *testing.T) { // B21
	f := shared(t)
	o := f.owner(t)
	for _, state := range []job.State{"starting", "running", "unknown", "failed", "succeeded", "cancelled"} {
		key := "b21-" + string(state)
		id := f.submit(t, o, key, "b21")
		f.bring(t, id, state)
		a := f.call(t, post(o, goodBody("another"), "Idempotency-Key: "+key))
		if a.status != 409 || a.problem() != "idempotency-key-reused" || a.header.Get("X-Should-Retry") != "false" || a.header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %v %s", state, a.status, a.header, a.body)
		}
		if a.field(t, "job_id") != id {
			t.Errorf("%s: the conflict names %s, not %s", state, a.field(t, "job_id"), id)
		}
		same := f.call(t, post(o, goodBody("b21"), "Idempotency-Key: "+key))
		if same.status != 200 || same.field(t, "id") != id || same.field(t, "status") != string(state) {
			t.Errorf("%s: the same input gives %d %s", state, same.status, same.body)
		}
	}
}

func TestPurgedKeyIsGone(t *testing.T) { // B22
	f := serve(t)
	o := f.owner(t)
	id := f.submit(t, o, "b22", "b22")
	f.bring(t, id, "succeeded")
	if n, err := f.store.Purge(t.Context(), 0, 10); err != nil || n != 1 {
		t.Fatalf("purged %d, %v", n, err)
	}
	for name, a := range map[string]answer{
		"same input":  f.call(t, post(o, goodBody("b22"), "Idempotency-Key: b22")),
		"by its key":  f.call(t, request("GET", "/v1/jobs?key=b22", o.key, "")),
		"by its id":   f.call(t, request("GET", "/v1/jobs/"+id, o.key, "")),
		"its events":  f.call(t, request("GET", "/v1/jobs/"+id+"/events", o.key, "")),
		"bad input":   f.call(t, post(o, `{"intent":{}}`, "Idempotency-Key: b22")),
		"its resumed": f.call(t, request("GET", "/v1/jobs/"+id+"/events", o.key, "", "Accept: text/event-stream", "Last-Event-ID: 1")), // D13
	} {
		if a.status != http.StatusGone || a.problem() != "job-purged" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if n := f.jobs(t, o); n != 1 {
		t.Errorf("%d rows, want the tombstone", n)
	}
}

func TestSixtyFourClicksWithTwoInputsMakeOneJob(t *testing.T) { // B25
	f := shared(t)
	for round := range 3 {
		o := f.owner(t)
		answers := make([]answer, 64)
		var ready, done sync.WaitGroup
		begin := make(chan struct{})
		for i := range answers {
			ready.Add(1)
			done.Add(1)
			go func() {
				defer done.Done()
				raw := post(o, goodBody(fmt.Sprint("input ", i%2)), "Idempotency-Key: b25")
				ready.Done()
				<-begin
				answers[i] = f.call(t, raw)
			}()
		}
		ready.Wait()
		close(begin)
		done.Wait()
		count := map[string]int{}
		for i, a := range answers {
			count[fmt.Sprintf("%d of %d", a.status, i%2)]++
		}
		winner := 0
		if count["201 of 1"] == 1 {
			winner = 1
		}
		want := map[string]int{fmt.Sprintf("201 of %d", winner): 1, fmt.Sprintf("200 of %d", winner): 31, fmt.Sprintf("409 of %d", 1-winner): 32}
		if fmt.Sprint(count) != fmt.Sprint(want) {
			t.Errorf("round %d: %v, want %v", round, count, want)
		}
		if n := f.jobs(t, o); n != 1 {
			t.Errorf("round %d: %d jobs", round, n)
		}
	}
}

// fail ends the job's open attempt as a definite failure, as a worker would.
func (f *fixture) fail(t testing.TB, id string) { t.Helper(); f.bring(t, id, "failed") }

// bring moves the job's newest attempt, which is starting, to state, by the same
// statements as a worker or an operator.
func (f *fixture) bring(t testing.TB, id string, state job.State) {
	t.Helper()
	if state == "starting" {
		return
	}
	if state == "cancelled" {
		if _, err := f.store.CancelJob(t.Context(), job.Move{Owner: job.AnyOwner, Job: job.ID(id), Actor: "test", Reason: "test"}); err != nil {
			t.Fatal(err)
		}
		return
	}
	by := f.claim(t, id)
	var err error
	switch state {
	case "running":
	case "unknown":
		_, err = f.store.MarkUnknown(t.Context(), by)
	case "failed":
		by.Failure = job.Failure{Class: job.ClassRefused}
		err = f.store.Fail(t.Context(), by)
	case "succeeded":
		err = f.store.Complete(t.Context(), by, []byte(`{"label":"done"}`))
	default:
		t.Fatalf("nobody brings an attempt to %s", state)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// claim takes the job's attempt as a worker; others that wait are taken too.
func (f *fixture) claim(t testing.TB, id string) job.Settlement {
	t.Helper()
	deadline := time.Now().Add(toAnswer)
	for time.Now().Before(deadline) {
		claimed, err := f.store.Claim(t.Context(), "test", time.Hour, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range claimed {
			if c.Job.ID == job.ID(id) {
				return job.Settlement{Job: c.Job.ID, Attempt: c.Attempt.ID, Fence: c.Attempt.Fence, Version: c.Job.Version, Actor: "test", Reason: "test"}
			}
		}
	}
	t.Fatalf("no attempt of job %s can be claimed", id)
	return job.Settlement{}
}

// complete stores a result for the claimed attempt of a job that never moved.
func (f *fixture) complete(t testing.TB, id string, fence int64) {
	t.Helper()
	attempt := sql[string](t, f, "SELECT id::text FROM attempts WHERE job_id = $1 AND fence = $2", id, fence)
	by := job.Settlement{Job: job.ID(id), Attempt: job.AttemptID(attempt), Fence: fence, Version: 1, Actor: "test", Reason: "ok"}
	if err := f.store.Complete(t.Context(), by, []byte(`{"label":"done"}`)); err != nil {
		t.Fatal(err)
	}
}
