package certificate

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Time is a second in UTC. Its only text form is YYYY-MM-DDThh:mm:ssZ.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05Z"

// At is t, cut to its second.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Second)} }

// ParseTime reads the one form and nothing else: no fraction, no offset, no
// short hour, no lower-case letter (time.RFC3339 accepts some of them), and
// years from 2000 to 2199.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(timeLayout, s)
	if err != nil || t.Format(timeLayout) != s {
		return Time{}, fmt.Errorf("time %.40q is not of the form YYYY-MM-DDThh:mm:ssZ", s)
	}
	if y := t.Year(); y < 2000 || y > 2199 {
		return Time{}, fmt.Errorf("time %.40q is outside the years 2000 to 2199", s)
	}
	return Time{t}, nil
}

// String is the one text form.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// MarshalJSON writes the one text form.
func (t Time) MarshalJSON() ([]byte, error) {
	if y := t.UTC().Year(); y < 2000 || y > 2199 {
		return nil, errors.New("time outside the years 2000 to 2199")
	}
	return strconv.AppendQuote(nil, t.String()), nil
}

// UnmarshalJSON reads the one text form.
func (t *Time) UnmarshalJSON(data []byte) error {
	s, err := strconv.Unquote(string(data))
	if err != nil {
		return fmt.Errorf("time %.40s is not a string", data)
	}
	*t, err = ParseTime(s)
	return err
}
