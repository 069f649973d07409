package console

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tokenOfTest = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// guarded answers 200 to whatever the guard lets through.
func guarded() http.Handler {
	c := &Console{addr: "127.0.0.1:8787", token: tokenOfTest}
	return c.guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
}

func TestOnlyThisUsersOwnPagesAreLetIn(t *testing.T) {
	own := map[string]string{"Cookie": "interlock-8787=" + tokenOfTest}
	posting := func(more map[string]string) map[string]string {
		all := map[string]string{"Cookie": own["Cookie"], "Origin": "http://127.0.0.1:8787"}
		for name, value := range more {
			all[name] = value
		}
		return all
	}
	for name, c := range map[string]struct {
		method, host, path string
		headers            map[string]string
		status             int
	}{
		"its own page":                         {"GET", "127.0.0.1:8787", "/", own, 200},
		"by the name localhost":                {"GET", "localhost:8787", "/", own, 200},
		"a name that was made to point here":   {"GET", "evil.example:8787", "/", own, 421},
		"an address with another port":         {"GET", "127.0.0.1:80", "/", own, 421},
		"no host":                              {"GET", "", "/", own, 421},
		"without the token":                    {"GET", "127.0.0.1:8787", "/", nil, 403},
		"with another token":                   {"GET", "127.0.0.1:8787", "/", map[string]string{"Cookie": "interlock-8787=X"}, 403},
		"with the token of another port":       {"GET", "127.0.0.1:8787", "/", map[string]string{"Cookie": "interlock-8788=" + tokenOfTest}, 403},
		"opening with the token":               {"GET", "127.0.0.1:8787", "/?token=" + tokenOfTest, nil, 303},
		"opening with a wrong token":           {"GET", "127.0.0.1:8787", "/?token=Y", nil, 403},
		"a click":                              {"POST", "127.0.0.1:8787", "/submit", posting(nil), 200},
		"a click as browsers describe it":      {"POST", "127.0.0.1:8787", "/submit", posting(map[string]string{"Sec-Fetch-Site": "same-origin"}), 200},
		"a click that does not say from where": {"POST", "127.0.0.1:8787", "/submit", own, 403},
		"a click from a foreign page":          {"POST", "127.0.0.1:8787", "/submit", posting(map[string]string{"Origin": "http://evil.example"}), 403},
		"a click from another port":            {"POST", "127.0.0.1:8787", "/submit", posting(map[string]string{"Origin": "http://127.0.0.1:9999"}), 403},
		"a click from an opaque page":          {"POST", "127.0.0.1:8787", "/submit", posting(map[string]string{"Origin": "null"}), 403},
		"a click that a browser calls foreign": {"POST", "127.0.0.1:8787", "/submit", posting(map[string]string{"Sec-Fetch-Site": "cross-site"}), 403},
		"another method":                       {"DELETE", "127.0.0.1:8787", "/", posting(nil), 405},
		"health without the token":             {"GET", "127.0.0.1:8787", "/healthz", nil, 200},
		"health under a foreign name":          {"GET", "evil.example", "/healthz", nil, 421},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(""))
		r.Host = c.host
		for header, value := range c.headers {
			r.Header.Set(header, value)
		}
		w := httptest.NewRecorder()
		guarded().ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: %d, want %d", name, w.Code, c.status)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", name, csp)
		}
	}
}

func TestTheTokenLeavesTheAddressAndTheReachOfScripts(t *testing.T) {
	r := httptest.NewRequest("GET", "/jobs?token="+tokenOfTest, nil)
	r.Host = "127.0.0.1:8787"
	w := httptest.NewRecorder()
	guarded().ServeHTTP(w, r)
	if to := w.Header().Get("Location"); to != "/jobs" {
		t.Errorf("it leads to %q", to)
	}
	cookie := w.Header().Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("cookie %q lacks %s", cookie, part)
		}
	}
}

func TestTheTokenOfAUserIsKeptUnlessOthersCanReadIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "interlock", tokenFile)
	first := keptToken(path, tokenOfTest)
	if again := keptToken(path, strings.Repeat("B", 26)); again != first || first != tokenOfTest {
		t.Errorf("kept %q, then %q", first, again)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if now := keptToken(path, strings.Repeat("C", 26)); now == first {
		t.Error("a token that others could read is still used")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if now := keptToken(path, tokenOfTest); now != tokenOfTest {
		t.Errorf("a file with something else gave %q", now)
	}
}
