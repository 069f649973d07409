package invariant

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"sort"
	"strconv"
	"strings"
)

// digest returns a hash of the value that raw encodes: key order, spacing and
// the spelling of numbers (1.0 = 1 = 1e0) do not matter, null differs from
// absent, strings are not normalised. What is no JSON is hashed as it stands.
func digest(raw []byte) string {
	if len(bytes.TrimSpace(raw)) == 0 {
		return ""
	}
	var out bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		out.WriteString("raw:")
		out.Write(raw)
	} else {
		canonical(&out, v)
	}
	sum := sha256.Sum256(out.Bytes())
	return hex.EncodeToString(sum[:16])
}

func canonical(out *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		out.WriteByte('{')
		for _, k := range keys {
			out.WriteString(strconv.Quote(k))
			out.WriteByte(':')
			canonical(out, v[k])
			out.WriteByte(',')
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for _, e := range v {
			canonical(out, e)
			out.WriteByte(',')
		}
		out.WriteByte(']')
	case json.Number:
		out.WriteString(decimal(string(v)))
	case string:
		out.WriteString(strconv.Quote(v))
	case bool:
		out.WriteString(strconv.FormatBool(v))
	default:
		out.WriteString("null")
	}
}

// decimal writes a JSON number as digits and an exponent, exactly and without
// binary floats. An exponent beyond nine digits is kept as it is spelled.
func decimal(n string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n), "e")
	sign := ""
	if rest, ok := strings.CutPrefix(mantissa, "-"); ok {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp := new(big.Int)
	if exponent != "" {
		if _, ok := exp.SetString(strings.TrimPrefix(exponent, "+"), 10); !ok {
			return n
		}
	}
	exp.Sub(exp, big.NewInt(int64(len(fraction))))
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	trimmed := strings.TrimRight(digits, "0")
	exp.Add(exp, big.NewInt(int64(len(digits)-len(trimmed))))
	return sign + trimmed + "e" + exp.String()
}
