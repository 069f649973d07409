package certificate

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
)

// Sign renders a statement and signs it with each key: the bytes of a
// certificate file. Lists that are nil stand in it as empty ones.
func Sign(s Statement, signers ...*Signer) ([]byte, error) {
	s.Predicate = s.Predicate.withoutNil()
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return SignPayload(PayloadType, payload, signers...)
}

func (p Predicate) withoutNil() Predicate {
	for _, list := range []*[]string{&p.Served, &p.Fingerprints, &p.Scope.Modes, &p.Scope.Languages} {
		if *list == nil {
			*list = []string{}
		}
	}
	for _, counts := range []*map[string]int{&p.Baseline.Structure, &p.Baseline.Finish, &p.Baseline.PromptSize} {
		if *counts == nil {
			*counts = map[string]int{}
		}
	}
	p.Checks = append([]Check{}, p.Checks...)
	for i := range p.Checks {
		if p.Checks[i].Evidence == nil {
			p.Checks[i].Evidence = []string{}
		}
	}
	return p
}

// SignPayload puts payload into an envelope, signed by each key.
func SignPayload(payloadType string, payload []byte, signers ...*Signer) ([]byte, error) {
	if len(signers) == 0 {
		return nil, errors.New("sign: no key")
	}
	e := &Envelope{PayloadType: payloadType, Payload: payload}
	for _, s := range signers {
		e.Signatures = append(e.Signatures, s.sign(payloadType, payload))
	}
	return e.write()
}

// CoSign adds a signature to an envelope, for example that of the vendor.
func CoSign(envelope []byte, s *Signer) ([]byte, error) {
	e, err := ReadEnvelope(envelope)
	if err != nil {
		return nil, err
	}
	e.Signatures = append(e.Signatures, s.sign(e.PayloadType, e.Payload))
	return e.write()
}

func (s *Signer) sign(payloadType string, payload []byte) Signature {
	return Signature{KeyID: s.Public().ID(), Sig: ed25519.Sign(s.private, preAuth(payloadType, payload))}
}

// signedBy tells whether key made one of the signatures. A signature with the id
// of something else is not tried: such an envelope was damaged, or put together
// by somebody who wants to be taken for a key that did not sign.
func (e *Envelope) signedBy(key PublicKey) bool {
	message := preAuth(e.PayloadType, e.Payload)
	for _, s := range e.Signatures {
		if key.named(s.KeyID) && len(s.Sig) == ed25519.SignatureSize && ed25519.Verify(key[:], message, s.Sig) {
			return true
		}
	}
	return false
}

// Verify reads the statement of a certificate that key has signed. It says nothing
// about whether that key may sign it, or whether the certificate is valid now: that
// is for the gate.
func Verify(envelope []byte, key PublicKey) (*Statement, error) {
	e, err := ReadEnvelope(envelope)
	if err != nil {
		return nil, err
	}
	if e.PayloadType != PayloadType || !e.signedBy(key) {
		return nil, errors.New("no signature of the key that is named fits its bytes")
	}
	s, _, err := readStatement(e.Payload)
	return s, err
}

// Bound is the digest of a subject; empty where the statement does not name it
// exactly once.
func (s Statement) Bound(name string) string { return s.subject(name, "") }
