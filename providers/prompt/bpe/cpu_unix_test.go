//go:build unix

package bpe_test

import (
	"syscall"
	"time"
)

// processorTime is what this process has computed so far. On a shared machine it
// says what a benchmark costs; the time on the wall says how busy the machine is.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
