package scratch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// exists says whether a process with that id runs (or waits to be reaped).
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// started tells when process pid was started, as an opaque text that differs
// between two processes that had the same id one after the other.
func started(pid int) (string, error) {
	if runtime.GOOS == "linux" {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return "", err
		}
		// Field 22, counted after the name, which may itself hold spaces and
		// brackets: "pid (name) state ppid ...".
		rest := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(rest) < 20 {
			return "", fmt.Errorf("process %d: stat has %d fields after the name", pid, len(rest))
		}
		if rest[0] == "Z" {
			return "dead", nil // ended, its parent has not noticed yet
		}
		return "ticks " + rest[19], nil
	}
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// CommandLine is the command line of process pid, joined by spaces.
func CommandLine(pid int) (string, error) {
	if runtime.GOOS == "linux" {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return string(bytes.ReplaceAll(bytes.TrimRight(text, "\x00"), []byte{0}, []byte{' '})), err
	}
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return strings.TrimSpace(string(out)), err
}

// ours says whether a file belongs to the user who asks.
func ours(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
