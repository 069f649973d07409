package httpapi

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// fields reads one JSON object of a request field by field. Names match byte
// for byte; what is not asked for is refused by rest. The first fault stays.
type fields struct {
	at    string // JSON pointer of the object
	raw   map[string]json.RawMessage
	fault *refusal
}

// object opens raw, a strictly checked JSON text, as an object.
func object(raw []byte, at string) *fields {
	f := &fields{at: at}
	if err := json.Unmarshal(raw, &f.raw); err != nil || f.raw == nil {
		f.fault = &refusal{kind: paramsInvalid, pointer: at, detail: "an object is wanted"}
	}
	return f
}

func (f *fields) fail(name, detail string) {
	if f.fault == nil {
		f.fault = &refusal{kind: paramsInvalid, pointer: clip(f.at + strictjson.Pointer(name)), detail: detail}
	}
}

// take removes a field. Absent and null are both "not there" for its meaning;
// the fingerprint keeps them apart.
func (f *fields) take(name string) (json.RawMessage, bool) {
	v, ok := f.raw[name]
	delete(f.raw, name)
	if !ok || string(v) == "null" {
		return nil, false
	}
	return v, true
}

func (f *fields) text(name string, required bool, limit int) string {
	raw, ok := f.take(name)
	var s string
	switch {
	case !ok && !required:
		return ""
	case !ok || json.Unmarshal(raw, &s) != nil || s == "":
		f.fail(name, "a text that is not empty is wanted")
	case len(s) > limit:
		f.fail(name, "the text is too long")
	}
	return s
}

func (f *fields) flag(name string) bool {
	raw, ok := f.take(name)
	var b bool
	if ok && json.Unmarshal(raw, &b) != nil {
		f.fail(name, "true or false is wanted")
	}
	return b
}

// integer reads a whole number from low to high, however it is spelt (1000, 1e3).
func (f *fields) integer(name string, standard, low, high int64) int64 {
	raw, ok := f.take(name)
	if !ok {
		return standard
	}
	var n json.Number
	if raw[0] != '"' && json.Unmarshal(raw, &n) == nil {
		if r, ok := new(big.Rat).SetString(n.String()); ok && r.IsInt() && r.Num().IsInt64() {
			if v := r.Num().Int64(); v >= low && v <= high {
				return v
			}
		}
	}
	f.fail(name, "a whole number from "+big.NewInt(low).String()+" to "+big.NewInt(high).String()+" is wanted")
	return 0
}

// texts reads a list of at most limit texts.
func (f *fields) texts(name string, limit int) []string {
	raw, ok := f.take(name)
	var list []string
	if ok && (json.Unmarshal(raw, &list) != nil || list == nil || len(list) > limit || slices.Contains(list, "")) {
		f.fail(name, "a list of texts is wanted")
	}
	return list
}

// rest refuses what was not taken and returns the first fault.
func (f *fields) rest() error {
	if len(f.raw) > 0 && f.fault == nil {
		f.fail(slices.Min(slices.Collect(maps.Keys(f.raw))), "this field is not known here")
	}
	if f.fault != nil {
		return f.fault
	}
	return nil
}

// clip keeps a pointer that holds names of the client's to 64 printable bytes.
func clip(pointer string) string {
	pointer = strings.Trim(quoted(pointer), `"`)
	return pointer
}

// number checks that a field, where present, is a number from low to high.
func (f *fields) number(name string, low, high int64) {
	raw, ok := f.take(name)
	if !ok {
		return
	}
	var n json.Number
	if raw[0] != '"' && json.Unmarshal(raw, &n) == nil {
		r, ok := new(big.Rat).SetString(n.String())
		if ok && r.Cmp(big.NewRat(low, 1)) >= 0 && r.Cmp(big.NewRat(high, 1)) <= 0 {
			return
		}
	}
	f.fail(name, "a number from "+big.NewInt(low).String()+" to "+big.NewInt(high).String()+" is wanted")
}
