package httpapi

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/google/uuid"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// A cursor names the last job of a page. It is bound to the owner and the
// filter by a digest, so that a cursor of another list, or one that was changed,
// is refused. It is no secret and opens nothing: the statement behind it is
// scoped to the owner like any other.
const (
	cursorVersion = 1
	cursorSize    = 1 + 16 + 16
)

var cursorText = base64.RawURLEncoding.Strict()

// Cursor writes the cursor after job last in owner's list with this filter.
func Cursor(owner job.Owner, status job.Status, last job.ID) string {
	id := uuid.MustParse(string(last))
	b := append([]byte{cursorVersion}, id[:]...)
	return cursorText.EncodeToString(append(b, cursorDigest(owner, status, b)...))
}

// ParseCursor returns the job that a cursor names.
func ParseCursor(owner job.Owner, status job.Status, text string) (job.ID, error) {
	no := refuse(cursorInvalid, "take the cursor from the answer before, with the same filter and key")
	if len(text) != cursorText.EncodedLen(cursorSize) {
		return "", no
	}
	b, err := cursorText.DecodeString(text)
	if err != nil || len(b) != cursorSize || b[0] != cursorVersion ||
		string(b[17:]) != string(cursorDigest(owner, status, b[:17])) {
		return "", no
	}
	return job.ID(uuid.UUID(b[1:17]).String()), nil
}

func cursorDigest(owner job.Owner, status job.Status, position []byte) []byte {
	h := sha256.New()
	h.Write([]byte("interlock cursor\x00" + string(owner) + "\x00" + string(status) + "\x00"))
	h.Write(position)
	return h.Sum(nil)[:16]
}
