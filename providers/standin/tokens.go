package standin

import (
	"encoding/json"
	"unicode/utf8"
)

// A token of a stand-in is at most four bytes of text and never splits a
// character: close enough to real ones for limits and usage to behave.
const tokenBytes = 4

func tokens(text string) int64 {
	var n int64
	for len(text) > 0 {
		text = text[tokenLen(text):]
		n++
	}
	return n
}

// firstTokens is the beginning of text, limit tokens long.
func firstTokens(text string, limit int64) string {
	end := 0
	for n := int64(0); n < limit && end < len(text); n++ {
		end += tokenLen(text[end:])
	}
	return text[:end]
}

func tokenLen(text string) int {
	n := 0
	for n < len(text) {
		_, size := utf8.DecodeRuneInString(text[n:])
		if n > 0 && n+size > tokenBytes {
			break
		}
		n += size
	}
	return n
}

// pieces cuts text into the parts in which a stream sends it.
func (m Message) pieces(text string) []string {
	perPiece := int64(6) // tokens
	if m.piece > 0 {
		perPiece = int64(m.piece)
	}
	var parts []string
	for len(text) > 0 {
		part := firstTokens(text, perPiece)
		parts = append(parts, part)
		text = text[len(part):]
	}
	return parts
}

// compact renders v; v is made of maps, slices and strings, so it cannot fail.
func compact(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("stand-in: " + err.Error())
	}
	return data
}

type object = map[string]any

// value is a JSON document as a value, and text that is none as a string.
func value(document string) any {
	if json.Valid([]byte(document)) {
		return json.RawMessage(document)
	}
	return document
}
