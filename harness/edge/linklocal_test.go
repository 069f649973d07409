package edge_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/edge"
)

func TestCheckHostRefusesLinkLocalInEverySpelling(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "fe80::1", "fd00:ec2::254"} {
		if err := edge.CheckHost(host); !errors.Is(err, edge.ErrLinkLocal) {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"127.0.0.1", "::1", "10.0.0.1", "8.8.8.8", "fd00::1"} {
		if err := edge.CheckHost(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestBalancerDialsNoLinkLocalAddress(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "[::ffff:169.254.169.254]", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376"} {
		b, err := edge.NewBalancer(edge.Backend{Name: "x", URL: "http://" + host + ":80"})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Get(b.URL()) //nolint:noctx // a balancer of our own answers at once
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusBadGateway && resp.StatusCode < 500 {
				t.Errorf("%s: status %d", host, resp.StatusCode)
			}
		} else if !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: %v", host, err)
		}
		http.DefaultClient.CloseIdleConnections()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
