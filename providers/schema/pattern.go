package schema

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	lookAround = regexp.MustCompile(`\(\?(?:=|!|<=|<!)`)
	backward   = regexp.MustCompile(`\\(?:[1-9]|k<)`)
)

// blanks is what \s means in ECMA 262, for use inside a class.
const blanks = `\s\x0b\x{a0}\x{feff}\x{2028}\x{2029}\p{Zs}`

// translate turns an ECMA 262 pattern, which JSON Schema asks for, into one that
// the linear-time engine compiles and that means the same.
func translate(pattern string) (string, error) {
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c != '\\' || i+1 == len(pattern) {
			switch {
			case c == '[' && !class:
				class = true
			case c == ']':
				class = false
			}
			b.WriteByte(c)
			continue
		}
		i += escape(&b, pattern[i+1:], class)
	}
	out := b.String()
	if _, err := regexp.Compile(out); err != nil {
		why := "cannot be compiled"
		switch {
		case lookAround.MatchString(pattern):
			why = "looks ahead or behind, which the linear-time engine cannot do"
		case backward.MatchString(pattern):
			why = "refers back to a group, which the linear-time engine cannot do"
		}
		return "", fmt.Errorf("pattern %s %s", show(pattern), why)
	}
	return out, nil
}

// escape writes the escape sequence whose text after the backslash begins rest,
// and returns how many bytes of rest it took.
func escape(b *strings.Builder, rest string, class bool) int {
	switch c := rest[0]; {
	case c == '/':
		b.WriteByte('/')
		return 1
	case c == 'u':
		if m := unicodeEscape.FindString(rest); m != "" {
			b.WriteString(`\x{` + strings.Trim(m[1:], "{}") + "}")
			return len(m)
		}
	case c == 'c' && len(rest) > 1 && (rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z'):
		fmt.Fprintf(b, `\x{%x}`, rest[1]&0x1f)
		return 2
	case c == 's' && class:
		b.WriteString(blanks)
		return 1
	case c == 's':
		b.WriteString("[" + blanks + "]")
		return 1
	case c == 'S' && !class:
		b.WriteString("[^" + blanks + "]")
		return 1
	}
	b.WriteByte('\\')
	b.WriteByte(rest[0])
	return 1
}

var unicodeEscape = regexp.MustCompile(`^u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]+\})`)

// prepare translates all patterns of a decoded schema in place.
func prepare(source any) error {
	var failed error
	visit(source, "", func(at string, node map[string]any) {
		if p, ok := node["pattern"].(string); ok {
			t, err := translate(p)
			if err != nil && failed == nil {
				failed = fmt.Errorf("schema: at %q: %w", at, err)
			}
			node["pattern"] = t
		}
		if list, ok := node["patternProperties"].(map[string]any); ok {
			for p, s := range list {
				t, err := translate(p)
				if err != nil && failed == nil {
					failed = fmt.Errorf("schema: at %q: %w", at, err)
				}
				if t != p {
					delete(list, p)
					list[t] = s
				}
			}
		}
	})
	return failed
}
