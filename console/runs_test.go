package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// toRun bounds a run of one scenario, on a machine that does other things too.
const toRun = 2 * time.Minute

// lanes is what the page draws the live lanes from.
type lanes struct {
	Play     string
	Revision int64
	Data     *struct {
		Plays []struct {
			Verdict string
			Look    []int
		}
	}
}

func TestARunIsWatchedFromItsFirstEventToItsReport(t *testing.T) {
	t.Setenv("INTERLOCK_REPEAT", "3") // the user's own runs, not those of the console
	t.Setenv("INTERLOCK_KEEP", "true")
	b := open(t, t.TempDir())
	b.want(b.refused(http.StatusConflict, "/runs/stop"), "409 Conflict", "no run is under way")
	b.want(b.refused(http.StatusBadRequest, "/runs/start", "scenario", "<i>none"), "400 Bad Request", "There is no scenario &lt;i&gt;none", "&#34;status&#34;: 400")

	ctx, cancel := context.WithTimeout(t.Context(), toRun)
	defer cancel()
	told := b.stream(ctx, "lanes")
	b.want(b.click("/runs/start", "scenario", "reverse-order"), "The run has begun", "under way", `id="live"`, `src="/assets/lanes.js"`)
	b.want(b.refused(http.StatusConflict, "/runs/start", "scenario", "double-click"), "409 Conflict", "A run is under way: wait for its end, or stop it.", "&#34;status&#34;: 409")

	var revision int64 = -1
	growing, judged := map[int]bool{}, ""
	for judged == "" {
		select {
		case <-told: // or it came before we looked
		case <-ctx.Done():
			t.Fatalf("no verdict in the lanes within %v; sizes seen: %v", toRun, growing)
		}
		var now lanes
		text := b.get("/runs/lanes")
		if err := json.Unmarshal([]byte(text), &now); err != nil {
			t.Fatalf("%v in %.200q", err, text)
		}
		if now.Revision < revision {
			t.Errorf("revision %d after %d", now.Revision, revision)
		}
		revision = now.Revision
		if now.Data == nil {
			continue
		}
		if n := len(now.Data.Plays); n != 1 {
			t.Fatalf("%d plays, want 1", n)
		}
		if p := now.Data.Plays[0]; p.Verdict != "" {
			judged = p.Verdict
		} else {
			growing[len(p.Look)] = true
		}
	}
	if len(growing) < 2 || judged != "pass" {
		t.Errorf("the lanes grew through %v and ended with %s", growing, judged)
	}
	for page := ""; !strings.Contains(page, "Open the report"); {
		if page = b.get("/runs"); ctx.Err() != nil {
			t.Fatalf("no report within %v:\n%s", toRun, page)
		}
	}
	b.want(b.get("/runs"), `<span class="state-pass badge">`, "Past runs, newest first", "interlock verify reverse-order --seed 7")
}

// telling is the scenario whose run plays nothing, and writes down what it was given.
const telling = "simultaneous-finish"

// given is what the process of a run was started with.
type given struct{ Args, Env []string }

// tell writes it beside the folder of the run.
func tell(out string) int {
	text, err := json.Marshal(given{os.Args[1:], os.Environ()})
	if err == nil {
		err = os.WriteFile(filepath.Join(filepath.Dir(out), "given"), text, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	fmt.Fprintln(os.Stderr, "it has told")
	return 3
}

func TestARunIsGivenWhatTheConsoleDecidesAlone(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	for name, value := range map[string]string{
		"INTERLOCK_REPEAT": "3", "INTERLOCK_OUT": "elsewhere", "INTERLOCK_LABEL": "none", "INTERLOCK_PG_URL": "postgres://nobody@127.0.0.1:1/none",
		"INTERLOCK_TARGET": "http://127.0.0.1:1", "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
	} {
		t.Setenv(name, value)
	}
	ctx, cancel := context.WithTimeout(t.Context(), toRun)
	defer cancel()
	b.click("/runs/start", "scenario", telling)
	for !strings.Contains(b.get("/runs"), "it has told") {
		if ctx.Err() != nil {
			t.Fatalf("the run did not end within %v:\n%s", toRun, b.get("/runs"))
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "given"))
	if err != nil {
		t.Fatal(err)
	}
	var was given
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	for _, pair := range was.Env {
		if strings.HasPrefix(pair, "INTERLOCK_") || strings.HasPrefix(pair, "DATABASE_URL=") {
			t.Errorf("a run is given %s", pair)
		}
	}
	if !slices.ContainsFunc(was.Env, func(pair string) bool { return strings.HasPrefix(pair, "PATH=") }) {
		t.Errorf("no PATH among %d variables", len(was.Env))
	}
	want := []string{"verify", telling, "--seed", "7", "--json", "--quiet", "--config", os.DevNull, "--out"}
	if n := len(want); len(was.Args) != n+1 || !slices.Equal(was.Args[:n], want) || filepath.Dir(was.Args[n]) != folder {
		t.Errorf("a run is %q", was.Args)
	}
}

// stream sends on for each message of a kind, and does not wait for who reads.
func (b *browser) stream(ctx context.Context, kind string) <-chan struct{} {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+"/events", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := (&http.Client{Jar: b.http.Jar}).Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	told := make(chan struct{}, 1)
	go func() {
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if lines.Text() == "event: "+kind {
				select {
				case told <- struct{}{}:
				default:
				}
			}
		}
	}()
	return told
}
