package console_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
)

// flooded is the scenario whose run is made up: it records ten thousand events of
// many clients in about two seconds, as no scenario does.
const flooded = "hundred-clicks"

// flood is that run. dir is where it leaves its history; it writes no report.
func flood(dir string) int {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 3
	}
	rec, err := history.Create(filepath.Join(dir, report.HistoryFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	(&report.Run{ID: "flood"}).Begin(rec)
	play := rec.Child(flooded)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		<-tick.C // as fast as a page can be told of it, and no faster
		for i := range 50 {
			call := play.Invoke(history.Op{Actor: fmt.Sprintf("client-%d", i), Op: history.OpGet, Job: "j-1"})
			call.OK(200, "j-1", "", history.Job{ID: "j-1"})
		}
	}
	if err := rec.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(map[string]any{"type": "play", "slug": flooded, "history": flooded, "text": "ten thousand events", "verdict": "pass", "took_ms": 2000})
	_ = out.Encode(map[string]any{"type": "run", "verdict": "pass"})
	return 0
}
