//go:build unix

package loopback

import (
	"fmt"
	"sync"
	"syscall"
)

// Refused returns an address at which every connection is refused: its port
// is bound, so that nobody else gets it, but nobody listens. release gives the
// port back.
func Refused() (addr string, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "", nil, fmt.Errorf("reserve a port that refuses: %w", err)
	}
	syscall.CloseOnExec(fd)
	if err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		var name syscall.Sockaddr
		if name, err = syscall.Getsockname(fd); err == nil {
			addr = fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
		}
	}
	if err != nil {
		_ = syscall.Close(fd)
		return "", nil, fmt.Errorf("reserve a port that refuses: %w", err)
	}
	var once sync.Once
	return addr, func() { once.Do(func() { _ = syscall.Close(fd) }) }, nil
}
