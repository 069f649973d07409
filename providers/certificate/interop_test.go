package certificate_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"testing"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/interlock-harness/interlock/providers/certificate"
)

// libraryKey is an ed25519 key as the DSSE library takes it.
type libraryKey struct {
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

func (k libraryKey) KeyID() (string, error)   { return "", nil } // the library then takes the SSH fingerprint
func (k libraryKey) Public() crypto.PublicKey { return k.public }
func (k libraryKey) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.private, data), nil
}
func (k libraryKey) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(k.public, data, sig) {
		return errors.New("no")
	}
	return nil
}

func TestTheDSSELibraryVerifiesOurCertificates(t *testing.T) {
	w := newWorld(t)
	public := w.key.Public()
	verifier, err := dsse.NewEnvelopeVerifier(libraryKey{public: public[:]})
	if err != nil {
		t.Fatal(err)
	}
	var e dsse.Envelope
	if err := json.Unmarshal(sign(t, w.statement, w.key), &e); err != nil {
		t.Fatal(err)
	}
	accepted, payload, err := verifier.VerifyAndDecode(t.Context(), &e)
	if err != nil || len(accepted) != 1 {
		t.Fatalf("%v %v", accepted, err)
	}
	var s intoto.Statement
	if err := protojson.Unmarshal(payload, &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	e.Signatures[0].Sig = e.Signatures[0].Sig[:10] + "A" + e.Signatures[0].Sig[11:]
	e.Payload = e.Payload[:100] + "A" + e.Payload[101:]
	if _, err := verifier.Verify(t.Context(), &e); err == nil {
		t.Error("the library takes anything: this test proves nothing")
	}
}

func TestOurGateTakesWhatTheDSSELibrarySigns(t *testing.T) {
	w := newWorld(t)
	payload := mustPayload(w)
	public, private, _ := ed25519.GenerateKey(nil)
	w.trust(func(tr *certificate.Trust) { tr.Issuers[0].Key = certificate.PublicKey(public) })
	signer, err := dsse.NewEnvelopeSigner(libraryKey{public, private})
	if err != nil {
		t.Fatal(err)
	}
	e, err := signer.SignPayload(t.Context(), certificate.PayloadType, payload)
	if err != nil {
		t.Fatal(err)
	}
	e.Signatures[0].KeyID = certificate.PublicKey(public).ID()
	data, _ := json.Marshal(e)
	w.file(data)
	w.expect(0, "")
}
