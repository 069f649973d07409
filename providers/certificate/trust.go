package certificate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Trust says whom the gate believes, about what, and how far. It is a file that
// people write and review: DefaultTrust shows its form.
type Trust struct {
	Version int `json:"version"` // 1
	// Threshold is how many different keys must have signed; at least 1.
	Threshold int      `json:"threshold"`
	Issuers   []Issuer `json:"issuers"`
	// AcceptReplay names the providers for which a certificate made from
	// recordings is enough: demos and tests. There is no word for "all".
	AcceptReplay []string `json:"accept_replay,omitempty"`
	// MaxLife bounds notAfter - notBefore; default and upper bound 336h.
	MaxLife string `json:"max_life,omitempty"`
	// Skew is how far the clocks of issuer and gate may differ; default 0s.
	Skew string `json:"skew,omitempty"`
	// Revocations says that a signed revocation list must be there, and by whom.
	Revocations *RevocationSource `json:"revocations,omitempty"`
	// Revoked are certificates that this file itself takes back.
	Revoked []Revoked `json:"revoked,omitempty"`

	maxLife, skew time.Duration
}

// Issuer is one key and what it may sign.
type Issuer struct {
	Name      string    `json:"name"`
	Key       PublicKey `json:"key"`
	Providers []string  `json:"providers"` // profile names, or "*"
	Contracts []string  `json:"contracts"` // contract ids without version, or "*"
	Status    Status    `json:"status,omitempty"`
	// Until is the last moment at which a certificate of this key may begin;
	// required for a retired key.
	Until Time `json:"until,omitzero"`
}

// Status of a key.
type Status string

const (
	Active      Status = "active"      // the default
	Retired     Status = "retired"     // signs no more; what it signed before Until stands
	Compromised Status = "compromised" // nothing that it signed stands
)

// RevocationSource is a revocation list beside the trust file.
type RevocationSource struct {
	File string    `json:"file"`
	Key  PublicKey `json:"key"` // not the key of an issuer
}

const longestLife = 14 * 24 * time.Hour

// ReadTrust reads a trust file: one strict JSON object of the form of Trust.
func ReadTrust(data []byte) (*Trust, error) {
	var t Trust
	if err := readExact(data, &t); err != nil {
		return nil, fmt.Errorf("trust file: %w", err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("trust file: %w", err)
	}
	return &t, nil
}

func (t *Trust) check() error {
	if t.Version != 1 {
		return fmt.Errorf("version is %d, this program knows 1", t.Version)
	}
	if t.Threshold < 1 {
		return errors.New("threshold must be at least 1")
	}
	if slices.Contains(t.AcceptReplay, "*") {
		return errors.New(`accept_replay names providers one by one, "*" is refused`)
	}
	for i, issuer := range t.Issuers {
		if err := issuer.check(); err != nil {
			return fmt.Errorf("issuer %d (%.60q): %w", i+1, issuer.Name, err)
		}
		if t.Revocations != nil && t.Revocations.Key == issuer.Key {
			return fmt.Errorf("issuer %d (%.60q): its key also signs revocations; use two keys", i+1, issuer.Name)
		}
	}
	var err error
	if t.maxLife, err = duration(t.MaxLife, longestLife, longestLife); err != nil {
		return fmt.Errorf("max_life: %w", err)
	}
	if t.skew, err = duration(t.Skew, 0, 5*time.Minute); err != nil {
		return fmt.Errorf("skew: %w", err)
	}
	return nil
}

func (i Issuer) check() error {
	switch i.Status {
	case "", Active, Compromised:
	case Retired:
		if i.Until.IsZero() {
			return errors.New(`status retired needs "until"`)
		}
	default:
		return fmt.Errorf("status %.20q is none of active, retired, compromised", i.Status)
	}
	if i.Name == "" || len(i.Providers) == 0 || len(i.Contracts) == 0 {
		return errors.New("name, providers and contracts must not be empty")
	}
	return nil
}

func duration(s string, standard, most time.Duration) (time.Duration, error) {
	if s == "" {
		return standard, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > most {
		return 0, fmt.Errorf("%.20q is not a duration from 0s to %s", s, most)
	}
	return d, nil
}

// maySign tells whether the key may sign about a profile and a contract id.
func (i Issuer) maySign(profile, contract string) bool {
	return listed(i.Providers, profile) && listed(i.Contracts, contract)
}

func listed(list []string, name string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, name)
}

// keys are the distinct keys of all issuers.
func (t *Trust) keys() []PublicKey {
	var keys []PublicKey
	for _, i := range t.Issuers {
		if !slices.Contains(keys, i.Key) {
			keys = append(keys, i.Key)
		}
	}
	return keys
}

// issuer is the entry by which a key may sign, the first if there are several.
func (t *Trust) issuer(key PublicKey, profile, contract string) *Issuer {
	for n := range t.Issuers {
		if i := &t.Issuers[n]; i.Key == key && i.maySign(profile, contract) {
			return i
		}
	}
	return nil
}

// DefaultTrust believes one key about everything, and recordings for the
// providers that are named.
func DefaultTrust(issuer string, key PublicKey, replay ...string) *Trust {
	t := &Trust{
		Version: 1, Threshold: 1, AcceptReplay: replay,
		Issuers: []Issuer{{Name: issuer, Key: key, Providers: []string{"*"}, Contracts: []string{"*"}, Status: Active}},
	}
	if err := t.check(); err != nil {
		panic("certificate: " + err.Error())
	}
	return t
}

// Write renders a trust file.
func (t *Trust) Write() []byte {
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		panic("certificate: " + err.Error())
	}
	return append(data, '\n')
}
