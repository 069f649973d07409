package bpe

import (
	"strings"
	"unicode/utf8"
)

// byteLetters is the letter that stands for each byte in byte-level
// vocabularies, so that no token holds a space or a control character: the
// printable characters of Latin-1 for themselves, the others from U+0100 on
// (bytes_to_unicode of GPT-2's encoder).
var byteLetters = func() (letters [256]rune) {
	next := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xFF && b != 0xAD {
			letters[b] = b
		} else {
			letters[b] = next
			next++
		}
	}
	return letters
}()

// letterBytes is the other way round; -1 where a rune stands for no byte.
var letterBytes = func() (bytes [0x144]int16) {
	for r := range bytes {
		bytes[r] = -1
	}
	for b, r := range byteLetters {
		bytes[r] = int16(b)
	}
	return bytes
}()

// toLetters writes each byte of text as its letter.
func toLetters(text string) string {
	var b strings.Builder
	b.Grow(2 * len(text))
	for i := range len(text) {
		b.WriteRune(byteLetters[text[i]])
	}
	return b.String()
}

// fromLetters appends the bytes that the letters of token stand for, or token
// as it is where one of its characters is no such letter.
func fromLetters(dst []byte, token string) []byte {
	start := len(dst)
	for _, r := range token {
		if int(r) >= len(letterBytes) || letterBytes[r] < 0 {
			return append(dst[:start], token...)
		}
		dst = append(dst, byte(letterBytes[r]))
	}
	return dst
}

// toValid returns bytes as text, with U+FFFD for each longest run that could
// have begun a character but does not (Unicode 16.0, table 3-8; the same as
// Rust's from_utf8_lossy). Go's own conversions write one for each byte.
func toValid(bytes []byte) string {
	if utf8.Valid(bytes) {
		return string(bytes)
	}
	var b strings.Builder
	for len(bytes) > 0 {
		r, n := utf8.DecodeRune(bytes)
		if r != utf8.RuneError || n > 1 {
			b.Write(bytes[:n])
			bytes = bytes[n:]
			continue
		}
		b.WriteRune(utf8.RuneError)
		bytes = bytes[badPrefix(bytes):]
	}
	return b.String()
}

// badPrefix returns the bytes of the longest start of an ill-formed character.
func badPrefix(bytes []byte) int {
	first := bytes[0]
	low, high, more := byte(0x80), byte(0xBF), 0
	switch {
	case first >= 0xC2 && first <= 0xDF:
		more = 1
	case first >= 0xE0 && first <= 0xEF:
		more = 2
	case first >= 0xF0 && first <= 0xF4:
		more = 3
	}
	switch first {
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	n := 1
	for n <= more && n < len(bytes) && bytes[n] >= low && bytes[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}
