package cli_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// restartable is the reference service as somebody else would run it, with
// commands that start, stop and kill it.
type restartable struct {
	foreignService
	folder string
	listen string // where it finds its database: the relay's address
}

func newRestartable(t *testing.T) restartable {
	r := restartable{newForeignService(t, 200), t.TempDir(), freePort(t)}
	u, err := url.Parse(r.database)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = r.listen
	q := u.Query()
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	var env strings.Builder
	for _, v := range append(r.env, "DATABASE_URL="+u.String()) {
		fmt.Fprintf(&env, "export '%s'\n", v)
	}
	serve := fmt.Sprintf("'%s' --lease 400ms --heartbeat 100ms --shutdown-grace 400ms", strings.Join(r.serve, "' '"))
	pid := filepath.Join(r.folder, "pid")
	for name, text := range map[string]string{
		"foreground": env.String() + "echo $$ > " + pid + "\nexec " + serve,
		"background": env.String() + serve + " &\necho $! > " + pid,
		"stop":       "kill -TERM $(cat " + pid + ")",
		"kill":       "kill -KILL $(cat " + pid + ")",
		"refuses":    "echo no such unit; exit 5",
	} {
		write(t, filepath.Join(r.folder, name), text+"\n")
	}
	return r
}

// adapter writes an adapter with these commands.
func (r restartable) adapter(t *testing.T, more string, commands map[string][]string) string {
	t.Helper()
	text, err := json.Marshal(commands)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "adapter.yaml")
	write(t, file, "name: restartable\nready: /readyz\n"+more+"commands: "+string(text)+"\n")
	return file
}

// sh is a command that runs one of the scripts.
func (r restartable) sh(name string) []string { return []string{"sh", filepath.Join(r.folder, name)} }

func (r restartable) verify(t *testing.T, adapter string, args ...string) (int, string) {
	t.Helper()
	t.Setenv("INTERLOCK_TARGET_PG_URL", r.database)
	flags := []string{"verify", "--target", r.url, "--target-keys", r.keys, "--provider", strings.Join(r.providers, ","), "--adapter", adapter}
	if r.listen != "" {
		flags = append(flags, "--target-pg-listen", r.listen)
	}
	return interlock(t, append(flags, args...)...)
}

