package certificate

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// entry is one certificate file after everything that does not depend on the
// question: form, signatures, issuers. It either has a statement that may be
// believed to be the issuer's, or one reason why not.
type entry struct {
	file      string
	profile   string // claimed; proved only when denied is nil
	contract  string // id@version, likewise
	digest    string // of the signed bytes
	statement *Statement
	keys      []PublicKey // that signed and may sign
	exposed   bool        // every key that would count is compromised
	denied    *Reason
}

// sequence is what serials are counted by: a new key starts its own.
func (e *entry) sequence() string {
	ids := make([]string, len(e.keys))
	for i, k := range e.keys {
		ids[i] = k.ID()
	}
	slices.Sort(ids)
	return strings.Join(ids, "+") + " " + e.profile + " " + e.contract
}

func load(f File, t *Trust) *entry {
	e := &entry{file: f.Name}
	deny := func(code Code, format string, args ...any) *entry {
		r := because(code, "certificate file %q: "+format, append([]any{e.file}, args...)...)
		e.denied = &r
		return e
	}
	if f.Err != nil {
		return deny(Unreadable, "%v", f.Err)
	}
	envelope, err := ReadEnvelope(f.Data)
	if errors.Is(err, ErrUnreadable) {
		return deny(Unreadable, "%v", err)
	} else if err != nil {
		e.claim(roughPayload(f.Data))
		return deny(BadEnvelope, "%v", err)
	}
	e.claim(envelope.Payload)
	e.digest = Hash(envelope.Payload)
	if envelope.PayloadType != PayloadType {
		return deny(BadSignature, "payload type is %.60q, not %s", envelope.PayloadType, PayloadType)
	}
	if len(envelope.Signatures) == 0 {
		return deny(BadSignature, "it is not signed")
	}
	var signed []PublicKey
	for _, k := range t.keys() {
		if envelope.signedBy(k) {
			signed = append(signed, k)
		}
	}
	if len(signed) == 0 {
		return deny(BadSignature, "no signature of a trusted key fits its bytes; it was changed after signing, or signed by somebody else")
	}
	s, code, err := readStatement(envelope.Payload)
	if err != nil {
		return deny(code, "%v", err)
	}
	e.statement, e.profile, e.contract = s, s.Predicate.Profile, s.Predicate.Contract
	if r := e.issuers(t, signed); r != nil {
		e.denied = r
		return e
	}
	if err := s.sound(t); err != nil {
		return deny(BadStatement, "%v", err)
	}
	return e
}

// issuers keeps the keys that may sign this statement, and says what is wrong
// when they are too few.
func (e *entry) issuers(t *Trust, signed []PublicKey) *Reason {
	deny := func(code Code, format string, args ...any) *Reason {
		r := because(code, "certificate file %q: "+format, append([]any{e.file}, args...)...)
		return &r
	}
	id, _ := version(e.contract)
	var exposed, late []string
	for _, k := range signed {
		i := t.issuer(k, e.profile, id)
		switch {
		case i == nil:
		case i.Status == Compromised:
			exposed = append(exposed, i.Name)
		case !i.Until.IsZero() && e.statement.Predicate.NotBefore.After(i.Until.Time):
			late = append(late, i.Name)
		default:
			e.keys = append(e.keys, k)
		}
	}
	switch {
	case len(e.keys) >= t.Threshold:
		return nil
	case len(exposed) > 0:
		e.exposed = true
		return deny(IsRevoked, "the key of issuer %.60q is compromised: nothing that it signed stands", exposed[0])
	case len(late) > 0:
		return deny(WrongIssuer, "it was signed after the key of issuer %.60q was retired", late[0])
	case len(e.keys) > 0:
		return deny(BadSignature, "signed by %d trusted key(s), %d different ones are required", len(e.keys), t.Threshold)
	}
	return deny(WrongIssuer, "the key that signed it may not sign for provider %.60q and contract %.60q", e.profile, id)
}

// claim reads whom a payload says it is about, for messages and for choosing
// among files. Nothing else may rest on it.
func (e *entry) claim(payload []byte) {
	var c struct {
		Predicate struct {
			Profile  string `json:"profile"`
			Contract string `json:"contract"`
		} `json:"predicate"`
	}
	_ = json.Unmarshal(payload, &c)
	e.profile, e.contract = c.Predicate.Profile, c.Predicate.Contract
}

func roughPayload(data []byte) []byte {
	var w struct {
		Payload []byte `json:"payload"`
	}
	_ = json.Unmarshal(data, &w)
	return w.Payload
}

// readStatement reads the signed bytes; the code says what kind of wrong they
// are.
func readStatement(payload []byte) (*Statement, Code, error) {
	if err := strictjson.Check(payload, strictjson.Limits{MaxBytes: MaxBytes}); err != nil {
		return nil, BadStatement, err
	}
	var kind struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
	}
	if err := json.Unmarshal(payload, &kind); err != nil {
		return nil, BadStatement, errors.New("the signed bytes are no statement")
	}
	if kind.Type != StatementType {
		return nil, BadStatement, errors.New("the signed bytes are no in-toto statement of version 1")
	}
	if kind.PredicateType != PredicateType {
		return nil, WrongPredicate, errors.New("it states " + shown(kind.PredicateType) + ", this program knows " + PredicateType)
	}
	var s Statement
	if err := readExact(payload, &s); err != nil {
		return nil, BadStatement, err
	}
	return &s, "", nil
}

var (
	hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)
	idVersion = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,63}@[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,64}$`)
)

// sound checks what every statement of an honest issuer has.
func (s *Statement) sound(t *Trust) error {
	p := s.Predicate
	life := p.NotAfter.Sub(p.NotBefore.Time)
	switch {
	case p.Serial < 1:
		return errors.New("its serial is not positive")
	case life <= 0:
		return errors.New("notAfter is not after notBefore")
	case life > t.maxLife:
		return errors.New("it lives longer than " + t.maxLife.String())
	case p.Mode != Live && p.Mode != Replay:
		return errors.New("its mode is neither live nor replay")
	case !idVersion.MatchString(p.Contract):
		return errors.New("its contract is not of the form id@1.2.3")
	case p.Ended.Before(p.Started.Time):
		return errors.New("the run ended before it began")
	}
	for kind, name := range map[string]string{
		SubjectProfile: p.Profile, SubjectContract: p.Contract, SubjectFixtures: "", SubjectTranscripts: "",
	} {
		if !hexDigest.MatchString(s.subject(kind, name)) {
			return errors.New("it does not bind exactly one " + kind)
		}
	}
	return nil
}

func shown(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "..."
	}
	return "\"" + strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return '?'
		}
		return r
	}, s) + "\""
}
