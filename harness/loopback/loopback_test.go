package loopback_test

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/interlock-harness/interlock/harness/loopback"
)

func TestPortIsFreeAndBelowTheOnesThatAreLent(t *testing.T) {
	port, err := loopback.Port()
	if err != nil {
		t.Fatal(err)
	}
	if port < 1024 || port >= 32768 {
		t.Errorf("port %d may be lent to an outgoing connection", port)
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func TestRefusedRefusesAndKeepsItsPortUntilReleased(t *testing.T) {
	addr, release, err := loopback.Refused()
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp4", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connection %v, error %v", conn, err)
	}
	if l, err := net.Listen("tcp4", addr); err == nil {
		_ = l.Close()
		t.Error("somebody else got the port")
	}
	release()
	release()
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		t.Fatalf("the port was not given back: %v", err)
	}
	_ = l.Close()
}
