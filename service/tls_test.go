package service_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// selfSigned makes a certificate for 127.0.0.1 and its private key, in PEM.
func selfSigned(t *testing.T) (certificate, private string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}))
}

// TestServeSpeaksTLSWithItsDatabase has a server that shows a certificate: the
// service goes by the URL, and does not go on where the certificate is another's.
func TestServeSpeaksTLSWithItsDatabase(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*toCome)
	defer cancel()
	server, err := pgserver.Start(ctx, pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s := newSetting(t)
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	certificate, private := selfSigned(t)
	for name, text := range map[string]string{"server.crt": certificate, "server.key": private} { // into the folder of the data, by the server itself
		lines := "'" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "'), ('") + "'"
		if _, err := conn.Exec(ctx, "COPY (VALUES ("+lines+")) TO PROGRAM 'umask 077; cat > "+name+"'"); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{"ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	other, _ := selfSigned(t)
	with := func(authority string) []string {
		u, err := url.Parse(server.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		query.Set("sslmode", "verify-full")
		query.Set("sslrootcert", authority)
		u.RawQuery = query.Encode()
		return []string{"DATABASE_URL=" + u.String()}
	}
	trusted := with(s.write(t, "authority.pem", certificate))
	var code int
	var stderr string
	for begun := time.Now(); time.Since(begun) < toCome; { // until the server has read its settings anew
		if code, _, stderr = run(t, trusted, "migrate"); code == 0 {
			break
		}
	}
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	c := start(t, trusted, "--listen", "127.0.0.1:0", "--keys", s.path("keys"), "--allow-unsafe-database")
	if status, _, body := c.ask("GET", "/v1/jobs", ownerKey, ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	var all, encrypted int
	if err := conn.QueryRow(ctx, "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'interlock'").Scan(&all, &encrypted); err != nil {
		t.Fatal(err)
	}
	if all == 0 || encrypted != all {
		t.Errorf("%d of %d connections are encrypted", encrypted, all)
	}
	code, _, stderr = run(t, with(s.write(t, "other.pem", other)), "serve", "--listen", "127.0.0.1:0")
	if code != 3 || !strings.Contains(stderr, "cannot trust the certificate of database postgres at 127.0.0.1") || !strings.Contains(stderr, "sslrootcert") {
		t.Errorf("a certificate of somebody else: exit %d, %s", code, stderr)
	}
	plain := []string{"DATABASE_URL=" + strings.Replace(s.url, "sslmode=disable", "sslmode=require", 1)} // that of the other tests has none
	if code, _, stderr = run(t, plain, "serve", "--listen", "127.0.0.1:0"); code != 3 || !strings.Contains(stderr, "server refused TLS connection") {
		t.Errorf("a server without TLS: exit %d, %s", code, stderr)
	}
}

func TestServeSpeaksHTTPS(t *testing.T) {
	s := newSetting(t)
	text, private := selfSigned(t)
	certificate, privateKey := s.write(t, "tls.crt", text), s.write(t, "tls.key", private)
	c := s.start(t, "--tls-cert", certificate, "--tls-key", privateKey)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(text)) {
		t.Fatal("the certificate cannot be read")
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
