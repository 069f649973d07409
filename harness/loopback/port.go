// Package loopback hands out addresses of this machine: ports that a listener
// gets back after a restart, and ports at which everybody is refused.
//
// The rule it keeps: 127.0.0.1 only; nothing that the harness starts can be
// reached from outside.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports that a listener must get back after a restart are taken from below
// the range from which systems lend ports to outgoing connections: nobody
// can be given one by chance while its listener is down.
const (
	lowPort  = 20000
	highPort = 30000
)

// Port returns a port on 127.0.0.1 on which nobody listens now. Who uses
// it must still be ready to find it taken.
func Port() (int, error) {
	var last error
	for range 200 {
		port := lowPort + rand.IntN(highPort-lowPort)
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			last = err
			continue
		}
		return port, l.Close()
	}
	return 0, errors.Join(errors.New("no free port on 127.0.0.1"), last)
}
