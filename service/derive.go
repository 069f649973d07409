package service

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
)

// derivedKey is what a provider with an idempotency or metadata field of its own
// receives for an identity of ours: 64 hexadecimal digits, whatever its length
// and alphabet were. It is a digest and no prefix, so two identities that begin
// alike stay two.
func derivedKey(identity string) string {
	sum := sha256.Sum256([]byte("interlock\x00" + identity))
	return hex.EncodeToString(sum[:])
}

// wholeNumber reads a whole number however it is spelt (300, 3e2).
func wholeNumber(n json.Number) (int64, error) {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, fmt.Errorf("parameters: %s is no whole number", n)
	}
	return r.Num().Int64(), nil
}
