package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// spellingsOf returns submit bodies that mean the same intent: as it is,
// indented, with the keys of every object in reverse order, and with escapes and
// exponents where plain characters and digits would do.
func spellingsOf(intent []byte) ([][]byte, error) {
	body := []byte(`{"intent":` + string(intent) + `}`)
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "\t", "  "); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	var reversed, escaped strings.Builder
	spell(&reversed, value, false)
	spell(&escaped, value, true)
	return [][]byte{body, indented.Bytes(), []byte(reversed.String()), []byte(escaped.String())}, nil
}

// spell writes value with the keys of each object in reverse order; odd also
// escapes the first character of each text and writes integers with an exponent.
func spell(b *strings.Builder, value any, odd bool) {
	switch v := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		slices.Reverse(keys)
		b.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				b.WriteString(" , ")
			}
			spellText(b, key, false)
			b.WriteString(" : ")
			spell(b, v[key], odd)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			spell(b, element, odd)
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(v.String())
		if odd && !strings.ContainsAny(v.String(), ".eE") {
			b.WriteString(".0e+0")
		}
	case string:
		spellText(b, v, odd)
	default:
		text, _ := json.Marshal(v)
		b.Write(text)
	}
}

func spellText(b *strings.Builder, text string, odd bool) {
	quoted, _ := json.Marshal(text)
	if odd && text != "" && text[0] >= 'a' && text[0] <= 'z' {
		fmt.Fprintf(b, `"\u%04x%s`, text[0], quoted[2:])
		return
	}
	b.Write(quoted)
}
