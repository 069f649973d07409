package edge

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// Flaw is what is wrong with a TLS listener.
type Flaw string

const (
	Flawless  Flaw = ""
	Expired   Flaw = "expired"    // the certificate ended yesterday
	WrongName Flaw = "wrong name" // it is for another host
	Untrusted Flaw = "untrusted"  // nobody vouches for its issuer
	Silent    Flaw = "silent"     // the handshake is never answered
)

// TLS is a TLS listener on a port of 127.0.0.1 that passes on in plain to its
// upstream, unless its flaw keeps clients from getting that far.
type TLS struct {
	// Authority is the certificate, in PEM, that clients must trust; with the
	// flaw Untrusted it is not the one that signed.
	Authority []byte

	listener net.Listener
	upstream string
	certs    map[Flaw]tls.Certificate

	mu     sync.Mutex
	flaw   Flaw
	told   func(evidence string)
	conns  map[net.Conn]bool
	closed bool
	wg     sync.WaitGroup
}

// NewTLS starts a listener with a flaw. told, which may be nil, hears of each
// handshake that failed for it.
func NewTLS(upstream string, flaw Flaw, told func(evidence string)) (*TLS, error) {
	t := &TLS{upstream: upstream, flaw: flaw, told: told, certs: map[Flaw]tls.Certificate{}, conns: map[net.Conn]bool{}}
	ours, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("TLS listener: %w", err)
	}
	nobodys, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("TLS listener: %w", err)
	}
	t.Authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.cert.Raw})
	now, here := time.Now(), net.IPv4(127, 0, 0, 1)
	for _, c := range []struct {
		flaw   Flaw
		issuer *authority
		end    time.Time
		ip     net.IP
	}{
		{Flawless, ours, now.Add(time.Hour), here}, {Silent, ours, now.Add(time.Hour), here},
		{Expired, ours, now.Add(-24 * time.Hour), here},
		{WrongName, ours, now.Add(time.Hour), net.IPv4(192, 0, 2, 1)},
		{Untrusted, nobodys, now.Add(time.Hour), here},
	} {
		if t.certs[c.flaw], err = c.issuer.leaf(c.end, c.ip); err != nil {
			return nil, fmt.Errorf("TLS listener: %w", err)
		}
	}
	if t.listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("TLS listener: %w", err)
	}
	t.wg.Go(t.accept)
	return t, nil
}

// URL is the listener's address as an HTTPS base URL.
func (t *TLS) URL() string { return "https://" + t.listener.Addr().String() }

// Set changes the flaw for connections from now on, and ends those that wait.
func (t *TLS) Set(flaw Flaw) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flaw = flaw
	for c := range t.conns {
		_ = c.Close()
	}
}

// Close ends it all.
func (t *TLS) Close() {
	t.mu.Lock()
	t.closed = true
	for c := range t.conns {
		_ = c.Close()
	}
	t.mu.Unlock()
	_ = t.listener.Close()
	t.wg.Wait()
}

func (t *TLS) accept() {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			return // closed
		}
		t.wg.Go(func() { t.serve(conn) })
	}
}

func (t *TLS) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	t.mu.Lock()
	flaw := t.flaw
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.conns[conn] = true
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.conns, conn)
		t.mu.Unlock()
	}()
	if flaw == Silent {
		hello := make([]byte, 1)
		if _, err := conn.Read(hello); err == nil {
			t.tell("a client began a handshake and gets no answer")
		}
		for { // until the client or we give up
			if _, err := conn.Read(hello); err != nil {
				return
			}
		}
	}
	secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{t.certs[flaw]}, MinVersion: tls.VersionTLS12})
	_ = conn.SetDeadline(time.Now().Add(toDial))
	if err := secure.Handshake(); err != nil {
		t.tell("the handshake failed: " + err.Error())
		return
	}
	_ = conn.SetDeadline(time.Time{})
	t.pass(secure, flaw)
}

// pass relays after the handshake. With TLS 1.3 a client may refuse the
// certificate after the listener took the handshake for done: then its alert
// is the first thing that is read.
func (t *TLS) pass(secure *tls.Conn, flaw Flaw) {
	buffer := make([]byte, 32<<10)
	n, err := secure.Read(buffer)
	if err != nil {
		if flaw != Flawless {
			t.tell("the client refused the certificate: " + err.Error())
		}
		return
	}
	server, err := net.DialTimeout("tcp", t.upstream, toDial)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if _, err := server.Write(buffer[:n]); err != nil {
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		plain(server, secure, make([]byte, 32<<10))
		_ = server.Close()
	})
	plain(secure, server, buffer)
	_ = secure.Close()
	up.Wait()
}

func plain(to, from net.Conn, buffer []byte) {
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (t *TLS) tell(evidence string) {
	if t.told != nil {
		t.told(evidence)
	}
}

// authority signs certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "interlock stage"},
		NotBefore: now.Add(-72 * time.Hour), NotAfter: now.Add(72 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{key: key, cert: cert}, err
}

func (a *authority) leaf(end time.Time, ip net.IP) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "stand-in"},
		NotBefore: end.Add(-48 * time.Hour), NotAfter: end, IPAddresses: []net.IP{ip},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
