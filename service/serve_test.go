package service_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

func TestServeTakesAJobToItsResult(t *testing.T) {
	s := newSetting(t)
	c := s.start(t)
	status, header, body := c.ask("POST", "/v1/jobs", ownerKey, intent("The printer is out of paper."), "Idempotency-Key", "k-1", "Prefer", "wait=10")
	if status != 200 || field(t, body, "status") != "succeeded" || field(t, body, "contract") != "triage@1.0.0" {
		t.Fatalf("%d %s; %s", status, body, c.stderr)
	}
	calls := s.provider.Ledger()
	if len(calls) != 1 || calls[0].Header.Get("X-Job-Id") != field(t, body, "id") || calls[0].Header.Get("X-Attempt-Id") != field(t, body, "completed_by") {
		t.Errorf("the provider got %d calls: %+v", len(calls), calls)
	}
	if calls[0].Header.Get("Idempotency-Key") != "" {
		t.Error("the provider got Idempotency-Key, on which Go's transport would send again")
	}
	if header.Get("X-Job-Id") != field(t, body, "id") {
		t.Errorf("%v", header)
	}
	again, _, same := c.ask("POST", "/v1/jobs", ownerKey, intent("The printer is out of paper."), "Idempotency-Key", "k-1")
	if again != 200 || field(t, same, "id") != field(t, body, "id") || len(s.provider.Ledger()) != 1 {
		t.Errorf("again: %d %s, %d calls", again, same, len(s.provider.Ledger()))
	}
	if bad, _, why := c.ask("POST", "/v1/jobs", ownerKey, strings.Replace(intent("x"), `"text"`, `"txt"`, 1), "Idempotency-Key", "k-2"); bad != 422 {
		t.Errorf("an input that breaks the contract: %d %s", bad, why)
	}
	spelt := strings.Replace(intent("spelt"), `"input"`, `"params":{"max_output_tokens":3e2,"seed":1.0,"temperature":0,"stream":true},"input"`, 1)
	if status, _, body := c.ask("POST", "/v1/jobs", ownerKey, spelt, "Idempotency-Key", "k-3", "Prefer", "wait=10"); field(t, body, "status") != "succeeded" {
		t.Errorf("numbers in other spellings: %d %s; %s", status, body, c.stderr)
	}
	_, _, metrics := c.ask("GET", "/metrics", "", "")
	for _, want := range []string{
		`interlock_submits_total{outcome="new"} 2`, `interlock_submits_total{outcome="replayed"} 1`, `interlock_submits_total{outcome="params-invalid"} 1`,
		`interlock_attempts{state="running"} 0`, `interlock_attempts{state="unknown"} 0`, `interlock_unknown_oldest_age_seconds 0`,
		`interlock_attempt_duration_seconds_count{outcome=`, `interlock_build_info{`, `interlock_store_up 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s:\n%s", want, metrics)
		}
	}
	for name, text := range map[string]string{"log": c.stderr.String(), "metrics": metrics} {
		if strings.Contains(text, "secret-of-the-provider") || strings.Contains(text, ownerKey) {
			t.Errorf("a secret is in the %s", name)
		}
	}
	if code := c.stop(); code != 0 {
		t.Errorf("SIGTERM ends it with %d: %s", code, c.stderr)
	}
}

func TestWorkerAloneServesHealthOnly(t *testing.T) {
	s := newSetting(t)
	api := s.start(t, "--role", "api")
	worker := s.start(t, "--role", "worker")
	if status, _, _ := worker.ask("GET", "/livez", "", ""); status != 200 {
		t.Errorf("livez: %d", status)
	}
	status, _, body := worker.ask("GET", "/readyz", "", "")
	if status != 200 || !strings.Contains(body, "fsync is off") {
		t.Errorf("readyz: %d %s", status, body)
	}
	if status, _, body := worker.ask("GET", "/v1/jobs", ownerKey, ""); status != 404 {
		t.Errorf("a worker lists jobs: %d %s", status, body)
	}
	status, _, body = api.ask("POST", "/v1/jobs", ownerKey, intent("a"), "Idempotency-Key", "k", "Prefer", "wait=10")
	if status != 200 || field(t, body, "status") != "succeeded" {
		t.Errorf("%d %s", status, body)
	}
}

func TestTermLeavesWhatIsUnderWayUnknown(t *testing.T) {
	s := newSetting(t)
	c := s.start(t, "--shutdown-grace", "500ms")
	gate := s.provider.Hold(standin.Match{})
	waiting := make(chan string, 1)
	go func() {
		status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("held"), "Idempotency-Key", "k", "Prefer", "wait=60")
		waiting <- fmt.Sprintf("%d %s", status, body)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), toCome)
	defer cancel()
	if err := s.provider.Await(ctx, standin.Match{}, 1); err != nil {
		t.Fatal(err)
	}
	if code := c.stop(); code != 0 {
		t.Errorf("it ends with %d: %s", code, c.stderr)
	}
	if answer := <-waiting; !strings.HasPrefix(answer, "202 ") {
		t.Errorf("the waiting client gets %s", answer)
	}
	gate.Release()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var state string
	if err := conn.QueryRow(t.Context(), "SELECT state FROM attempts").Scan(&state); err != nil || state != "unknown" {
		t.Errorf("the attempt is %q, %v", state, err)
	}
}

// TestWorkOfAKilledWorkerIsAskedFor kills the only process while its provider
// works in the background; the next one finds the answer by the provider's id.
func TestWorkOfAKilledWorkerIsAskedFor(t *testing.T) {
	s := newSetting(t)
	provider, err := standin.Start(standin.Options{Protocol: providers.OpenAIResponses, Model: "m",
		Fallback: func(standin.Ask) string { return `{"queue":"technical","urgency":"low","summary":"No paper."}` }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Close() })
	s.write(t, "profiles/slow.yaml", "name: slow\nprotocol: openai-responses\nbase_url: "+provider.URL()+"\nmodel: m\nallow_loopback: true\nbackground: true\n")
	gate := provider.Hold(standin.Match{})
	quick := []string{"--lease", "1s", "--heartbeat", "200ms", "--ask", "50ms"}
	c := s.start(t, quick...)
	status, _, body := c.ask("POST", "/v1/jobs", ownerKey, strings.Replace(intent("x"), "openai-demo", "slow", 1), "Idempotency-Key", "k")
	if status != 201 {
		t.Fatal(status, body)
	}
	id := field(t, body, "id")
	until := func(c *child, what string, holds func() bool) {
		t.Helper()
		for begun := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > toCome {
				t.Fatalf("%s does not come: %s", what, c.stderr)
			}
		}
	}
	until(c, "a question about the work", func() bool { return provider.Questions(standin.Match{}) > 0 })
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.wait()
	c = s.start(t, quick...)
	read := func() string {
		_, _, body = c.ask("GET", "/v1/jobs/"+id, ownerKey, "")
		return field(t, body, "status")
	}
	until(c, "unknown", func() bool { return read() == "unknown" })
	gate.Release()
	until(c, "the result", func() bool { return read() == "succeeded" })
	if !strings.Contains(body, "No paper.") || len(provider.Ledger()) != 1 {
		t.Errorf("after %d requests: %s", len(provider.Ledger()), body)
	}
	if _, _, events := c.ask("GET", "/v1/jobs/"+id+"/events", ownerKey, ""); !strings.Contains(events, `"actor":"reconciler"`) || !strings.Contains(events, `"provider_status":"completed"`) {
		t.Errorf("the events hold no evidence: %s", events)
	}
}

func TestServeRefusesWhatItCannotRunWith(t *testing.T) { // D21, D22
	s := newSetting(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := dead.Addr().String()
	dead.Close()
	hash := strings.Repeat("ab", 32)
	file := func(name, text string) string { return s.write(t, name, text) }
	secret := "postgres://service:hunter2@" + nowhere + "/jobs?sslmode=disable"
	listen := []string{"--listen", "127.0.0.1:0"}
	for _, tc := range []struct {
		name string
		args []string
		env  []string
		code int
		says string
	}{
		{"unknown flag", []string{"--nope"}, s.env, 64, "-nope"},
		{"a word", []string{"now"}, s.env, 64, `"now"`},
		{"bad duration", []string{"--deadline", "soon"}, s.env, 64, "deadline"},
		{"bad role", []string{"--role", "boss"}, s.env, 64, "role"},
		{"no database", listen, nil, 64, "DATABASE_URL"},
		{"bad variable", listen, append(s.env, "INTERLOCK_LEASE=x"), 64, "INTERLOCK_LEASE"},
		{"heartbeat as long as the lease", []string{"--lease", "1s", "--heartbeat", "1s"}, s.env, 64, "--heartbeat"},
		{"key without certificate", []string{"--tls-key", "x"}, s.env, 64, "--tls-cert"},
		{"broken URL", listen, []string{"DATABASE_URL=postgres://u:hunter2@[::1/x"}, 64, "database URL"},
		{"nobody there", listen, []string{"DATABASE_URL=" + secret}, 3, "cannot reach database jobs at " + nowhere},
		{"no such database", listen, []string{"DATABASE_URL=" + strings.Replace(s.url, "?", "_none?", 1)}, 3, "refuses"},
		{"port in use", []string{"--listen", taken.Addr().String()}, s.env, 3, "in use"},
		{"no port", []string{"--listen", "localhost"}, s.env, 64, "HOST:PORT"},
		{"schema missing", listen, s.env, 3, "interlock migrate"},
		{"fsync off", append(listen, "--migrate"), s.env, 3, "fsync is off"},
		{"mutant unknown", append(listen, "--mutant", "nobody"), s.env, 64, "no mutant"},
		{"mutant on a real database", append(listen, "--migrate", "--mutant", "key-per-request"), s.env, 3, "throw-away"},
		{"no keys file", append(listen, "--keys", s.path("none")), s.env, 64, "--keys"},
		{"empty owner", append(listen, "--keys", file("k1", "# a\n owner "+hash+"\n")), s.env, 64, "k1:2:"},
		{"owner called *", append(listen, "--keys", file("k2", "* owner "+hash+"\n")), s.env, 64, "k2:1:"},
		{"one key, two owners", append(listen, "--keys", file("k3", "a owner "+hash+"\nb owner "+hash+"\n")), s.env, 64, "k3:2:"},
		{"no key at all", append(listen, "--keys", file("k0", "# nobody\n")), s.env, 64, "k0: it lists no key"},
		{"unknown role", append(listen, "--keys", file("k4", "a root "+hash+"\n")), s.env, 64, "k4:1:"},
		{"short hash", append(listen, "--keys", file("k5", "a owner abcd\n")), s.env, 64, "k5:1:"},
		{"a key instead of its hash", append(listen, "--keys", file("k6", "a owner ilk_plain\n")), s.env, 64, "k6:1:"},
		{"no profiles", append(listen, "--profiles", s.path("none")), s.env, 64, "--profiles"},
		{"no configuration", []string{"--config", s.path("none")}, s.env, 64, "--config"},
		{"unknown setting", []string{"--config", file("c1", "listen: 127.0.0.1:0\nlissten: x\n")}, s.env, 64, "c1:2:"},
		{"setting twice", []string{"--config", file("c2", "lease: 1m\nlease: 2m\n")}, s.env, 64, "c2"},
		{"mutant in the file", []string{"--config", file("c3", "mutant: key-per-request\n")}, s.env, 64, "c3:1:"},
		{"bad value in the file", []string{"--config", file("c4", "lease: 10 apples\n")}, s.env, 64, "c4:1:"},
		{"two documents", []string{"--config", file("c5", "lease: 1m\n---\nlease: 2m\n")}, s.env, 64, "c5"},
		{"an alias", []string{"--config", file("c6", "lease: &a 1m\nheartbeat: *a\n")}, s.env, 64, "c6"},
		{"not YAML", []string{"--config", file("c7", "a: [\n")}, s.env, 64, "c7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := run(t, tc.env, append([]string{"serve"}, tc.args...)...)
			if code != tc.code || !strings.Contains(stderr, tc.says) {
				t.Errorf("exit %d, want %d; it says %s, want %q in it", code, tc.code, stderr, tc.says)
			}
			if stdout != "" {
				t.Errorf("standard output has %q", stdout)
			}
			said := strings.Split(strings.TrimSpace(stderr), "\n")
			if last := said[len(said)-1]; !strings.HasPrefix(last, "interlock serve: ") || len(said) > 3 {
				t.Errorf("not one sentence: %s", stderr)
			}
			for _, secret := range []string{"hunter2", "ilk_plain", hash, "goroutine "} {
				if strings.Contains(stderr, secret) {
					t.Errorf("it tells %s: %s", secret, stderr)
				}
			}
		})
	}
}

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

func TestFlagBeatsVariableBeatsFile(t *testing.T) {
	s := newSetting(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	inUse, free := taken.Addr().String(), "127.0.0.1:0"
	rest := []string{"--keys", s.path("keys"), "--allow-unsafe-database", "--migrate"}
	for _, tc := range []struct {
		name, file, variable, flag string
		starts                     bool
	}{
		{"the file alone", free, "", "", true},
		{"the file alone, in use", inUse, "", "", false},
		{"the variable beats the file", inUse, free, "", true},
		{"the variable, in use", free, inUse, "", false},
		{"the flag beats both", inUse, inUse, free, true},
		{"the flag, in use", free, free, inUse, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.write(t, "config.yaml", "# a comment\nlisten: "+tc.file+"\nrole: [api, worker]\n")
			env := append([]string{"INTERLOCK_CONFIG=" + s.path("config.yaml")}, s.env...)
			if tc.variable != "" {
				env = append(env, "INTERLOCK_LISTEN="+tc.variable)
			}
			args := rest
			if tc.flag != "" {
				args = append([]string{"--listen", tc.flag}, rest...)
			}
			if tc.starts {
				if code := start(t, env, args...).stop(); code != 0 {
					t.Errorf("it ends with %d", code)
				}
				return
			}
			if code, _, stderr := run(t, env, append([]string{"serve"}, args...)...); code != 3 || !strings.Contains(stderr, "in use") {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}

func TestMigrateCanBeRepeated(t *testing.T) {
	s := newSetting(t)
	for range 2 {
		code, stdout, stderr := run(t, s.env, "migrate")
		if code != 0 || stdout != "the schema is up to date\n" {
			t.Fatalf("exit %d: %s %s", code, stdout, stderr)
		}
	}
	if code, _, stderr := run(t, []string{"DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/x"}, "migrate"); code != 3 || strings.Contains(stderr, "hunter2") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, _ := run(t, s.env, "migrate", "--listen", "x"); code != 64 {
		t.Errorf("a flag of serve: exit %d", code)
	}
}

func TestADatabaseOfSomebodyElseIsLeftAlone(t *testing.T) {
	s := newSetting(t)
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	tables := func() (names string) {
		t.Helper()
		err := conn.QueryRow(t.Context(), "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace").Scan(&names)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE jobs (title text)")
	before := tables()
	for _, command := range [][]string{{"migrate"}, {"serve", "--listen", "127.0.0.1:0", "--migrate"}, {"serve", "--listen", "127.0.0.1:0"}} {
		code, _, stderr := run(t, s.env, command...)
		if code != 64 || !strings.Contains(stderr, "not the service's (jobs)") || tables() != before {
			t.Errorf("%v: exit %d, tables %s: %s", command, code, tables(), stderr)
		}
	}
	exec("DROP TABLE jobs")
	if code, _, stderr := run(t, s.env, "migrate"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)")
	for _, command := range [][]string{{"migrate"}, {"serve", "--listen", "127.0.0.1:0"}} {
		if code, _, stderr := run(t, s.env, command...); code != 3 || !strings.Contains(stderr, "it is at version 9000") {
			t.Errorf("%v on a newer schema: exit %d: %s", command, code, stderr)
		}
	}
}

func TestHelpNamesEveryFlagButTheHidden(t *testing.T) {
	for _, command := range []string{"serve", "migrate"} {
		code, stdout, stderr := run(t, nil, command, "--help")
		if code != 0 || stderr != "" || !strings.Contains(stdout, "--pg-url") || strings.Contains(stdout, "mutant") {
			t.Errorf("%s: exit %d\n%s%s", command, code, stdout, stderr)
		}
	}
	_, stdout, _ := run(t, nil, "serve", "--help")
	for _, flag := range []string{"listen", "role", "keys", "profiles", "contracts", "certificates", "trust", "deadline", "ask", "hard-limit", "lease", "heartbeat",
		"poll", "reap", "max-attempts", "concurrency", "shutdown-grace", "allow-unsafe-database", "migrate", "config"} {
		if !strings.Contains(stdout, "--"+flag) {
			t.Errorf("the help lacks --%s", flag)
		}
	}
}

func TestDatabaseThatGoesAwayIsSaidAndComesBack(t *testing.T) {
	s := newSetting(t)
	c := s.start(t)
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("after"), "Idempotency-Key", "k", "Prefer", "wait=10")
	if status != 200 {
		t.Errorf("%d %s; %s", status, body, c.stderr)
	}
}

func hashOf(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }

// TestProviderGetsAnIdentityOfItsOwnSize sends two keys that begin alike to a
// provider with an idempotency field: it gets the attempt's id, never the key. (B24)
func TestProviderGetsAnIdentityOfItsOwnSize(t *testing.T) {
	s := newSetting(t)
	profile, err := os.ReadFile(s.path("profiles/openai-demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "profiles/openai-demo.yaml", string(profile)+"idempotency_header: X-Client-Token\n")
	c := s.start(t)
	seen := map[string]bool{}
	for _, end := range []string{"a", "b"} {
		key := strings.Repeat("k", 253) + end
		status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("same"), "Idempotency-Key", key, "Prefer", "wait=10")
		if status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	for _, call := range s.provider.Ledger() {
		token := call.Header.Get("X-Client-Token")
		if token == "" || len(token) > 64 || strings.Contains(token, "kkk") || seen[token] {
			t.Errorf("the provider got %q", token)
		}
		seen[token] = true
	}
	if len(seen) != 2 {
		t.Errorf("%d calls", len(seen))
	}
}
