package httpapi

import (
	"crypto/sha256"
	"encoding/binary"
)

// FingerprintV1 is the number of the only algorithm so far. It is stored beside
// each fingerprint, so that a later algorithm never compares with an older one.
const FingerprintV1 = 1

// Fingerprint is algorithm 1: SHA-256 over algorithm, method, route with its
// concrete parameters, canonical query, content type and canonical body (as
// strictjson.Canonical writes it), each with its length in front, so that no
// two different requests meet by moving bytes between the parts.
//
// The canonical form is neither RFC 8785, which sends numbers through binary
// floats, nor a round trip through encoding/json, which merges big integers.
func Fingerprint(method, route, query, contentType string, canonicalBody []byte) [sha256.Size]byte {
	size := 8 + len(method) + len(route) + len(query) + len(contentType) + len(canonicalBody) + 5*8
	text := make([]byte, 0, size)
	text = binary.BigEndian.AppendUint64(text, FingerprintV1)
	for _, part := range []string{method, route, query, contentType} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	text = binary.BigEndian.AppendUint64(text, uint64(len(canonicalBody)))
	text = append(text, canonicalBody...)
	return sha256.Sum256(text)
}
