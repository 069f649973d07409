package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/interlock-harness/interlock/harness/stage"
)

// keptType is the type of the JSON line that says that a stack is left up.
const keptType = "kept"

// keptStage is a stack that is left up. end takes it down where a process of its own
// holds it.
type keptStage struct {
	Kept *stage.Places `json:"kept,omitempty"`
	end  func()
}

// hold says where the parts of a kept stack listen, waits until somebody or the time
// of --timeout ends that, and takes it down. The result stays what it was.
func (v *verification) hold(ctx context.Context, k *keptStage, result error, end func() error) error {
	if err := v.tellKept(ctx, k); err != nil {
		_ = end()
		return err
	}
	<-ctx.Done()
	if err := end(); err != nil {
		return infrastructuref("the stage left something behind: %v", err)
	}
	if !v.s.quiet {
		_, _ = fmt.Fprintln(v.s.err, "The stack is taken down; nothing is left.")
	}
	if coded, ok := result.(*exitError); ok {
		return &exitError{code: coded.code, message: coded.message, settled: true}
	}
	return result
}

func (v *verification) tellKept(ctx context.Context, k *keptStage) error {
	var err error
	if v.s.json {
		err = json.NewEncoder(v.s.out).Encode(struct {
			Type string `json:"type"`
			PID  int    `json:"pid"` // ends it, on SIGTERM
			*keptStage
		}{keptType, os.Getpid(), k})
	} else {
		limit := ""
		if at, ok := ctx.Deadline(); ok {
			limit = fmt.Sprintf(", until %s (--timeout)", at.Format("15:04:05"))
		}
		_, err = fmt.Fprintf(v.s.out, "\nKept as %s left it%s.\nCtrl-C or kill %d takes it down.\n\n%s", k.Kept.Play, limit, os.Getpid(), printable(k.Kept.Text()))
	}
	if err != nil {
		return infrastructuref("write: %v", err)
	}
	return nil
}

func wereLeft(n int) string {
	if n == 1 {
		return "1 scenario was"
	}
	return fmt.Sprintf("%d scenarios were", n)
}

// told says what the tries are, for --dry-run.
func (f *repeatFlags) told(seed int64) string {
	switch {
	case f.untilViolation:
		return fmt.Sprintf("round after round until one is violated, from seed %d on", seed)
	case f.times > 1 && f.sameSeed:
		return fmt.Sprintf("%d tries, each with seed %d", f.times, seed)
	case f.times > 1:
		return fmt.Sprintf("%d tries, seeds %d to %d", f.times, seed, seed+int64(f.times)-1)
	}
	return fmt.Sprintf("in %s processes", f.procs)
}
