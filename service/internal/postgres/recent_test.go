package postgres

import (
	"fmt"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/job"
)

func TestRecentKeysAreBoundedAndApartByOwner(t *testing.T) {
	var r recentKeys
	r.note("alice", "k")
	if !r.has("alice", "k") || r.has("bob", "k") || r.has("alice", "K") {
		t.Error("a key is not remembered as it is")
	}
	for i := range 3 * generation {
		r.note("alice", job.Key(fmt.Sprint(i)))
	}
	if r.has("alice", "k") || !r.has("alice", job.Key(fmt.Sprint(3*generation-1))) || !r.has("alice", job.Key(fmt.Sprint(2*generation))) {
		t.Error("the newest are remembered and the oldest forgotten")
	}
	if n := len(r.young) + len(r.old); n > 2*generation {
		t.Errorf("%d keys are remembered", n)
	}
}