func TestVerifyEndsAServiceThatSomebodyElseRuns(t *testing.T) {
	r := newRestartable(t)
	gone := func(t *testing.T) {
		t.Helper()
		if conn, err := net.Dial("tcp", r.addr); err == nil {
			_ = conn.Close()
			t.Error("the target still listens")
		}
	}
	whole := map[string][]string{"start": r.sh("foreground"), "stop": r.sh("stop"), "kill": r.sh("kill")}
	t.Run("in each way that it can be ended from outside", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		code, said := r.verify(t, r.adapter(t, "", whole), "--out", out, "--label", "L3 || L4")
		if code != 0 || !strings.Contains(said, "7 pass, 0 violations, 0 inconclusive") || !strings.Contains(said, "level L3") ||
			!strings.Contains(said, "All faults fired in 6 of 6") || !strings.Contains(oneLine(said), "3 of them: L4 sets the clock") {
			t.Errorf("exit %d: %s", code, said)
		}
		log, err := os.ReadFile(filepath.Join(out, "logs", "target.log"))
		if err != nil || !strings.Contains(string(log), "--- command kill (sh)") || !strings.Contains(string(log), `"msg"`) {
			t.Errorf("the log of the commands is %q, %v", log, err)
		}
		history, err := os.ReadFile(filepath.Join(out, "history.jsonl"))
		if err != nil || !strings.Contains(string(history), "command kill (sh) ended with exit status 0, and nothing listens at "+r.addr) {
			t.Errorf("the history does not say how the target was killed (%v)", err)
		}
		gone(t)
	})
	t.Run("that its start command leaves running", func(t *testing.T) {
		commands := map[string][]string{"start": r.sh("background"), "stop": r.sh("stop"), "kill": r.sh("kill")}
		code, said := r.verify(t, r.adapter(t, "", commands), "crash-after-provider-call", "double-click")
		if code != 0 || !strings.Contains(said, "2 pass, 0 violations, 0 inconclusive") {
			t.Errorf("exit %d: %s", code, said)
		}
		gone(t)
	})
	t.Run("whose stop hangs", func(t *testing.T) {
		commands := map[string][]string{"start": r.sh("foreground"), "stop": {"sleep", "60"}, "kill": r.sh("kill")}
		code, said := r.verify(t, r.adapter(t, "command_timeout_ms: 2000\n", commands), "graceful-shutdown-mid-call")
		if code != 3 || !strings.Contains(oneLine(said), "command stop (sleep): it has not ended after 2s") {
			t.Errorf("exit %d: %s", code, said)
		}
		gone(t)
	})
	t.Run("whose kill does nothing", func(t *testing.T) {
		commands := map[string][]string{"start": r.sh("foreground"), "stop": r.sh("stop"), "kill": {"true"}}
		code, said := r.verify(t, r.adapter(t, "command_timeout_ms: 2000\n", commands), "crash-after-provider-call")
		if code != 3 || !strings.Contains(oneLine(said), "command kill (true): it ended with exit status 0, and the target still listens at "+r.addr) {
			t.Errorf("exit %d: %s", code, said)
		}
		gone(t)
	})
	t.Run("no deeper than it is asked to", func(t *testing.T) {
		code, said := r.verify(t, r.adapter(t, "", whole), "crash-after-provider-call", "--level", "L2")
		if code != 2 || !strings.Contains(said, "needs L3, and the target is seen at L2") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
}

// oneLine is a text that was wrapped for the screen.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestCommandsThatDoNotStartATargetAreNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	r := restartable{foreignService{database: "postgres://u@127.0.0.1:1/d"}, t.TempDir(), freePort(t)}
	r.keys, r.addr = filepath.Join(r.folder, "keys"), freePort(t)
	r.url = "http://" + r.addr
	r.providers = []string{"openai-demo=" + freePort(t), "anthropic-demo=" + freePort(t)}
	var keys strings.Builder
	for i := range 200 {
		fmt.Fprintf(&keys, "owner-%d owner key-%d\n", i, i)
	}
	write(t, r.keys, keys.String())
	write(t, filepath.Join(r.folder, "refuses"), "echo no such unit; exit 5\n")
	runs := []string{"sleep", "60"}
	for name, c := range map[string]struct {
		commands map[string][]string
		args     []string
		code     int
		want     string
	}{
		"one is missing":           {map[string][]string{"start": runs, "stop": runs}, nil, 64, "commands: kill is missing, and level L3 needs start, stop, kill"},
		"one is unknown":           {map[string][]string{"begin": runs}, nil, 64, `commands: "begin" must be start, stop or kill`},
		"no program":               {map[string][]string{"start": {"no-such-program"}, "stop": runs, "kill": runs}, nil, 64, `commands: start: there is no program "no-such-program"`},
		"start never listens":      {map[string][]string{"start": runs, "stop": runs, "kill": runs}, nil, 3, "command start (sleep): it still runs, and the target does not answer at " + r.addr + " after 300ms"},
		"start ends, no listener":  {map[string][]string{"start": {"true"}, "stop": runs, "kill": runs}, nil, 3, "command start (true): it ended with exit status 0, and the target does not answer at"},
		"start fails":              {map[string][]string{"start": r.sh("refuses"), "stop": runs, "kill": runs}, nil, 3, "command start (sh): it ended with exit status 5 before the target answered: no such unit"},
		"somebody else started it": {map[string][]string{"start": runs, "stop": runs, "kill": runs}, []string{"url", "http://" + listener.Addr().String()}, 3, "before the target was started"},
		"seen at L1 alone":         {map[string][]string{"start": runs, "stop": runs, "kill": runs}, nil, 64, "L3 includes L2"},
		"L4 is asked for":          {map[string][]string{"start": runs, "stop": runs, "kill": runs}, []string{"--level", "L4"}, 64, "--level L4 cannot be reached here: L4 sets the clock"},
	} {
		t.Run(name, func(t *testing.T) {
			r := r
			switch {
			case len(c.args) == 2 && c.args[0] == "url":
				r.url, c.args = c.args[1], nil
			case name == "seen at L1 alone":
				r.listen, r.database = "", ""
			}
			code, said := r.verify(t, r.adapter(t, "command_timeout_ms: 300\n", c.commands), append(c.args, "crash-after-provider-call")...)
			if code != c.code || !strings.Contains(oneLine(said), c.want) {
				t.Errorf("exit %d, want %d and %q: %s", code, c.code, c.want, said)
			}
		})
	}
}
