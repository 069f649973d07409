package httpapi_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
)

func TestEveryWrongCredentialGetsTheSameAnswer(t *testing.T) { // D01, D02, D03
	f := shared(t)
	o := f.owner(t)
	revoked := f.owner(t)
	f.revoke(t, revoked.key)
	other := serve(t).owner(t)
	jwt := "eyJhbGciOiJub25lIn0.eyJzdWIiOiJvLTEifQ."
	var first answer
	for i, tc := range []struct{ name, target, line string }{
		{"absent", "/v1/jobs", ""},
		{"unknown", "/v1/jobs", "Authorization: Bearer nobody"},
		{"revoked", "/v1/jobs", "Authorization: Bearer " + revoked.key},
		{"one byte changed", "/v1/jobs", "Authorization: Bearer " + o.key + "x"},
		{"JWT without a signature", "/v1/jobs", "Authorization: Bearer " + jwt},
		{"another deployment's", "/v1/jobs", "Authorization: Bearer deployed-elsewhere-" + other.key},
		{"10 KiB", "/v1/jobs", "Authorization: Bearer " + strings.Repeat("a", 10<<10)},
		{"another scheme", "/v1/jobs", "Authorization: Basic " + o.key},
		{"no scheme", "/v1/jobs", "Authorization: " + o.key},
		{"twice", "/v1/jobs", "Authorization: Bearer " + o.key + "\r\nAuthorization: Bearer " + o.key},
		{"as its hash", "/v1/jobs", fmt.Sprintf("Authorization: Bearer %x", sha256.Sum256([]byte(o.key)))},
		{"in the query", "/v1/jobs?access_token=" + o.key, "X-Nothing: 1"},
		{"in a cookie", "/v1/jobs", "Cookie: key=" + o.key},
	} {
		lines := []string{tc.line}
		if tc.line == "" {
			lines = nil
		}
		a := f.call(t, request("GET", tc.target, "", "", lines...))
		if a.status != http.StatusUnauthorized || a.problem() != "unauthorized" || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d %s", tc.name, a.status, a.body)
		}
		if i == 0 {
			first = a
		}
		if string(a.body) != string(first.body) {
			t.Errorf("%s: the body tells why: %s", tc.name, a.body)
		}
	}
	if logs := f.logs.String(); strings.Contains(logs, o.key) || strings.Contains(logs, jwt) {
		t.Error("a credential is in the log")
	}
}

func TestRevokedKeyStopsWorking(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	read := func() int { return f.call(t, request("GET", "/v1/jobs", o.key, "")).status }
	if read() != 200 {
		t.Fatal("a new key does not work")
	}
	f.revoke(t, o.key)
	eventually(t, "the revoked key is refused", func() bool { return read() == 401 })
}

func TestOperatorVerbsTakeTheOperatorsRole(t *testing.T) { // D06
	f := shared(t)
	o := f.owner(t)
	id := f.submit(t, o, "d06", "d06")
	f.bring(t, id, "unknown")
	ask := func(key, method, target, body string) answer {
		return f.call(t, request(method, target, key, body, "Content-Type: application/json"))
	}
	for _, tc := range []struct{ method, target, body string }{
		{"POST", "/v1/jobs/" + id + "/attempts/1/resolve", `{"reason":"r","outcome":"failed","evidence":"e"}`},
		{"POST", "/v1/jobs/" + id + "/attempts/1/release", `{"reason":"r"}`},
		{"POST", "/v1/jobs/" + id + "/attempts/1/cancel", `{"reason":"r"}`},
		{"PUT", "/v1/certificates", `{"payload":"x"}`},
	} {
		if a := ask(o.key, tc.method, tc.target, tc.body); a.status != 403 || a.problem() != "role-required" {
			t.Errorf("%s %s as owner: %d %s", tc.method, tc.target, a.status, a.body)
		}
	}
	if n := sql[string](t, f, "SELECT state FROM attempts WHERE job_id = $1", id); n != "unknown" {
		t.Fatalf("the attempt is %s", n)
	}
	foreign := f.owner(t) // operators reach the jobs of all owners
	if a := ask(foreign.operator, "POST", "/v1/jobs/"+id+"/attempts/1/release", `{"reason":"the provider is silent"}`); a.status != 200 || a.field(t, "state") != "released" {
		t.Errorf("an operator's release gives %d %s", a.status, a.body)
	}
	if got := sql[string](t, f, "SELECT actor FROM attempt_events WHERE job_id = $1 AND to_state = 'released'", id); got != "operator:"+string(foreign.name) {
		t.Errorf("the audit names %q", got)
	}
}

