package console_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/console"
)

const token = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// bound ends a wait for something that should long have happened.
const bound = 20 * time.Second

// browser is what a browser without a script can do.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

// open starts a console whose runs lie in a folder.
func open(t *testing.T, runs string) *browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := console.Start(ctx, console.Options{Port: 0, Seed: 7, Token: token, Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	jar, _ := cookiejar.New(nil)
	b := &browser{t: t, base: c.Address(), http: &http.Client{Jar: jar, Timeout: bound}}
	b.get("/?token=" + token)
	return b
}

func (b *browser) get(path string) string {
	b.t.Helper()
	resp, err := b.http.Get(b.base + path)
	text, status := b.read(resp, err)
	if status != http.StatusOK && status != http.StatusNotFound {
		b.t.Fatalf("%s: %d: %s", path, status, text)
	}
	return text
}

// click sends a form and returns the page that comes back.
func (b *browser) click(path string, form ...string) string {
	b.t.Helper()
	text, status := b.post(path, form...)
	if status != http.StatusOK {
		b.t.Fatalf("%s: %d: %s", path, status, text)
	}
	return text
}

// refused sends a form that the console itself refuses with a status.
func (b *browser) refused(status int, path string, form ...string) string {
	b.t.Helper()
	text, got := b.post(path, form...)
	if got != status {
		b.t.Errorf("%s with %q: %d, want %d", path, form, got, status)
	}
	return text
}

func (b *browser) post(path string, form ...string) (text string, status int) {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, strings.NewReader(values.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.base)
	resp, err := b.http.Do(r)
	return b.read(resp, err)
}

func (b *browser) read(resp *http.Response, err error) (text string, status int) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw), resp.StatusCode
}

// until reads a page until it holds text.
func (b *browser) until(path, text string) string {
	b.t.Helper()
	limit := time.Now().Add(bound)
	for {
		page := b.get(path)
		if strings.Contains(page, text) {
			return page
		}
		if time.Now().After(limit) {
			b.t.Fatalf("%s never holds %q:\n%s", path, text, page)
		}
	}
}

func (b *browser) want(page string, texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			b.t.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
}

var jobLink = regexp.MustCompile(`/jobs/([0-9a-f-]{36})`)

