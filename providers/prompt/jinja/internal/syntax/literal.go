package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/runenames"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// number reads a float or an integer; underscores may stand between digits.
func (l *lexer) number() (token, bool) {
	line := l.line
	if l.at == 0 || l.src[l.at-1] != '.' { // 1.5 behind a dot is 1, dot, 5
		if end := floatEnd(l.src, l.at); end > 0 {
			f, _ := strconv.ParseFloat(strings.ReplaceAll(l.src[l.at:end], "_", ""), 64)
			l.move(end)
			return token{kind: float, line: line, value: f}, true
		}
	}
	end := integerEnd(l.src, l.at)
	digits := strings.ReplaceAll(l.src[l.at:end], "_", "")
	var v python.Value
	thread := &python.Thread{Steps: len(digits) + 1, MaxBytes: len(digits)}
	if err := python.Catch(func() { v = python.IntBase(thread, digits, 0) }); err != nil {
		return l.fail(err.Class, "%s", err.Message)
	}
	l.move(end)
	return token{kind: integer, line: line, value: v}, true
}

// digitsEnd returns the end of \d+(_\d+)* at i, or i where there is none.
func digitsEnd(s string, i int, digit func(byte) bool) int {
	for i < len(s) {
		switch {
		case digit(s[i]):
			i++
		case s[i] == '_' && i > 0 && digit(s[i-1]) && i+1 < len(s) && digit(s[i+1]):
			i += 2
		default:
			return i
		}
	}
	return i
}

func decimal(c byte) bool { return c >= '0' && c <= '9' }
func binary(c byte) bool  { return c == '0' || c == '1' }
func octal(c byte) bool   { return c >= '0' && c <= '7' }
func hexadecimal(c byte) bool {
	return decimal(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// floatEnd returns the end of a float at i, or 0 when there is none: digits
// with a fraction, an exponent, or both.
func floatEnd(s string, i int) int {
	end := digitsEnd(s, i, decimal)
	isFloat := false
	if end+1 < len(s) && s[end] == '.' && decimal(s[end+1]) {
		end, isFloat = digitsEnd(s, end+1, decimal), true
	}
	if end < len(s) && s[end]|0x20 == 'e' {
		e := end + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if e < len(s) && decimal(s[e]) {
			end, isFloat = digitsEnd(s, e, decimal), true
		}
	}
	if !isFloat {
		return 0
	}
	return end
}

// integerEnd returns the end of the integer at i, which starts with a digit.
func integerEnd(s string, i int) int {
	if s[i] != '0' {
		return digitsEnd(s, i, decimal)
	}
	if i+2 < len(s) {
		start := i + 2
		if s[start] == '_' {
			start++
		}
		digit := map[byte]func(byte) bool{'b': binary, 'o': octal, 'x': hexadecimal}[s[i+1]|0x20]
		if digit != nil && start < len(s) && digit(s[start]) {
			return digitsEnd(s, start, digit)
		}
	}
	return digitsEnd(s, i, func(c byte) bool { return c == '0' })
}

// quoteEnd returns the end of the string literal at the start of s, or 0 when
// it is not closed.
func quoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}

// string reads a string literal. Its escapes are Python's.
func (l *lexer) string(literal string) (token, bool) {
	line := l.line
	body := literal[1 : len(literal)-1]
	s, problem := body, ""
	if strings.IndexByte(body, '\\') >= 0 {
		s, problem = unescape(body)
	}
	if problem == surrogate {
		return l.fail("UnicodeEncodeError", "%s", problem)
	}
	if problem != "" {
		return l.fail("TemplateSyntaxError", "%s", problem)
	}
	l.move(l.at + len(literal))
	return token{kind: text, line: line, value: s}, true
}

const surrogate = "surrogates not allowed"

var simpleEscapes = map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

// unescape resolves the escapes of a Python string literal; an unknown one
// stays as it is. Jinja writes other scripts as escapes first, so that a
// backslash before one of them meets a backslash. problem is empty when all
// went well.
func unescape(s string) (result, problem string) {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		i++
		r, size := utf8.DecodeRuneInString(s[i:])
		c := s[i]
		if r >= utf8.RuneSelf {
			b.WriteString(backslashed(r))
			i += size
			continue
		}
		i++
		if known, ok := simpleEscapes[c]; ok {
			b.WriteString(known)
			continue
		}
		width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		switch {
		case width > 0:
			end := min(i+width, len(s))
			n, err := strconv.ParseUint(s[i:end], 16, 32)
			if err != nil || end-i < width || !hexOnly(s[i:end]) {
				return "", fmt.Sprintf("truncated \\%s escape", map[byte]string{'x': "xXX", 'u': "uXXXX", 'U': "UXXXXXXXX"}[c])
			}
			if n > utf8.MaxRune {
				return "", "illegal Unicode character"
			}
			if n >= 0xd800 && n < 0xe000 {
				return "", surrogate
			}
			b.WriteRune(rune(n))
			i = end
		case octal(c):
			n := rune(c - '0')
			for k := 0; k < 2 && i < len(s) && octal(s[i]); k++ {
				n = n*8 + rune(s[i]-'0')
				i++
			}
			b.WriteRune(n)
		case c == 'N':
			r, end, problem := namedRune(s, i)
			if problem != "" {
				return "", problem
			}
			b.WriteRune(r)
			i = end
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

func hexOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if !hexadecimal(s[i]) {
			return false
		}
	}
	return true
}

// backslashed is what remains of a backslash before another script's letter.
func backslashed(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// namedRune reads {NAME} at s[i:].
func namedRune(s string, i int) (r rune, end int, problem string) {
	close := strings.IndexByte(s[i:], '}')
	if i >= len(s) || s[i] != '{' || close < 2 {
		return 0, 0, "malformed \\N character escape"
	}
	r, ok := runeNames()[strings.ToUpper(s[i+1:i+close])]
	if !ok {
		return 0, 0, "unknown Unicode character name"
	}
	return r, i + close + 1, ""
}

// runeNames maps every character's name to the character.
var runeNames = sync.OnceValue(func() map[string]rune {
	names := make(map[string]rune, 34_000)
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if n := runenames.Name(r); n != "" && n[0] != '<' {
			names[n] = r
		}
	}
	return names
})
