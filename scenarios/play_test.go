package scenarios

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Only a bound that ran out takes the blame off the target: not a refusal, a wrong
// value, or a caller who went away.
func TestOnlyABoundThatRanOutAccusesNobody(t *testing.T) {
	late := fmt.Errorf("waited in vain: %w", context.DeadlineExceeded)
	if got := ranOut(late); got != late {
		t.Errorf("%v is taken for %v", late, got)
	}
	for _, actual := range []any{nil, error(nil), errors.New("refused"), context.Canceled, "deadline exceeded", 1} {
		if err := ranOut(actual); err != nil {
			t.Errorf("%v counts as a bound that ran out", actual)
		}
	}
}
