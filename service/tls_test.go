package service_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestServeSpeaksHTTPS(t *testing.T) {
	s := newSetting(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := s.write(t, "tls.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	privateKey := s.write(t, "tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})))
	c := s.start(t, "--tls-cert", certificate, "--tls-key", privateKey)
	roots := x509.NewCertPool()
	text, err := os.ReadFile(certificate)
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	client := http.Client{Transport: transport, Timeout: toCome}
	resp, err := client.Get(strings.Replace(c.URL, "http:", "https:", 1) + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.ProtoMajor != 1 || resp.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%d over %s", resp.StatusCode, resp.Proto)
	}
	if plain, err := http.Get(c.URL + "/livez"); err == nil {
		_ = plain.Body.Close()
		t.Errorf("plain HTTP is answered: %d", plain.StatusCode)
	}
	if code, _, stderr := run(t, s.env, "serve", "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", certificate); code != 64 || !strings.Contains(stderr, "--tls-cert") {
		t.Errorf("a wrong key: exit %d, %s", code, stderr)
	}
}
