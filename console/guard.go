package console

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strconv"
)

// policy lets a page load its own script and style and nothing else. There is no
// inline code on any page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// maxForm is how much a page may send: the largest form holds a result.
const maxForm = 256 << 10

// guard lets through what this user's own pages ask. A foreign page cannot
// read or click anything here: its name does not resolve to us (Host), its posts
// carry its origin, and it has no token. Another user of the machine has no
// token either.
func (c *Console) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !c.ownHost(r.Host) {
			http.Error(w, "This console answers to 127.0.0.1 and localhost only.", http.StatusMisdirectedRequest)
			return
		}
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodPost:
			if !sameOrigin(r) {
				http.Error(w, "This console takes clicks from its own pages only.", http.StatusForbidden)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		default:
			h.Set("Allow", "GET, HEAD, POST")
			http.Error(w, "Only GET and POST are served here.", http.StatusMethodNotAllowed)
			return
		}
		if open[r.URL.Path] {
			next.ServeHTTP(w, r)
			return
		}
		if token := r.URL.Query().Get("token"); token != "" && r.Method == http.MethodGet && c.known(token) {
			http.SetCookie(w, &http.Cookie{Name: c.cookie(), Value: c.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, r.URL.Path, http.StatusSeeOther)
			return
		}
		if kept, err := r.Cookie(c.cookie()); err != nil || !c.known(kept.Value) {
			http.Error(w, "Open the address that interlock up printed: it carries the token that this console wants.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// open are the paths that programs ask without a token: they say nothing of jobs.
var open = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

func (c *Console) known(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(c.token)) == 1
}

// cookie is named by the port: cookies do not keep ports apart.
func (c *Console) cookie() string { return "interlock-" + strconv.Itoa(c.port()) }

func (c *Console) port() int {
	_, text, _ := net.SplitHostPort(c.addr)
	n, _ := strconv.Atoi(text)
	return n
}

// ownHost reports whether a request was made to a name of the loopback: any
// other name was made to point here.
func (c *Console) ownHost(host string) bool {
	port := strconv.Itoa(c.port())
	for _, name := range []string{"127.0.0.1", "localhost"} {
		if host == net.JoinHostPort(name, port) {
			return true
		}
	}
	return false
}

// sameOrigin reports whether one of our own pages posts. Browsers say where a
// post comes from; what says nothing is not let in.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	return r.Header.Get("Origin") == "http://"+r.Host
}
