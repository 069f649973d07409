package pgserver

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

// FreePort returns a port on 127.0.0.1 on which nobody listens now. Who uses
// it must still be ready to find it taken.
func FreePort() (int, error) {
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
