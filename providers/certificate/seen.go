package certificate

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// Seen is what a gate remembers from one question to the next, so that an older
// certificate cannot be put in the place of a newer one. Whoever keeps it: the
// command line in a file, the service in its database.
type Seen struct {
	// Serials are the highest by sequence: keys, profile and contract@version.
	Serials map[string]int64 `json:"serials"`
	// Newest is the latest beginning of a certificate: no clock may stand before.
	Newest Time `json:"newest,omitzero"`
	// Revocations is the highest serial of a revocation list.
	Revocations int64 `json:"revocations"`
}

// ReadSeen reads what Write wrote.
func ReadSeen(data []byte) (*Seen, error) {
	s := Seen{}
	if err := readExact(data, &s); err != nil {
		return nil, fmt.Errorf("gate state: %w", err)
	}
	return &s, nil
}

// Write renders the state for keeping.
func (s *Seen) Write() []byte {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("certificate: " + err.Error())
	}
	return append(data, '\n')
}

// Equal tells whether there is nothing new to keep.
func (s *Seen) Equal(t *Seen) bool {
	return s != nil && t != nil && maps.Equal(s.Serials, t.Serials) && s.Newest.Equal(t.Newest.Time) && s.Revocations == t.Revocations
}

func (s *Seen) clone() *Seen {
	c := &Seen{Serials: map[string]int64{}}
	if s != nil {
		c.Newest, c.Revocations = s.Newest, s.Revocations
		maps.Copy(c.Serials, s.Serials)
	}
	return c
}

func (s *Seen) note(sequence string, serial int64, begins time.Time) {
	if serial > s.Serials[sequence] {
		s.Serials[sequence] = serial
	}
	if begins.After(s.Newest.Time) {
		s.Newest = At(begins)
	}
}
