package postgres

import (
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// A look at the whole queue comes every 200 ms, and takes no more than a tenth
// of the time where it is long.
func TestTheWholeQueueIsLookedThroughNowAndThen(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		took, next time.Duration // of a full scan; from its begin to the next one
	}{{0, 200 * time.Millisecond}, {20 * time.Millisecond, 200 * time.Millisecond}, {50 * time.Millisecond, 500 * time.Millisecond}, {time.Second, 10 * time.Second}} {
		var f queueFloor
		if s := f.begin(start); s.above != 0 {
			t.Errorf("the first claim looks above %d", s.above)
		}
		f.end(scan{above: 1, begun: start}, start, []job.Claimed{{Attempt: job.Attempt{Fence: 10_000}}})
		f.nextFull = start
		full := f.begin(start)
		if full.above != 0 {
			t.Errorf("a look that is due is above %d", full.above)
		}
		f.end(full, start.Add(c.took), nil)
		if s := f.begin(start.Add(c.next - time.Millisecond)); s.above != 10_000-belowHighest {
			t.Errorf("after a scan of %s a look at the whole queue comes before %s", c.took, c.next)
		}
		if s := f.begin(start.Add(c.next)); s.above != 0 {
			t.Errorf("after a scan of %s there is no look at the whole queue after %s", c.took, c.next)
		}
	}
}