// TestTheConsoleWithoutAScript goes through all pages as a browser without
// script sees them, on one stage.
func TestTheConsoleWithoutAScript(t *testing.T) {
	b := open(t, t.TempDir())
	hostile := `<script>alert(1)</script>` + "\u202E\x1b[2J"

	b.want(b.click("/submit", "key", "k-twice", "text", hostile, "provider", "openai-demo", "how", "twice"), "Two clicks at once, one job")
	list := b.get("/jobs")
	b.want(list, "k-twice", `&lt;script&gt;alert(1)&lt;/script&gt;\u202e\x1b[2J`)
	if strings.Contains(list, "<script>alert") || strings.ContainsAny(list, "\u202E\x1b") {
		t.Error("hostile text reaches the page as it is")
	}
	b.want(b.click("/submit", "key", "k-hundred", "text", "x", "provider", "openai-demo", "how", "hundred"), "100 clicks with one key, 20 at a time: 1 job. 1 answered 201, 99 were replayed.")
	b.want(b.click("/submit", "key", "k-other", "text", "x", "provider", "openai-demo", "how", "other"), "idempotency-key-reused", "409 Conflict")
	b.want(b.click("/submit", "key", "k", "deadline_ms", "soon"), "The deadline must be a whole number")

	b.want(b.click("/providers/openai-demo/hold"), "Every call to openai-demo waits")
	b.want(b.click("/submit", "key", "k-left", "text", "x", "provider", "openai-demo", "how", "leave", "deadline_ms", "60000"), "You went away while the service waited")
	job := "/jobs/" + jobLink.FindStringSubmatch(b.click("/submit", "key", "k-race", "text", "x", "provider", "openai-demo", "how", "once", "deadline_ms", "300"))[1]
	b.until(job, `data-state="unknown"`)
	b.want(b.click(job+"/retry", "trigger", "r-1"), "attempt-in-flight", "409 Conflict")
	b.want(b.click(job+"/attempts/1/release", "reason", " "), "Say why")
	b.want(b.click(job+"/attempts/1/resolve", "reason", "x", "evidence", "x", "outcome", "succeeded", "result", "{"), "The result is not JSON")
	b.want(b.click(job+"/attempts/1/release", "reason", "silent"), "Done: release a1.")
	b.want(b.click(job+"/retry", "trigger", "r-2"), "Done: retry.")
	b.until("/providers", "Answer call 6 now") // that of the second attempt
	b.want(b.click("/providers/openai-demo/newest"), "The call that came last goes first.")
	b.until(job, `winner</span>`)
	b.want(b.click("/providers/openai-demo/let"), "All calls to openai-demo go on.")
	b.want(b.until(job, "late result"), "0 rows written", "a2 had won")
	b.want(b.get("/races"), "data-race", job)
	b.want(b.click("/submit", "key", "<b>k\u202E", "text", "x", "provider", "openai-demo", "how", "once"), `<code>&lt;b&gt;k\u202e</code>`, "400 Bad Request")
	open := "/jobs/" + jobLink.FindStringSubmatch(b.click("/submit", "key", "k-reason", "text", "x", "provider", "newcomer-demo", "how", "once"))[1]
	b.click(open+"/attempts/1/cancel", "reason", "<i>why\x1b[2J")
	for _, path := range []string{open, "/jobs", "/races", "/providers"} {
		if page := b.get(path); strings.Contains(page, "<i>why") || strings.ContainsAny(page, "\u202E\x1b") {
			t.Errorf("%s shows hostile text as it is", path)
		}
	}

	b.want(b.click("/faults/add", "place", "client", "way", "lost-answer"), "The fault is in place")
	b.want(b.click("/faults/add", "place", "client", "way", "lost-request"), "There is a fault on this edge already", "heal it first")
	b.want(b.click("/submit", "key", "k-lost", "text", "x", "provider", "openai-demo", "how", "once"), "No answer came")
	b.until("/faults", `class="tag no">fired`)
	b.want(b.click("/tour/1", "guess", "one"), "wants a whole stage")
	b.want(b.click("/faults/heal-all"), "All is healed")
	b.want(b.click("/submit", "key", "k-lost", "text", "x", "provider", "openai-demo", "how", "once"), "This key has a job already")

	b.want(b.click("/faults/add", "place", "postgres", "way", "crash"), "The fault is in place")
	b.until("/", "The database has not answered for")
	b.want(b.click("/faults/heal-all"), "All is healed")
	if page := b.until("/jobs", "k-lost"); strings.Contains(page, "has not answered") {
		t.Error("the database answers again, and the page says that it does not")
	}

	b.want(b.click("/gate/ask", "from", "openai-demo", "to", "anthropic-demo", "contract", "triage"), "Yes: openai-demo may fail over")
	b.want(b.click("/gate/expire", "to", "anthropic-demo", "contract", "triage"), "the service goes by it")
	b.want(b.click("/gate/ask", "from", "openai-demo", "to", "anthropic-demo", "contract", "triage"), "No: openai-demo may not fail over", "expired")
	b.want(b.click("/gate/certify", "to", "anthropic-demo", "contract", "triage"), "the service goes by it")

	for n, guess := range []string{"one", "unknown", "last", "shut"} {
		page := b.click("/tour/"+string(rune('1'+n)), "guess", guess)
		if guess == "last" {
			b.want(page, "Not so. The result is written by compare-and-swap", "0 rows. Discarded: ")
			continue
		}
		b.want(page, "You were right.")
	}
	b.want(b.click("/tour/1"), "Say first what will be stored")

	b.want(b.get("/runs"), "reverse-order", "There is no report in")
	b.want(b.refused(http.StatusBadRequest, "/runs/start", "scenario", "no-such"), "There is no scenario no-such")
	b.want(b.get("/problems/attempt-in-flight"), "An attempt is still open", "<code>attempt_id</code>")
	b.want(b.get("/problems/none"), "no problem of type none")
	b.want(b.get("/jobs/0190-nothing"), "There is no job")
	b.want(b.get("/runs/..%2f..%2fetc/report"), "There is no report of that name")
	b.want(b.get("/healthz"), `"ready":true`)
	b.want(b.get("/metrics"), "interlock_")
}
