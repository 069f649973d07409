package call

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

const (
	toConnect   = 10 * time.Second // dial and TLS handshake, each
	maxHeaders  = 64 << 10         // bytes of response headers
	toContinue  = time.Second      // Expect: 100-continue is never sent; this bounds what a library might
	minimumTLS  = tls.VersionTLS12
	dialNetwork = "tcp"
)

// Dialer opens a connection, as net.Dialer.DialContext does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

type through struct{} // key of the Dialer in a context

// Through returns a context whose calls go over connections of dial, to a peer in
// the same process. No name is resolved and no address is looked at: nothing leaves.
func Through(ctx context.Context, dial Dialer) context.Context {
	return context.WithValue(ctx, through{}, dial)
}

// transportFor makes a transport for one call: no proxy from the environment, no
// kept connection, no compression behind our back.
func transportFor(ctx context.Context, p providers.Profile) *http.Transport {
	dial, ok := ctx.Value(through{}).(Dialer)
	if !ok {
		dial = dialerFor(p)
	}
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: minimumTLS},
		TLSHandshakeTimeout:    toConnect,
		ExpectContinueTimeout:  toContinue,
		MaxResponseHeaderBytes: maxHeaders,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		Protocols:              http1Only(),
	}
}

// dialerFor connects to the addresses that the profile allows.
func dialerFor(p providers.Profile) Dialer {
	dialer := &net.Dialer{
		Timeout: toConnect,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return permit(address, p.AllowLoopback)
		},
	}
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, dialNetwork, address)
	}
}

func http1Only() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// ForbiddenAddressError: the name of the route led to an address that the profile
// does not allow. It is raised after resolution, so no spelling gets around it.
type ForbiddenAddressError struct {
	Address netip.Addr
	Why     string
}

func (e *ForbiddenAddressError) Error() string {
	return fmt.Sprintf("address %s is not allowed: %s", e.Address, e.Why)
}

// permit looks at the address that is really dialled, host:port. Link-local and
// metadata addresses are never allowed, loopback and private ones only where the
// profile says so.
func permit(address string, allowLoopback bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	for _, a := range spellings(at.Addr()) {
		switch {
		case a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsMulticast() || metadata[a]:
			return &ForbiddenAddressError{a, "link-local and metadata addresses never serve a model"}
		case a.IsUnspecified() || a.IsLoopback() || a.IsPrivate() || shared.Contains(a):
			if !allowLoopback {
				return &ForbiddenAddressError{a, "it is on this machine or a private network, and the profile does not set allow_loopback"}
			}
		}
	}
	return nil
}

// metadata are addresses outside the link-local range at which clouds serve
// credentials.
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("100.100.100.200"): true,
	netip.MustParseAddr("192.0.0.192"):     true,
	netip.MustParseAddr("fd00:ec2::254"):   true,
	netip.MustParseAddr("168.63.129.16"):   true,
}

// shared is the carrier-grade range (RFC 6598), private for our purpose.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// spellings returns a and the IPv4 address that it embeds, if any: mapped
// (RFC 4291), NAT64 (RFC 6052) and 6to4 (RFC 3056).
func spellings(a netip.Addr) []netip.Addr {
	a = a.WithZone("").Unmap()
	all := []netip.Addr{a}
	if !a.Is6() {
		return all
	}
	b := a.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(a), netip.MustParsePrefix("::/96").Contains(a) && !a.IsLoopback() && !a.IsUnspecified():
		all = append(all, netip.AddrFrom4([4]byte(b[12:16])))
	case netip.MustParsePrefix("2002::/16").Contains(a):
		all = append(all, netip.AddrFrom4([4]byte(b[2:6])))
	}
	return all
}
