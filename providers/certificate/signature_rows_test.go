package certificate_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestF03ToF10Signatures(t *testing.T) {
	const pt = certificate.PayloadType
	t.Run("F03 no signatures", func(t *testing.T) {
		w := newWorld(t)
		payload, _, _ := w.parts()
		w.file(envelope(pt, payload))
		w.expect(13, "not signed")
	})
	t.Run("F04 two signatures by one key where two keys are required", func(t *testing.T) {
		w := newWorld(t)
		w.trust(func(tr *certificate.Trust) { tr.Threshold = 2 })
		w.file(sign(t, w.statement, w.key, w.key))
		w.expect(13, "2 different")
	})
	t.Run("F04 counter-proof: two keys are enough", func(t *testing.T) {
		w := newWorld(t)
		second := key(t)
		w.trust(func(tr *certificate.Trust) {
			tr.Threshold = 2
			tr.Issuers = append(tr.Issuers, certificate.Issuer{Name: "vendor", Key: second.Public(), Providers: []string{"anthropic-demo"}, Contracts: []string{"*"}})
		})
		both, err := certificate.CoSign(sign(t, w.statement, w.key), second)
		if err != nil {
			t.Fatal(err)
		}
		w.file(both)
		w.expect(0, "")
	})
	t.Run("F05 one key under two names", func(t *testing.T) {
		w := newWorld(t)
		w.trust(func(tr *certificate.Trust) {
			tr.Threshold = 2
			again := tr.Issuers[0]
			again.Name = "ci-2"
			tr.Issuers = append(tr.Issuers, again)
		})
		payload, keyid, sig := w.parts()
		w.file(envelope(pt, payload, [2]string{keyid, sig}, [2]string{pkixID(w.key.Public()), sig}))
		w.expect(13, "")
	})
	t.Run("F06 key id of a trusted key, signature of a stranger", func(t *testing.T) {
		w := newWorld(t)
		payload, keyid, _ := w.parts()
		stranger := newWorld(t)
		stranger.statement = w.statement
		_, _, sig := stranger.parts()
		w.file(envelope(pt, payload, [2]string{keyid, sig}))
		w.expect(13, "")
	})
	t.Run("F06 key id of a trusted key, signature of another trusted key", func(t *testing.T) {
		w := newWorld(t)
		second := newWorld(t)
		second.statement = w.statement
		w.trust(func(tr *certificate.Trust) {
			tr.Issuers = append(tr.Issuers, certificate.Issuer{Name: "b", Key: second.key.Public(), Providers: []string{"*"}, Contracts: []string{"*"}})
		})
		payload, keyid, _ := w.parts()
		_, _, sig := second.parts()
		w.file(envelope(pt, payload, [2]string{keyid, sig}))
		w.expect(13, "")
	})
	t.Run("F07 no key id", func(t *testing.T) {
		w := newWorld(t)
		payload, _, sig := w.parts()
		w.file(envelope(pt, payload, [2]string{"", sig}))
		w.expect(0, "")
	})
	t.Run("F08 first signature broken, second good", func(t *testing.T) {
		w := newWorld(t)
		payload, keyid, sig := w.parts()
		w.file(envelope(pt, payload, [2]string{"", base64.StdEncoding.EncodeToString(make([]byte, 64))}, [2]string{keyid, sig}))
		w.expect(0, "")
	})
	for _, other := range []string{"application/json", "application/vnd.in-toto+JSON", "Application/vnd.in-toto+json", ""} {
		t.Run("F09 payload type "+other, func(t *testing.T) {
			w := newWorld(t)
			payload, keyid, sig := w.parts()
			w.file(envelope(other, payload, [2]string{keyid, sig}))
			w.expect(13, "payload type")
		})
		t.Run("F09 signed as payload type "+other, func(t *testing.T) {
			w := newWorld(t)
			payload, _, _ := w.parts()
			data, _ := certificate.SignPayload(other, payload, w.key)
			w.file(data)
			w.expect(13, "payload type")
		})
	}
	t.Run("F10 bare bytes signed", func(t *testing.T) {
		public, private, _ := ed25519.GenerateKey(nil)
		w := newWorld(t)
		w.trust(func(tr *certificate.Trust) { tr.Issuers[0].Key = certificate.PublicKey(public) })
		payload, _, _ := w.parts()
		w.file(envelope(pt, payload, [2]string{"", base64.StdEncoding.EncodeToString(ed25519.Sign(private, payload))}))
		w.expect(13, "")
	})
}

// pkixID is the other id under which a key may be named.
func pkixID(k certificate.PublicKey) string {
	der, _ := x509.MarshalPKIXPublicKey(ed25519.PublicKey(k[:]))
	return certificate.Hash(der)
}

func TestF41MalleatedSignaturesAndWeakKeys(t *testing.T) {
	w := newWorld(t)
	payload, keyid, text := w.parts()
	sig, _ := base64.StdEncoding.DecodeString(text)
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := slices.Clone(sig[32:])
	slices.Reverse(s)
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	w.file(envelope(certificate.PayloadType, payload, [2]string{keyid, base64.StdEncoding.EncodeToString(append(slices.Clone(sig[:32]), sum...))}))
	w.expect(13, "")

	for _, weak := range []string{
		strings.Repeat("00", 32), "01" + strings.Repeat("00", 31), strings.Repeat("00", 31) + "80",
		"ec" + strings.Repeat("ff", 30) + "7f", "ed" + strings.Repeat("ff", 30) + "ff", "ee" + strings.Repeat("ff", 30) + "7f",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	} {
		var raw []byte
		if _, err := fmt.Sscanf(weak, "%x", &raw); err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.ParsePublicKey("ed25519:" + base64.StdEncoding.EncodeToString(raw)); err == nil {
			t.Errorf("took the weak key %s", weak)
		}
		if !forgeable(raw) {
			t.Errorf("%s is no weak key: the list is wrong", weak)
		}
	}
}

// forgeable tells whether somebody without a private key can sign some message
// under this public key: with S = 0, for a point of small order in R.
func forgeable(public []byte) bool {
	points := [][]byte{public, append([]byte{1}, make([]byte, 31)...)}
	for i := range 64 {
		for _, r := range points {
			if ed25519.Verify(public, []byte{byte(i)}, append(slices.Clone(r), make([]byte, 32)...)) {
				return true
			}
		}
	}
	return false
}
