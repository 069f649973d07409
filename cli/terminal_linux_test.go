package cli_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what a program writes to slave comes out of master.
type terminal struct{ master, slave *os.File }

// openTerminal opens one of 80 columns and 24 lines.
func openTerminal(t *testing.T) terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	raw, err := master.SyscallConn() // Fd would take the read deadline away
	if err != nil {
		t.Fatal(err)
	}
	number, failed := 0, error(nil)
	err = raw.Control(func(fd uintptr) {
		unlocked := unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		sized := unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
		n, named := unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		number, failed = n, errors.Join(unlocked, sized, named)
	})
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	return terminal{master, slave}
}

// erase stands before each state of the moving line, and after the last.
const erase = "\r\x1b[2K"

// uncleared says what is wrong with a moving line that is still on the screen at the
// end, or did not fit on one of 80 columns.
func uncleared(said string) string {
	states := strings.Split(said, erase)
	for _, state := range states {
		line, _, _ := strings.Cut(state, "\r\n")
		if n := utf8.RuneCountInString(line); n > 79 {
			return fmt.Sprintf("the moving line has %d columns: %q", n, line)
		}
	}
	if last := states[len(states)-1]; len(states) < 2 || last != "" && !strings.HasSuffix(last, "\r\n") {
		return fmt.Sprintf("the moving line is left on the screen: %q", said[max(0, len(said)-200):])
	}
	return ""
}
