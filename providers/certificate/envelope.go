package certificate

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Envelope is a DSSE envelope as it was read: the payload decoded, the
// signatures not yet believed.
type Envelope struct {
	PayloadType string
	Payload     []byte
	Signatures  []Signature
}

// Signature is one signature over the envelope. KeyID is a hint that anybody
// may have written.
type Signature struct {
	KeyID string
	Sig   []byte
}

// ErrUnreadable is the error of a file that holds no envelope at all. Any other
// error of ReadEnvelope is an envelope that was tampered with or is not of the
// strict form.
var ErrUnreadable = errors.New("not an envelope")

type wireEnvelope struct {
	PayloadType string          `json:"payloadType"`
	Payload     string          `json:"payload"`
	Signatures  []wireSignature `json:"signatures"`
}

type wireSignature struct {
	KeyID string `json:"keyid,omitempty"`
	Sig   string `json:"sig"`
}

// ReadEnvelope reads one DSSE envelope and nothing else. Stricter than the
// specification's own libraries: one document, no repeated or unknown names, no
// letter case folding, at most MaxBytes; base64 of either alphabet without line
// breaks and without bits behind its end.
func ReadEnvelope(data []byte) (*Envelope, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrUnreadable, MaxBytes)
	}
	if err := looksLikeEnvelope(data); err != nil {
		return nil, err
	}
	var w wireEnvelope
	if err := readExact(data, &w); err != nil {
		return nil, err
	}
	e := &Envelope{PayloadType: w.PayloadType}
	var err error
	if e.Payload, err = decodeBase64(w.Payload); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	for i, s := range w.Signatures {
		sig, err := decodeBase64(s.Sig)
		if err != nil {
			return nil, fmt.Errorf("signature %d: %w", i+1, err)
		}
		e.Signatures = append(e.Signatures, Signature{KeyID: s.KeyID, Sig: sig})
	}
	return e, nil
}

// looksLikeEnvelope tells a damaged envelope from something else altogether.
func looksLikeEnvelope(data []byte) error {
	var bad *strictjson.Error
	if err := strictjson.Check(data, strictjson.Limits{MaxBytes: MaxBytes}); errors.As(err, &bad) {
		switch bad.Kind {
		case strictjson.KindTrailing, strictjson.KindDuplicateKey: // an envelope and more
			return err
		}
		return fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	var names map[string]json.RawMessage
	if json.Unmarshal(data, &names) != nil || names == nil {
		return fmt.Errorf("%w: no JSON object", ErrUnreadable)
	}
	for name := range names {
		if bytes.EqualFold([]byte(name), []byte("payload")) || bytes.EqualFold([]byte(name), []byte("signatures")) {
			return nil
		}
	}
	return fmt.Errorf("%w: neither payload nor signatures", ErrUnreadable)
}

var alphabets = []*base64.Encoding{
	base64.StdEncoding.Strict(), base64.URLEncoding.Strict(),
	base64.RawStdEncoding.Strict(), base64.RawURLEncoding.Strict(),
}

func decodeBase64(s string) ([]byte, error) {
	if bytes.ContainsAny([]byte(s), "\r\n") { // the decoder would skip them
		return nil, errors.New("base64 with line breaks")
	}
	for _, a := range alphabets {
		if data, err := a.DecodeString(s); err == nil {
			return data, nil
		}
	}
	return nil, errors.New("not base64 of the strict form")
}

// preAuth is the DSSE pre-authentication encoding: what a signature is over.
func preAuth(payloadType string, payload []byte) []byte {
	b := make([]byte, 0, len(payloadType)+len(payload)+48)
	b = append(b, "DSSEv1 "...)
	b = strconv.AppendInt(b, int64(len(payloadType)), 10)
	b = append(b, ' ')
	b = append(b, payloadType...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	b = append(b, ' ')
	return append(b, payload...)
}

// write renders an envelope, indented for people.
func (e *Envelope) write() ([]byte, error) {
	w := wireEnvelope{PayloadType: e.PayloadType, Payload: base64.StdEncoding.EncodeToString(e.Payload), Signatures: []wireSignature{}}
	for _, s := range e.Signatures {
		w.Signatures = append(w.Signatures, wireSignature{KeyID: s.KeyID, Sig: base64.StdEncoding.EncodeToString(s.Sig)})
	}
	data, err := json.MarshalIndent(w, "", "  ")
	return append(data, '\n'), err
}
