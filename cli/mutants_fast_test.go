package cli_test

import (
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// TestFailFastStartsNoFurtherMutant: the first that is not caught ends the run; one
// that is caught, and a clean play, do not.
func TestFailFastStartsNoFurtherMutant(t *testing.T) {
	all := []string{"", "last-write-wins", "check-then-insert", "deadline-is-failure", "read-then-write"}
	caught := map[string]string{"last-write-wins": "I5", "check-then-insert": "I2", "deadline-is-failure": "I4", "read-then-write": "I5"} // the second must break I1
	for _, c := range []struct {
		failFast bool
		want     []string
	}{{true, all[:3]}, {false, all}} {
		got, err := cli.PlayMutants(t.Context(), c.failFast, all, func(name string) string { return caught[name] })
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("fail fast %v: %q were played (%v), want %q", c.failFast, got, err, c.want)
		}
	}
}
