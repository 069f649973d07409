//go:build !unix

package bpe_test

import "time"

var started = time.Now()

// processorTime is the time on the wall where the system does not tell better.
func processorTime() time.Duration { return time.Since(started) }
