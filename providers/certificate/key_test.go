package certificate_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestKeyFilesComeBackAsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "issuer.key")
	k := key(t)
	if err := certificate.WriteKeyFile(path, k); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", err, info.Mode())
	}
	again, err := certificate.ReadKeyFile(path)
	if err != nil || again.Public() != k.Public() {
		t.Fatalf("%v", err)
	}
	if err := certificate.WriteKeyFile(path, key(t)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("replaced a key: %v", err)
	}
	public, err := certificate.ParsePublicKey(k.Public().String())
	if err != nil || public != k.Public() {
		t.Errorf("%v", err)
	}
	if _, err := certificate.ReadKeyFile(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestF40BadKeyFilesAreNamedAndNotShown(t *testing.T) {
	_, private, _ := ed25519.GenerateKey(nil)
	encode := func(kind string, key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	good := encode("PRIVATE KEY", private)
	other, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	public, _ := x509.MarshalPKIXPublicKey(private.Public())
	cases := []struct {
		name string
		data []byte
		mode os.FileMode
		want string
	}{
		{"mode 0644", good, 0o644, "mode 0644"},
		{"mode 0640", good, 0o640, "mode 0640"},
		{"another algorithm", encode("PRIVATE KEY", other), 0o600, "another algorithm"},
		{"zero bytes", encode("PRIVATE KEY", ed25519.NewKeyFromSeed(make([]byte, 32))), 0o600, "zero bytes"},
		{"public key", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600, "public key where the private"},
		{"two blocks", append(append([]byte{}, good...), good...), 0o600, "more than one"},
		{"another kind of block", encode("OPENSSH PRIVATE KEY", private), 0o600, "PKCS #8"},
		{"damaged", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}), 0o600, "PKCS #8"},
		{"no PEM", []byte("secret-secret-secret"), 0o600, "no PEM"},
		{"empty", nil, 0o600, "no PEM"},
	}
	for _, c := range cases {
		path := filepath.Join(t.TempDir(), "k")
		if err := os.WriteFile(path, c.data, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := certificate.ReadKeyFile(path)
		var bad *certificate.KeyFileError
		if !errors.As(err, &bad) || !strings.Contains(bad.Fault, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, line := range strings.Split(string(c.data), "\n") {
			if len(line) > 8 && err != nil && strings.Contains(err.Error(), line) {
				t.Errorf("%s: the message shows the file: %v", c.name, err)
			}
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(link+".target", link); err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.ReadKeyFile(link); err == nil {
		t.Error("followed a link")
	}
}
