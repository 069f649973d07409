package hostile_test

import (
	"testing"

	"github.com/interlock-harness/interlock/harness/hostile"
)

func TestThereAreFiveHundredDifferentTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range hostile.Texts() {
		seen[text] = true
	}
	if len(seen) < 500 || len(seen) != len(hostile.Texts()) || len(hostile.Families()) < 12 {
		t.Errorf("%d texts, %d of them different, in %d families", len(hostile.Texts()), len(seen), len(hostile.Families()))
	}
}