func TestQueriesAreReadStrictly(t *testing.T) { // D07, D08
	f := shared(t)
	a, b := f.owner(t), f.owner(t)
	f.submit(t, b, "d07", "d07")
	id := f.submit(t, a, "d07", "d07")
	for target, want := range map[string]string{
		"/v1/jobs?owner=" + string(b.name):                     "query-invalid",
		"/v1/jobs?limit=0":                                     "query-invalid",
		"/v1/jobs?limit=-1":                                    "query-invalid",
		"/v1/jobs?limit=1e9":                                   "query-invalid",
		"/v1/jobs?limit=10;":                                   "query-invalid",
		"/v1/jobs?limit=10%3B":                                 "query-invalid",
		"/v1/jobs?limit=1000000000":                            "query-invalid",
		"/v1/jobs?limit=01":                                    "query-invalid",
		"/v1/jobs?limit=":                                      "query-invalid",
		"/v1/jobs?limit=1&limit=2":                             "query-invalid",
		"/v1/jobs?status=done":                                 "query-invalid",
		"/v1/jobs?key=%00":                                     "query-invalid",
		"/v1/jobs?key=d07&limit=1":                             "query-invalid",
		"/v1/jobs?after=%zz":                                   "query-invalid",
		"/v1/jobs?after=0190a000-0000-7000-8000-000000000000":  "cursor-invalid",
		"/v1/jobs/" + id + "?a=1":                              "query-invalid",
		"/v1/races?after=0":                                    "cursor-invalid",
		"/v1/races?after=-1":                                   "cursor-invalid",
		"/v1/races?job=x":                                      "id-invalid",
		"/v1/failover?from=q&to=openai-demo":                   "query-invalid",
		"/v1/failover?from=q&to=openai-demo&contract=x&owner=": "query-invalid",
	} {
		if got := f.call(t, request("GET", target, a.key, "")); got.status != 400 || got.problem() != want {
			t.Errorf("%s: %d %s, want 400 %s", target, got.status, got.body, want)
		}
	}
}

func TestPagesFollowEachOther(t *testing.T) { // D09
	f := shared(t)
	a, b := f.owner(t), f.owner(t)
	var ids []string
	for i := range 7 {
		ids = append([]string{f.submit(t, a, fmt.Sprint("k", i), "x")}, ids...)
	}
	f.submit(t, b, "k", "x")
	var seen []string
	cursor := ""
	for page := 0; ; page++ {
		got := f.call(t, request("GET", "/v1/jobs?limit=3"+cursor, a.key, ""))
		validate(t, "JobList", got.body)
		var list struct {
			Jobs []struct{ ID string }
			Next string
		}
		decode(t, got.body, &list)
		for _, j := range list.Jobs {
			seen = append(seen, j.ID)
		}
		if list.Next == "" {
			break
		}
		cursor = "&after=" + list.Next
		if page == 0 { // jobs that come in between do not move the pages
			f.submit(t, a, "new", "x")
			if other := f.call(t, request("GET", "/v1/jobs?limit=3"+cursor, b.key, "")); other.status != 400 || other.problem() != "cursor-invalid" {
				t.Errorf("b uses a's cursor: %d %s", other.status, other.body)
			}
			if other := f.call(t, request("GET", "/v1/jobs?limit=3&status=starting"+cursor, a.key, "")); other.problem() != "cursor-invalid" {
				t.Errorf("another filter uses the cursor: %d %s", other.status, other.body)
			}
			last := cursor[len(cursor)-1]
			changed := cursor[:len(cursor)-1] + string(rune(last^1))
			if other := f.call(t, request("GET", "/v1/jobs?limit=3"+changed, a.key, "")); other.problem() != "cursor-invalid" {
				t.Errorf("a changed cursor: %d %s", other.status, other.body)
			}
		}
	}
	if fmt.Sprint(seen) != fmt.Sprint(ids) {
		t.Errorf("the pages hold %v, want %v", seen, ids)
	}
	f.bring(t, ids[0], "succeeded")
	got := f.call(t, request("GET", "/v1/jobs?status=succeeded", a.key, ""))
	var list struct{ Jobs []struct{ ID string } }
	decode(t, got.body, &list)
	if len(list.Jobs) != 1 || list.Jobs[0].ID != ids[0] {
		t.Errorf("status=succeeded lists %s", got.body)
	}
	if strings.Contains(string(got.body), "result") || !strings.Contains(string(got.body), `"contract":"triage@1.0.0","provider":"openai-demo"`) {
		t.Errorf("a list shows a result, or lacks what it should show: %s", got.body)
	}
	byKey := f.call(t, request("GET", "/v1/jobs?key=k6", a.key, ""))
	validate(t, "JobList", byKey.body)
	if !strings.Contains(string(byKey.body), `"result":{"label":"done"}`) {
		t.Errorf("the job of a key lacks its result: %s", byKey.body)
	}
}

