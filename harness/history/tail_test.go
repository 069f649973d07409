package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// next is what a tail has read by now.
func next(t *testing.T, tail *history.Tail) (numbers []int64) {
	t.Helper()
	if err := tail.Next(func(e history.Event) { numbers = append(numbers, e.N) }); err != nil {
		t.Fatal(err)
	}
	return numbers
}

func TestTailReadsEachEventOnceItsLineIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	tail := history.Follow(path)
	t.Cleanup(func() { _ = tail.Close() })
	if got := next(t, tail); got != nil {
		t.Errorf("%v are read of a file that is not there", got)
	}
	line := func(n int) string { return fmt.Sprintf(`{"n":%d,"at_us":%d,"kind":"note","op":"x"}`+"\n", n, n) }
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	long := strings.Repeat("x", 200_000) // more than a tail reads at once
	for _, step := range []struct {
		write string
		want  []int64
	}{
		{"", nil}, {line(1) + line(2), []int64{1, 2}}, {line(3)[:12], nil}, {line(3)[12:], []int64{3}},
		{line(4) + `{"n":5,"at_us":5,"kind":"note","data":{"x":"` + long, []int64{4}}, {`"}}` + "\n" + line(6)[:1], []int64{5}}, {line(6)[1:], []int64{6}},
	} {
		if _, err := file.WriteString(step.write); err != nil {
			t.Fatal(err)
		}
		if got := next(t, tail); !slices.Equal(got, step.want) {
			t.Errorf("after %.20q %v are read, want %v", step.write, got, step.want)
		}
	}
}

func TestTailRefusesWhatIsNoHistory(t *testing.T) {
	for _, text := range []string{"no event\n", `{"n":1,"at_us":1,"kind":"other"}` + "\n", `{"n":1,"at_us":1,"kind":"note","kind":"note"}` + "\n"} {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		tail := history.Follow(path)
		if err := tail.Next(func(e history.Event) { t.Errorf("%q was taken for event %d", text, e.N) }); err == nil {
			t.Errorf("%q was read without an error", text)
		}
		_ = tail.Close()
	}
}

// TestRecordedEventsAreInTheFileBeforeAnybodyFlushes: a run that waits can be
// watched up to where it waits.
func TestRecordedEventsAreInTheFileBeforeAnybodyFlushes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	rec, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	tail := history.Follow(path)
	t.Cleanup(func() { _ = tail.Close() })
	for n := int64(1); n <= 3; n++ { // each after the one before was passed on
		rec.Note("harness", "", "waits", nil)
		limit := time.After(10 * time.Second)
		for got := []int64(nil); len(got) == 0; got = next(t, tail) {
			select {
			case <-limit:
				t.Fatalf("event %d never reached the file", n)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if got := next(t, tail); got != nil {
		t.Errorf("%v were written twice", got)
	}
}
