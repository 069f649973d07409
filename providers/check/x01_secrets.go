package check

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// x01 looks for the key that was sent in everything that came back, plainly or in
// a form that is easily turned back.
var x01 = Check{
	ID: "X01", Title: "the key that was sent comes back nowhere",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other, BadRequest, WrongModel},
	judge: func(r *Run, t *tally) {
		if r.Secret == "" {
			t.reason = "no key was sent"
			return
		}
		for _, o := range r.Observations {
			if at, found := Holds(o.Transcript, r.Secret); found {
				t.fail(o, "secret.echoed", at, "the key that was sent stands in the answer")
				continue
			}
			t.pass(o)
		}
	},
}

// Holds finds a secret in an answer: as it is, in base64, URL or JSON escapes, or
// reversed. The place never shows it.
func Holds(t providers.Transcript, secret string) (place string, found bool) {
	forms := []string{
		secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)),
	}
	for _, form := range forms {
		if i := bytes.Index(t.Body, []byte(form)); i >= 0 {
			return "byte " + strconv.Itoa(i), true
		}
		for name, values := range t.Header {
			for _, v := range values {
				if strings.Contains(v, form) {
					return "header " + name, true
				}
			}
		}
	}
	return "", false
}