func TestAttemptOfAnotherJobIsNotThere(t *testing.T) { // D16, D17
	f := shared(t)
	o := f.owner(t)
	id := f.submit(t, o, "d16", "d16")
	body := `{"reason":"r","outcome":"failed","evidence":"e"}`
	for n, want := range map[string]int{"2": 404, "0": 400, "-1": 400, "1.0": 400, "01": 400, "9223372036854775808": 400, "2147483648": 400, "+1": 400, "x": 400} {
		a := f.call(t, request("POST", "/v1/jobs/"+id+"/attempts/"+n+"/resolve", o.operator, body, "Content-Type: application/json"))
		if a.status != want {
			t.Errorf("attempt %s: %d %s, want %d", n, a.status, a.body, want)
		}
	}
}

func TestResultOfAResolutionIsJudged(t *testing.T) { // D15
	f := shared(t)
	o := f.owner(t)
	id := f.submit(t, o, "d15", "d15")
	f.bring(t, id, "unknown")
	resolve := func(body string) answer {
		return f.call(t, request("POST", "/v1/jobs/"+id+"/attempts/1/resolve", o.operator, body, "Content-Type: application/json"))
	}
	for body, want := range map[string]string{
		`{"reason":"r","outcome":"succeeded","evidence":"e","result":{"label":1}}`:                      "result-invalid",
		`{"reason":"r","outcome":"succeeded","evidence":"e","result":{"label":"a","more":1}}`:           "result-invalid",
		`{"reason":"r","outcome":"succeeded","evidence":"e"}`:                                           "params-invalid",
		`{"reason":"r","outcome":"failed","evidence":"e","result":{"label":"a"}}`:                       "params-invalid",
		`{"reason":"r","outcome":"done","evidence":"e"}`:                                                "params-invalid",
		`{"reason":"r","outcome":"failed"}`:                                                             "params-invalid",
		`{"outcome":"failed","evidence":"e"}`:                                                           "params-invalid",
		`{"reason":"r","outcome":"failed","evidence":"e","state":"succeeded"}`:                          "params-invalid",
		`{"reason":"` + strings.Repeat("r", 2001) + `","outcome":"failed","evidence":"e"}`:              "params-invalid",
		`{"reason":"r","reason":"r","outcome":"succeeded","evidence":"e","result":{"label":"a"}}`:       "body-not-strict-json",
		`{"reason":"r","outcome":"succeeded","evidence":"e","result":{"label":"a"},"result":{"x":"a"}}`: "body-not-strict-json",
	} {
		if a := resolve(body); a.problem() != want {
			t.Errorf("%s: %d %s, want %s", body, a.status, a.body, want)
		}
	}
	good := resolve(`{"reason":"the provider's console shows it","outcome":"succeeded","evidence":"console","result":{"label":"spam"}}`)
	if good.status != 200 || good.field(t, "state") != "succeeded" {
		t.Fatalf("%d %s", good.status, good.body)
	}
	validate(t, "Attempt", good.body)
	j := f.call(t, request("GET", "/v1/jobs/"+id, o.key, ""))
	if j.field(t, "status") != "succeeded" || j.field(t, "result") != "map[label:spam]" {
		t.Errorf("the job is %s", j.body)
	}
	if a := resolve(`{"reason":"r","outcome":"failed","evidence":"e"}`); a.status != 409 || a.problem() != "not-unknown" {
		t.Errorf("again: %d %s", a.status, a.body)
	}
}

