package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// lexer cuts a source into tokens, one at a time, so that an error behind a
// syntax error is never seen.
type lexer struct {
	src       string
	at        int
	line      int
	state     kind     // data, blockBegin or variableBegin
	open      []string // closing brackets that are still due
	lineStart bool     // the text before at ends in a newline, or there is none
	failed    bool
}

func newLexer(src string) *lexer {
	if strings.IndexByte(src, '\r') >= 0 {
		src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	}
	return &lexer{src: strings.TrimSuffix(src, "\n"), line: 1, state: data, lineStart: true}
}

// next returns the next token; at the end it has the kind eof.
func (l *lexer) next() token {
	for !l.failed {
		t, ok := l.step()
		if ok {
			return t
		}
		if l.at >= len(l.src) && !l.failed {
			return token{kind: eof, line: l.line}
		}
	}
	return token{kind: eof, line: l.line}
}

// fail returns a token that raises class when the parser reaches it.
func (l *lexer) fail(class, format string, args ...any) (token, bool) {
	l.failed = true
	return token{kind: failure, line: l.line, value: &python.Error{Class: class, Message: fmt.Sprintf(format, args...), Line: l.line}}, true
}

// step reads one piece; false when it holds no token.
func (l *lexer) step() (token, bool) {
	if l.at >= len(l.src) {
		return token{}, false
	}
	if l.state == data {
		return l.root()
	}
	return l.tag()
}

// move goes to the offset end, counting lines on the way.
func (l *lexer) move(end int) {
	passed := l.src[l.at:end]
	l.line += strings.Count(passed, "\n")
	if passed != "" {
		l.lineStart = strings.HasSuffix(passed, "\n")
	}
	l.at = end
}

// spaces returns the offset behind the white space at i.
func (l *lexer) spaces(i int) int {
	for i < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[i:])
		if !python.IsSpace(r) {
			break
		}
		i += n
	}
	return i
}

// root reads template data up to the next tag.
func (l *lexer) root() (token, bool) {
	tag := l.findTag(l.at)
	body := l.src[l.at:tag]
	line, lineStart := l.line, l.lineStart
	if tag == len(l.src) {
		l.move(tag)
		return token{kind: data, line: line, text: body}, body != ""
	}
	begin := l.src[tag+1]
	end := tag + 2
	sign := byte(0)
	if end < len(l.src) && (l.src[end] == '-' || l.src[end] == '+') {
		sign = l.src[end]
		end++
	}
	body = stripBefore(body, sign, begin, lineStart)
	if body != "" { // the tag itself is read in the next step
		if l.at < tag {
			l.pending(tag)
		}
		return token{kind: data, line: line, text: body}, true
	}
	l.move(tag)
	return l.begin(begin, end)
}

// pending moves to the tag and keeps lineStart as the tag will see it: the
// data in front of it is done with.
func (l *lexer) pending(tag int) {
	l.move(tag)
	l.lineStart = false
}

// stripBefore applies the whitespace control of a tag to the data before it:
// "-" takes all white space, otherwise lstrip_blocks takes what stands between
// the line's start and a tag that is not an expression.
func stripBefore(body string, sign, begin byte, lineStart bool) string {
	switch {
	case sign == '-':
		return strings.TrimRightFunc(body, python.IsSpace)
	case sign == '+' || begin == '{':
		return body
	}
	start := strings.LastIndexByte(body, '\n') + 1
	if (start > 0 || lineStart) && strings.TrimLeftFunc(body[start:], python.IsSpace) == "" {
		return body[:start]
	}
	return body
}

// findTag returns where the next {{, {% or {# is, or the end.
func (l *lexer) findTag(from int) int {
	for {
		i := strings.IndexByte(l.src[from:], '{')
		if i < 0 || from+i+1 >= len(l.src) {
			return len(l.src)
		}
		from += i
		if c := l.src[from+1]; c == '{' || c == '%' || c == '#' {
			return from
		}
		from++
	}
}

// begin enters the tag whose content starts at end.
func (l *lexer) begin(c byte, end int) (token, bool) {
	line := l.line
	switch c {
	case '#':
		l.move(end)
		return l.comment()
	case '%':
		if body, ok := l.rawBody(end); ok {
			l.move(body)
			return l.raw()
		}
		l.state = blockBegin
	default:
		l.state = variableBegin
	}
	l.move(end)
	l.open = l.open[:0]
	return token{kind: l.state, line: line}, true
}

// comment skips to the end of a comment. One that is open at the very end of
// the source is no error.
func (l *lexer) comment() (token, bool) {
	i := strings.Index(l.src[l.at:], "#}")
	if i < 0 {
		if l.at < len(l.src) {
			return l.fail("TemplateSyntaxError", "Missing end of comment tag")
		}
		return token{}, false
	}
	l.move(l.afterTag(l.at+i, l.at, 2))
	return token{}, false
}

// afterTag returns the offset behind the end of a tag at i, the whitespace
// that its sign takes included; the sign stands not before from.
func (l *lexer) afterTag(i, from, width int) int {
	end := i + width
	sign := byte(0)
	if i > from {
		sign = l.src[i-1]
	}
	switch {
	case sign == '-':
		return l.spaces(end)
	case sign != '+' && strings.HasPrefix(l.src[end:], "\n"): // trim_blocks
		return end + 1
	}
	return end
}

