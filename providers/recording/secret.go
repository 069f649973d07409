package recording

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
)

// credentials are the shapes of keys that vendors hand out, and of what else opens
// doors.
var credentials = regexp.MustCompile(`(?:` +
	`\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}` +
	`|\bAIza[0-9A-Za-z_-]{30,}` +
	`|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b` +
	`|\bgh[pousr]_[A-Za-z0-9]{30,}` +
	`|\bhf_[A-Za-z0-9]{30,}` +
	`|\bxox[abprs]-[A-Za-z0-9-]{10,}` +
	`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}` +
	`|-----BEGIN [A-Z ]*PRIVATE KEY-----` +
	`|(?i:authorization|bearer|api[-_]?key|x-api-key|x-goog-api-key|secret|password|token|cookie)["'\\]{0,4}\s*[:=]\s*["'\\]{0,4}(?i:bearer\s+)?[A-Za-z0-9+/_.=-]{20,}` +
	`|(?i:[?&](?:key|api_key|token|access_token)=)[A-Za-z0-9_-]{16,}` +
	`|(?i:token)\W{0,12}[0-9a-f]{40}\b` +
	`)`)

// Secret says where an answer looks as if it held a credential, or "".
func Secret(header http.Header, body []byte) string {
	for name, values := range header {
		for _, v := range values {
			if credentials.MatchString(v) {
				return "header " + name
			}
		}
	}
	if at := credentials.FindIndex(body); at != nil {
		return "byte " + strconv.Itoa(at[0]) + " of the body"
	}
	return ""
}

var personal = regexp.MustCompile(`[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}|\b[0-9](?:[ -]?[0-9]){12,18}\b`)

// mask makes addresses and numbers of payment cards unreadable that the question
// did not hold. Lengths stay, so offsets of chunks and events stay right.
func mask(body, question []byte) ([]byte, bool) {
	changed := false
	return personal.ReplaceAllFunc(body, func(found []byte) []byte {
		if bytes.Contains(question, found) || !bytes.ContainsRune(found, '@') && !luhn(found) {
			return found
		}
		changed = true
		out := bytes.Clone(found)
		for i, c := range out {
			if c != '@' && c != '.' && c != ' ' && c != '-' {
				out[i] = 'x'
				if c >= '0' && c <= '9' {
					out[i] = '0'
				}
			}
		}
		return out
	}), changed
}

// luhn is the check digit of payment cards (ISO/IEC 7812).
func luhn(text []byte) bool {
	sum, twice := 0, false
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		d := int(text[i] - '0')
		if twice {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, twice = sum+d, !twice
	}
	return sum%10 == 0
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