func TestForeignTraceAndRequestIDsAreReplaced(t *testing.T) { // D18
	f := shared(t)
	o := f.owner(t)
	ask := func(lines ...string) answer { return f.call(t, request("GET", "/v1/jobs", o.key, "", lines...)) }
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	valid := ask("Traceparent: 00-" + trace + "-00f067aa0ba902b7-01").header.Get("Traceparent")
	if !strings.HasPrefix(valid, "00-"+trace+"-") || !strings.HasSuffix(valid, "-01") || strings.Contains(valid, "00f067aa0ba902b7") {
		t.Errorf("a valid trace goes on as %s", valid)
	}
	for _, bad := range []string{"00-" + trace + "-00f067aa0ba902b7", "00-" + strings.ToUpper(trace) + "-00f067aa0ba902b7-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"ff-" + trace + "-00f067aa0ba902b7-01", "x", "00-" + trace + "-00f067aa0ba902b7-01\r\nTraceparent: 00-" + trace + "-00f067aa0ba902b7-01"} {
		if got := ask("Traceparent: " + bad).header.Get("Traceparent"); strings.Contains(got, trace) || len(got) != 55 {
			t.Errorf("%q goes on as %s", bad, got)
		}
	}
	for _, bad := range []string{strings.Repeat("r", 10<<10), `a\r\nlevel=ERROR`, "a%0d%0ab", "{\"x\":1}"} {
		a := ask("X-Request-Id: " + bad)
		if _, err := uuid.Parse(a.header.Get("X-Request-Id")); err != nil {
			t.Errorf("%.20s is answered as %q", bad, a.header.Get("X-Request-Id"))
		}
		if strings.Contains(f.logs.String(), bad) {
			t.Errorf("%.20s is in the log", bad)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(f.logs.String()), "\n") {
		if line != "" && !strings.HasPrefix(line, `{"time"`) {
			t.Errorf("a log line of its own: %s", line)
		}
	}
}

func TestOneOwnersFloodIsNobodyElses(t *testing.T) { // D19
	f := serve(t, withLimits(func(l *httpapi.Limits) { l.Rate, l.Burst = 1, 5 }))
	flood, calm := f.owner(t), f.owner(t)
	refused := 0
	for i := range 20 {
		a := f.call(t, post(flood, goodBody("x"), fmt.Sprint("Idempotency-Key: flood-", i)))
		switch {
		case a.status == 429:
			refused++
			if a.problem() != "rate-limited" || a.header.Get("Retry-After") == "" {
				t.Errorf("%v %s", a.header, a.body)
			}
		case a.status != 201:
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if refused < 10 || f.jobs(t, flood) != 20-refused {
		t.Errorf("%d of 20 were refused, %d jobs", refused, f.jobs(t, flood))
	}
	for i := range 5 {
		if a := f.call(t, post(calm, goodBody("x"), fmt.Sprint("Idempotency-Key: calm-", i))); a.status != 201 {
			t.Errorf("the calm owner gets %d", a.status)
		}
	}
}

func TestAnOwnerCannotBeNamedLikeAll(t *testing.T) {
	f := shared(t)
	err := f.store.PutCredentials(t.Context(), []job.Credential{{Owner: job.AnyOwner, Role: job.RoleOwner, SHA256: [32]byte{1}}})
	if err == nil {
		t.Fatal("an owner called * reaches everybody's jobs")
	}
}
