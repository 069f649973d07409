package httpapi_test

import (
	"encoding/json"
	"testing"
	"time"
)

// eventually waits, within toAnswer, until what is true.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(toAnswer); ; {
		if holds() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", toAnswer, what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func decode(t testing.TB, body []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(body, v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}
