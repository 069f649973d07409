package mutant_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/mutant"
)

func TestGuardsTakesAwayOneLineEach(t *testing.T) {
	const text = `
	WITH moved AS (
		UPDATE attempts
		WHERE  id = @attempt
		  AND  state = 'running' -- (not ours
		  AND  EXISTS (SELECT FROM jobs
		               WHERE id = @job)
		RETURNING id
	), found AS (
		SELECT id FROM attempts WHERE true AND false
		FOR NO KEY UPDATE SKIP LOCKED
	)
	SELECT 1`
	statements := map[string]string{"move": text}
	want := []string{"AND state = 'running'", "AND EXISTS (SELECT FROM jobs WHERE id = @job)", "FOR NO KEY UPDATE SKIP LOCKED"}
	guards := mutant.Guards(statements)
	if len(guards) != len(want) {
		t.Fatalf("%d guards: %+v", len(guards), guards)
	}
	for i, g := range guards {
		changed, err := mutant.With(g).Rewrite(statements)
		if err != nil || g.Description != want[i] {
			t.Errorf("guard %d is %q, not %q: %v", i+1, g.Description, want[i], err)
		}
		lost := strings.Count(text, "\n") - strings.Count(changed[text], "\n")
		if lines := 1 + strings.Count(g.Replace[0].Old, "\n") - 1; lost != lines || strings.Contains(changed[text], g.Replace[0].Old) {
			t.Errorf("%s loses %d lines, not %d:\n%s", g.Name, lost, lines, changed[text])
		}
	}
}
