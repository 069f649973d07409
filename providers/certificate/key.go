package certificate

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// PublicKey is an ed25519 public key. Its text form is "ed25519:" and the bytes
// in base64.
type PublicKey [ed25519.PublicKeySize]byte

const keyPrefix = "ed25519:"

// String is the text form, as it stands in a trust file.
func (k PublicKey) String() string { return keyPrefix + base64.StdEncoding.EncodeToString(k[:]) }

// ID is the key id that our signatures carry: the SSH fingerprint of the key, as
// other DSSE tools write it. It is a hint, never a proof.
func (k PublicKey) ID() string {
	blob := []byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20")
	sum := sha256.Sum256(append(blob, k[:]...))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// named tells whether a key id may stand for the key: none at all, its SSH
// fingerprint, or the SHA-256 of its PKIX form in hex.
func (k PublicKey) named(id string) bool {
	if id == "" || id == k.ID() {
		return true
	}
	der, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(k[:]))
	return err == nil && id == Hash(der)
}

// ParsePublicKey reads the text form. It refuses keys for which signatures can
// be made without a private key.
func ParsePublicKey(s string) (PublicKey, error) {
	var k PublicKey
	text, ok := strings.CutPrefix(s, keyPrefix)
	if !ok {
		return k, fmt.Errorf("public key %.20q... does not begin with %q", s, keyPrefix)
	}
	data, err := decodeBase64(text)
	if err != nil || len(data) != len(k) {
		return k, fmt.Errorf("public key is not %d bytes of base64", len(k))
	}
	copy(k[:], data)
	if k.weak() {
		return k, errors.New("public key is one of the weak points of the curve")
	}
	return k, nil
}

// UnmarshalText reads the text form.
func (k *PublicKey) UnmarshalText(text []byte) (err error) {
	*k, err = ParsePublicKey(string(text))
	return err
}

// MarshalText writes the text form.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// weakY are the y coordinates, little-endian, of the points of small order and
// their encodings above the prime.
var weakY = [][]byte{
	append([]byte{0}, make([]byte, 31)...),
	append([]byte{1}, make([]byte, 31)...),
	unhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
	unhex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
	unhex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
	unhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
	unhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
}

func unhex(constant string) []byte {
	data, err := hex.DecodeString(constant)
	if err != nil {
		panic(err)
	}
	return data
}

func (k PublicKey) weak() bool {
	k[31] &= 0x7f // the sign of x
	for _, y := range weakY {
		if bytes.Equal(k[:], y) {
			return true
		}
	}
	return false
}

// Signer is a private key.
type Signer struct{ private ed25519.PrivateKey }

// NewSigner makes a key.
func NewSigner() (*Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return &Signer{private}, err
}

// Public is the key by which its signatures are checked.
func (s *Signer) Public() PublicKey {
	return PublicKey(s.private.Public().(ed25519.PublicKey))
}

// WriteKeyFile stores a private key as PEM (PKCS #8), readable by its owner
// only. It never replaces a file: the error is then fs.ErrExist.
func WriteKeyFile(path string, s *Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(s.private)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return errors.Join(err, f.Sync(), f.Close())
}

// KeyFileError says what is wrong with a key file. It shows nothing of the key.
type KeyFileError struct{ Path, Fault, Remedy string }

func (e *KeyFileError) Error() string {
	return fmt.Sprintf("key file %q: %s", e.Path, e.Fault)
}

// ReadKeyFile reads a private key. Anything but one ed25519 key in a regular
// file of mode 0600 (or stricter) is a *KeyFileError; a missing file is
// fs.ErrNotExist.
func ReadKeyFile(path string) (*Signer, error) {
	bad := func(fault, remedy string) error { return &KeyFileError{path, fault, remedy} }
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("key file %q: %w", path, fs.ErrNotExist)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, bad("is not a regular file", "")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, bad(fmt.Sprintf("mode %04o lets others read it", mode), "chmod 600 "+path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bad("cannot be opened", "")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 16<<10))
	if err != nil {
		return nil, bad("cannot be read", "")
	}
	block, rest := pem.Decode(data)
	switch {
	case block == nil:
		return nil, bad("holds no PEM block", "interlock key new FILE")
	case len(bytes.TrimSpace(rest)) != 0:
		return nil, bad("holds more than one PEM block", "")
	case strings.Contains(block.Type, "PUBLIC"):
		return nil, bad("holds a public key where the private one is meant", "")
	case block.Type != "PRIVATE KEY":
		return nil, bad("is not a PKCS #8 private key", "interlock key new FILE")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, bad("is not a PKCS #8 private key", "interlock key new FILE")
	}
	private, ok := parsed.(ed25519.PrivateKey)
	switch {
	case !ok:
		return nil, bad("is a key of another algorithm than ed25519", "interlock key new FILE")
	case bytes.Equal(private.Seed(), make([]byte, ed25519.SeedSize)):
		return nil, bad("is a key of zero bytes only", "interlock key new FILE")
	}
	return &Signer{private}, nil
}
