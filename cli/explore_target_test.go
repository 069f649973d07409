package cli_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// explore plays orders of the statements of r.
func (r restartable) explore(t *testing.T, args ...string) (int, string) {
	t.Helper()
	t.Setenv("INTERLOCK_TARGET_PG_URL", r.database)
	adapter := r.adapter(t, "", map[string][]string{"start": r.sh("foreground"), "stop": r.sh("stop"), "kill": r.sh("kill")})
	return interlock(t, append([]string{"explore", "--interleave", "--target", r.url, "--target-keys", r.keys,
		"--provider", strings.Join(r.providers, ","), "--adapter", adapter, "--target-pg-listen", r.listen}, args...)...)
}

// schedulesOf reads how many schedules of a set were played.
func schedulesOf(t *testing.T, set, said string) int {
	t.Helper()
	found := regexp.MustCompile(`(?m)^✓ ` + regexp.QuoteMeta(set) + ` +(\d+) schedules`).FindStringSubmatch(said)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The numbers are those of the statements of the reference service: a schedule less
// was not played, and one more would be an order that the locks do not allow.
func TestExploreKeepsAServiceThatSomebodyElseRunsInEveryOrder(t *testing.T) {
	r := newRestartable(t)
	want := map[string]int{"new/submit+submit": 4, "running/cancel-job+complete": 11, "unknown/release+complete": 10, "raced/complete+complete": 8}
	var sets []string
	for set := range want {
		sets = append(sets, set)
	}
	code, said := r.explore(t, "--set", strings.Join(sets, ","), "--timeout", "5m")
	if code != 0 || !strings.Contains(said, "pairs    4 sets, every order of their statements: 33 schedules") || !strings.Contains(said, "0 broke an invariant") {
		t.Errorf("exit %d: %s", code, said)
	}
	for set, n := range want {
		if got := schedulesOf(t, set, said); got != n {
			t.Errorf("%s: %d schedules, want %d", set, got, n)
		}
	}
}

func TestExploreFindsTheDoubleJobOfAServiceThatChecksThenInserts(t *testing.T) {
	s := newTwofold(t, false)
	code, said := s.explore(t, "--timeout", "5m")
	schedule := regexp.MustCompile(`--replay (\S+)`).FindStringSubmatch(said)
	if code != 1 || !strings.Contains(said, "✗ I1 ") || schedule == nil || !strings.HasPrefix(schedule[1], "new/submit+submit:") {
		t.Fatalf("exit %d: %s", code, said)
	}
	t.Run("each time that its schedule is played", func(t *testing.T) {
		code, said := s.explore(t, "--replay", schedule[1], "--times", "5")
		if code != 1 || !strings.Contains(said, schedule[1]+"\n") || !strings.Contains(said, "I1 in 5 of 5") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	t.Run("and not where one submit ends before the other begins", func(t *testing.T) {
		code, said := s.explore(t, "--replay", "new/submit+submit:00001", "--times", "2")
		if code == 1 || strings.Contains(said, "I1") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	t.Run("and not once the key is unique", func(t *testing.T) {
		code, said := newTwofold(t, true).explore(t, "--set", "new/submit+submit", "--timeout", "5m")
		if code != 0 || schedulesOf(t, "new/submit+submit", said) < 10 {
			t.Errorf("exit %d: %s", code, said)
		}
	})
}

func TestExploreOfATargetRefuses(t *testing.T) {
	r := restartable{foreignService{url: "http://127.0.0.1:1", database: "postgres://u@127.0.0.1:1/d"}, t.TempDir(), freePort(t)}
	r.keys = r.folder + "/keys"
	write(t, r.keys, "ada owner x\nbob owner y\nops operator z\n")
	many := r.folder + "/many"
	write(t, many, strings.Repeat("ada owner x\n", 200)+"ops operator z\n")
	l0 := []string{"--target", r.url, "--target-keys", r.keys}
	l2 := []string{"--target", r.url, "--target-keys", many, "--provider", "openai-demo=127.0.0.1:1,anthropic-demo=127.0.0.1:2", "--target-pg-listen", r.listen}
	t.Setenv("INTERLOCK_TARGET_PG_URL", r.database)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a target without its database": {append([]string{"--interleave"}, l0...), "which is level L2, and the target is seen at L0"},
		"no deeper than L1":             {append([]string{"--interleave", "--level", "L1"}, l2...), "which is level L2, and the target is seen at L1"},
		"plans":                         {append([]string{"--plans", "1"}, l2...), "plans are played on the built-in service"},
		"triples":                       {append([]string{"--interleave", "--triples"}, l2...), "leave --plans, --mutant, --mutants, --only, --triples and --every-order out"},
		"a mutant":                      {append([]string{"--interleave", "--mutant", "last-write-wins"}, l2...), "leave --plans, --mutant"},
		"a set without a target":        {[]string{"--interleave", "--set", "new/submit+submit"}, "--set belongs to --interleave --target"},
		"an unknown set":                {append([]string{"--interleave", "--set", "new/submit+complete"}, l2...), `there is no pair "new/submit+complete"; there are new/submit+submit,`},
		"half a schedule":               {append([]string{"--interleave", "--replay", "new/submit+submit"}, l2...), "a schedule is PAIR:DIGITS"},
		"so many times":                 {append([]string{"--interleave", "--replay", "new/submit+submit:01", "--times", "0"}, l2...), "--times is 0"},
		"no time":                       {append([]string{"--interleave", "--timeout", "soon"}, l2...), "--timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			code, said := interlock(t, append([]string{"explore"}, c.args...)...)
			if code != 64 || !strings.Contains(oneLine(said), c.want) {
				t.Errorf("exit %d, want 64 and %q: %s", code, c.want, said)
			}
		})
	}
}

// All pairs take the better part of a minute: a second is never enough.
func TestExploreOfATargetWhoseTimeIsOverIsNoVerdict(t *testing.T) {
	code, said := newRestartable(t).explore(t, "--timeout", "1s")
	if code != 2 && code != 3 {
		t.Errorf("a search that did not come to its end exits with %d: %s", code, said)
	}
}

func TestExploreOfATargetThatDoesNotStartIsInfrastructure(t *testing.T) {
	r := newRestartable(t)
	write(t, r.folder+"/foreground", "echo no such unit; exit 5\n")
	code, said := r.explore(t, "--set", "new/submit+submit", "--timeout", "5m")
	if code != 3 || !strings.Contains(said, "no such unit") {
		t.Errorf("exit %d: %s", code, said)
	}
}
