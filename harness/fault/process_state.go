package fault

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// standsStill waits until the system shows process pid as stopped.
func standsStill(ctx context.Context, pid int) (evidence string, err error) {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		state, err := processState(pid)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(strings.ToUpper(state), "T") {
			return fmt.Sprintf("process %d is in state %s", pid, state), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("process %d is in state %s, not stopped: %w", pid, state, ctx.Err())
		case <-tick.C:
		}
	}
}

func processState(pid int) (string, error) {
	if runtime.GOOS == "linux" {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return "", err
		}
		rest := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(rest) == 0 {
			return "", fmt.Errorf("process %d: stat cannot be read", pid)
		}
		return string(rest[0]), nil
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return strings.TrimSpace(string(out)), err
}
