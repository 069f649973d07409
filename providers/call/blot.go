package call

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// shortest is the length from which a key is a key; a shorter one would blot out
// chance hits.
const shortest = 8

// blot overwrites the key wherever the answer repeats it, also in base64 and in a
// URL, byte for byte, so that offsets stay right and no store, log or report can
// come to hold it. Cookies are dropped: no later call sends them.
func blot(t *providers.Transcript, secret string) {
	if t.Header.Get("Set-Cookie") != "" {
		t.Header["Set-Cookie"] = []string{"[removed]"}
	}
	if len(secret) < shortest {
		return
	}
	for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), url.QueryEscape(secret)} {
		stars := strings.Repeat("*", len(form))
		if bytes.Contains(t.Body, []byte(form)) {
			t.Body, t.Leaked = bytes.ReplaceAll(t.Body, []byte(form), []byte(stars)), true
		}
		for _, values := range t.Header {
			for i, v := range values {
				if strings.Contains(v, form) {
					values[i], t.Leaked = strings.ReplaceAll(v, form, stars), true
				}
			}
		}
	}
}
