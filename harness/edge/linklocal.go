package edge

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// ErrLinkLocal is returned for an address that only this link, or the machine's
// provider of metadata, can mean: nobody's job service is there, and what answers
// may hand out credentials.
var ErrLinkLocal = errors.New("a link-local address")

// metadataV6 is where one large cloud serves metadata over IPv6; the others use
// 169.254.169.254, which is link-local.
var metadataV6 = netip.MustParseAddr("fd00:ec2::254")

// refuseLinkLocal is a Control of net.Dialer: it sees the address that is about to
// be dialled, whatever name or spelling led to it.
func refuseLinkLocal(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return err
	}
	if ip = ip.WithZone("").Unmap(); ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || ip == metadataV6 {
		return fmt.Errorf("%s is %w", ip, ErrLinkLocal)
	}
	return nil
}

// CheckHost resolves host and returns ErrLinkLocal where one of its addresses is
// link-local. A name that does not resolve is left to the one who dials it.
func CheckHost(host string) error {
	addresses, err := net.LookupHost(host)
	if err != nil {
		return nil
	}
	for _, a := range addresses {
		if err := refuseLinkLocal("tcp", net.JoinHostPort(a, "80"), nil); err != nil {
			return err
		}
	}
	return nil
}
