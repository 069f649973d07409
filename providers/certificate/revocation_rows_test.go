package certificate_test

import (
	"os"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestF26Revocations(t *testing.T) {
	setup := func(t *testing.T) (*world, *certificate.Signer) {
		w := newWorld(t)
		revoker := key(t)
		w.trust(func(tr *certificate.Trust) {
			tr.Revocations = &certificate.RevocationSource{File: certificate.RevocationsFile, Key: revoker.Public()}
		})
		return w, revoker
	}
	list := certificate.RevocationList{Serial: 4, Issued: at(-time.Hour), Expires: at(time.Hour)}
	write := func(t *testing.T, l certificate.RevocationList, k *certificate.Signer) []byte {
		data, err := certificate.SignRevocations(l, k)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	t.Run("good and empty", func(t *testing.T) {
		w, k := setup(t)
		w.evidence.Revocations = write(t, list, k)
		w.expect(0, "")
		if s := certificate.NewGate(w.evidence).Seen(noon); s.Revocations != 4 {
			t.Errorf("remembered %d", s.Revocations)
		}
	})
	t.Run("missing", func(t *testing.T) {
		w, _ := setup(t)
		w.evidence.RevocationsErr = os.ErrNotExist
		w.expect(16, "revocation list")
	})
	t.Run("empty file", func(t *testing.T) {
		w, _ := setup(t)
		w.expect(16, "revocation list")
	})
	t.Run("expired", func(t *testing.T) {
		w, k := setup(t)
		l := list
		l.Expires = at(0)
		w.evidence.Revocations = write(t, l, k)
		w.expect(16, "expired")
	})
	t.Run("from the future", func(t *testing.T) {
		w, k := setup(t)
		l := list
		l.Issued = at(time.Second)
		w.evidence.Revocations = write(t, l, k)
		w.expect(16, "future")
	})
	t.Run("older than the one seen", func(t *testing.T) {
		w, k := setup(t)
		w.evidence.Seen.Revocations = 5
		w.evidence.Revocations = write(t, list, k)
		w.expect(16, "older")
	})
	t.Run("signed by a certificate key", func(t *testing.T) {
		w, _ := setup(t)
		w.evidence.Revocations = write(t, list, w.key)
		w.expect(16, "not signed")
	})
	t.Run("a certificate in the place of the list", func(t *testing.T) {
		w, k := setup(t)
		w.evidence.Revocations = sign(t, w.statement, k)
		w.expect(16, "payload type")
	})
	t.Run("one key for both is refused by the trust file", func(t *testing.T) {
		w, _ := setup(t)
		tr := *w.evidence.Trust
		tr.Revocations = &certificate.RevocationSource{File: "x", Key: w.key.Public()}
		if _, err := certificate.ReadTrust(tr.Write()); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("revokes this certificate", func(t *testing.T) {
		w, k := setup(t)
		digest := w.ask().Certificate
		l := list
		l.Revoked = []certificate.Revoked{{Statement: digest, Reason: "wrong fixtures"}}
		w.evidence.Revocations = write(t, l, k)
		w.expect(16, "wrong fixtures")
	})
	t.Run("revokes another certificate", func(t *testing.T) {
		w, k := setup(t)
		l := list
		l.Revoked = []certificate.Revoked{{Statement: certificate.Hash([]byte("x")), Reason: "r"}}
		w.evidence.Revocations = write(t, l, k)
		w.expect(0, "")
	})
	t.Run("revokes the key", func(t *testing.T) {
		w, k := setup(t)
		public := w.key.Public()
		l := list
		l.Revoked = []certificate.Revoked{{Key: &public, Reason: "laptop stolen"}}
		w.evidence.Revocations = write(t, l, k)
		w.expect(16, "laptop stolen")
	})
	t.Run("revoked in the trust file itself", func(t *testing.T) {
		w := newWorld(t)
		digest := w.ask().Certificate
		w.trust(func(tr *certificate.Trust) { tr.Revoked = []certificate.Revoked{{Statement: digest, Reason: "no"}} })
		w.expect(16, "")
	})
}
