package httpapi

import (
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// maxKey is the length of an idempotency key in bytes, after unescaping.
const maxKey = 255

// ParseKey reads the field lines of an Idempotency-Key header.
//
// The key stands bare (visible ASCII without comma and quote) or as a quoted
// string of RFC 8941; `abc` and `"abc"` are the same key. It is never cut,
// folded or normalised: what is not a key is refused. A bare comma is refused
// because it cannot be told from two lines that a proxy merged.
func ParseKey(lines []string) (job.Key, error) {
	if len(lines) == 0 {
		return "", refuse(keyMissing, "send the header Idempotency-Key: one key for one intent, kept for every retry")
	}
	if len(lines) > 1 {
		return "", refuse(keyInvalid, "one Idempotency-Key header is wanted, not several")
	}
	text := strings.Trim(lines[0], " ") // HTTP trims blanks around a value
	key, ok := text, isBareKey(text)
	if strings.HasPrefix(text, `"`) {
		key, ok = unquoteKey(text)
	}
	if !ok || !isKey(key) {
		return "", refuse(keyInvalid, "a key is 1 to 255 visible ASCII characters; blanks, commas and quotes only in a quoted key")
	}
	return job.Key(key), nil
}

// isKey reports whether s can be a key: 1 to 255 ASCII bytes from the blank to
// the tilde, not all of them blanks.
func isKey(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= maxKey && strings.Trim(s, " ") != ""
}

func isBareKey(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == ',' || s[i] == '"' {
			return false
		}
	}
	return s != ""
}

// unquoteKey reads a whole RFC 8941 string: ASCII 0x20 to 0x7e, where \" and \\
// are the only escapes. Parameters after it are refused.
func unquoteKey(s string) (string, bool) {
	var key strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return key.String(), i == len(s)-1
		case c == '\\':
			if i++; i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", false
			}
			key.WriteByte(s[i])
		case c < ' ' || c > '~':
			return "", false
		default:
			key.WriteByte(c)
		}
	}
	return "", false // no closing quote
}