// rawBody says whether the tag whose content starts at i is {% raw %}, and
// where its body starts.
func (l *lexer) rawBody(i int) (int, bool) {
	i = l.spaces(i)
	if !strings.HasPrefix(l.src[i:], "raw") {
		return 0, false
	}
	i = l.spaces(i + len("raw"))
	if strings.HasPrefix(l.src[i:], "-%}") {
		return l.spaces(i + 3), true
	}
	return i + 2, strings.HasPrefix(l.src[i:], "%}")
}

// raw reads the body of a raw block as data.
func (l *lexer) raw() (token, bool) {
	line, lineStart := l.line, l.lineStart
	for from := l.at; ; {
		i := strings.Index(l.src[from:], "{%")
		if i < 0 {
			if l.at < len(l.src) {
				return l.fail("TemplateSyntaxError", "Missing end of raw directive")
			}
			return token{}, false
		}
		from += i
		if sign, end, ok := l.endRaw(from + 2); ok {
			body := stripBefore(l.src[l.at:from], sign, '%', lineStart)
			l.move(end)
			return token{kind: data, line: line, text: body}, body != ""
		}
		from++
	}
}

// endRaw says whether the tag whose content starts at i is {% endraw %}.
func (l *lexer) endRaw(i int) (sign byte, end int, ok bool) {
	if i < len(l.src) && (l.src[i] == '-' || l.src[i] == '+') {
		sign = l.src[i]
		i++
	}
	i = l.spaces(i)
	if !strings.HasPrefix(l.src[i:], "endraw") {
		return 0, 0, false
	}
	i = l.spaces(i + len("endraw"))
	start := i
	if i < len(l.src) && (l.src[i] == '-' || l.src[i] == '+') {
		i++
	}
	if !strings.HasPrefix(l.src[i:], "%}") {
		return 0, 0, false
	}
	return sign, l.afterTag(i, start, 2), true
}

// tag reads one token inside {{ }} or {% %}.
func (l *lexer) tag() (token, bool) {
	line := l.line
	if len(l.open) == 0 {
		if end, ok := l.tagEnd(); ok {
			k := l.state + 1 // blockEnd, variableEnd
			l.move(end)
			l.state = data
			return token{kind: k, line: line}, true
		}
	}
	rest := l.src[l.at:]
	c := rest[0]
	switch {
	case c < utf8.RuneSelf && python.IsSpace(rune(c)):
		l.move(l.spaces(l.at))
		return token{}, false
	case c >= '0' && c <= '9':
		return l.number()
	case c == '"' || c == '\'':
		if end := quoteEnd(rest); end > 0 {
			return l.string(rest[:end])
		}
	case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf:
		return l.word()
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return l.operator(op)
		}
	}
	return l.unexpected()
}

// tagEnd returns the offset behind the end of the current tag, if it is here.
func (l *lexer) tagEnd() (int, bool) {
	rest := l.src[l.at:]
	if l.state == variableBegin { // neither a plus sign nor trim_blocks
		switch {
		case strings.HasPrefix(rest, "-}}"):
			return l.spaces(l.at + 3), true
		case strings.HasPrefix(rest, "}}"):
			return l.at + 2, true
		}
		return 0, false
	}
	switch {
	case strings.HasPrefix(rest, "%}"):
		return l.afterTag(l.at, l.at, 2), true
	case strings.HasPrefix(rest, "-%}"), strings.HasPrefix(rest, "+%}"):
		return l.afterTag(l.at+1, l.at, 2), true
	}
	return 0, false
}

func (l *lexer) unexpected() (token, bool) {
	r, _ := utf8.DecodeRuneInString(l.src[l.at:])
	t := &python.Thread{Steps: 1000, MaxBytes: 1000}
	return l.fail("TemplateSyntaxError", "unexpected char %s at %d", python.Repr(t, string(r)), utf8.RuneCountInString(l.src[:l.at]))
}

// word reads a name.
func (l *lexer) word() (token, bool) {
	end := l.at
	for end < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[end:])
		if r != '_' && !unicode.In(r, unicode.L, unicode.N, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Other_ID_Start, unicode.Other_ID_Continue) {
			break
		}
		end += n
	}
	if end == l.at {
		r, _ := utf8.DecodeRuneInString(l.src[end:])
		if python.IsSpace(r) {
			l.move(l.spaces(l.at))
			return token{}, false
		}
		return l.unexpected()
	}
	word := l.src[l.at:end]
	line := l.line
	if !python.IsIdentifier(word) {
		return l.fail("TemplateSyntaxError", "Invalid character in identifier")
	}
	l.move(end)
	return token{kind: name, line: line, text: word}, true
}

// operator reads op and keeps the brackets balanced.
func (l *lexer) operator(op string) (token, bool) {
	switch op {
	case "(":
		l.open = append(l.open, ")")
	case "[":
		l.open = append(l.open, "]")
	case "{":
		l.open = append(l.open, "}")
	case ")", "]", "}":
		if len(l.open) == 0 {
			return l.fail("TemplateSyntaxError", "unexpected '%s'", op)
		}
		due := l.open[len(l.open)-1]
		l.open = l.open[:len(l.open)-1]
		if due != op {
			return l.fail("TemplateSyntaxError", "unexpected '%s', expected '%s'", op, due)
		}
	}
	line := l.line
	l.move(l.at + len(op))
	return token{kind: operator, line: line, text: op}, true
}
