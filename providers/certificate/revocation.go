package certificate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// RevocationType is the payload type of a revocation list.
const RevocationType = "application/vnd.interlock.revocations+json"

// RevocationList takes certificates and keys back. It is published again and
// again, also when nothing changes: an old list hides what was revoked since.
type RevocationList struct {
	Serial  int64     `json:"serial"`
	Issued  Time      `json:"issued"`
	Expires Time      `json:"expires"`
	Revoked []Revoked `json:"revoked"`
}

// Revoked is one entry: a certificate by the digest of its statement, or all
// certificates of a key.
type Revoked struct {
	Statement string     `json:"statement,omitempty"`
	Key       *PublicKey `json:"key,omitempty"`
	Reason    string     `json:"reason"`
}

// SignRevocations renders a list.
func SignRevocations(l RevocationList, s *Signer) ([]byte, error) {
	if l.Revoked == nil {
		l.Revoked = []Revoked{}
	}
	payload, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return SignPayload(RevocationType, payload, s)
}

// readRevocations reads the list that a trust file asks for, at a time, knowing
// the highest serial seen before.
func readRevocations(data []byte, key PublicKey, now time.Time, seen int64) (*RevocationList, error) {
	e, err := ReadEnvelope(data)
	if err != nil {
		return nil, err
	}
	if e.PayloadType != RevocationType {
		return nil, fmt.Errorf("payload type %.60q", e.PayloadType)
	}
	if !e.signedBy(key) {
		return nil, errors.New("not signed by the key that the trust file names")
	}
	var l RevocationList
	if err := readExact(e.Payload, &l); err != nil {
		return nil, err
	}
	switch {
	case l.Serial < seen:
		return nil, fmt.Errorf("its serial %d is older than %d, which was seen before", l.Serial, seen)
	case now.Before(l.Issued.Time):
		return nil, fmt.Errorf("issued in the future, %s", l.Issued)
	case !now.Before(l.Expires.Time):
		return nil, fmt.Errorf("expired %s", l.Expires)
	}
	return &l, nil
}

// takesBack returns the reason for which a list of entries takes back a
// certificate, and whether it does.
func takesBack(list []Revoked, statement string, keys []PublicKey) (string, bool) {
	for _, r := range list {
		if r.Statement != "" && r.Statement == statement {
			return r.Reason, true
		}
		for _, k := range keys {
			if r.Key != nil && *r.Key == k {
				return r.Reason, true
			}
		}
	}
	return "", false
}
