package call

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
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
	for _, form := range forms(secret) {
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

// forms are the ways in which a text may repeat a key: as it is, escaped for a URL
// or for JSON, in hex, and in base64 of either alphabet, where it may begin at any of
// three places of the text that was encoded.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret) // a string cannot fail
	inJSON := string(quoted[1 : len(quoted)-1])
	list := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), inJSON, strings.ReplaceAll(inJSON, "/", `\/`),
		hex.EncodeToString([]byte(secret)),
	}
	for before := range 3 {
		plain := append(make([]byte, before), secret...)
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// Only whole groups of three bytes read the same whatever stands around.
			from, to := (before+2)/3*4, len(plain)/3*4
			if text := alphabet.EncodeToString(plain)[from:to]; len(text) >= shortest {
				list = append(list, text)
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) }) // the longer ones first
	return slices.Compact(list)
}
