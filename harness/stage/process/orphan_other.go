//go:build unix && !linux

package process

import "syscall"

// Only Linux has a parent-death signal. Elsewhere the next run's sweep
// (package scratch) ends what a crashed owner left behind.
func dieWithOwner(*syscall.SysProcAttr, syscall.Signal) {}
