package service_test

import (
	"net"
	"strings"
	"testing"
)

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
		{"password on the command line", []string{"--pg-url", secret}, nil, 64, "DATABASE_URL"},
		{"password among keywords", []string{"--pg-url", "host=db dbname=jobs password = hunter2"}, nil, 64, "DATABASE_URL"},
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
