package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Untrusted is text that somebody else wrote: a key, an owner, a reason, a model
// id, an error, an answer. It goes into an output only through the method for
// that output; HTML goes through html/template or textContent.
type Untrusted string

// maxShown is how much of an untrusted text anybody is shown.
const maxShown = 128

// Terminal shows control, direction and joining characters as escapes, in one
// line of at most 128 characters. A terminal may be the log of a build, so
// commands of its runner are kept apart.
func (u Untrusted) Terminal() string { return inert(visible(string(u), false, maxShown)) }

// runnerCommand is what runners of builds look for in a log: GitHub at the
// beginning of a line, and with ## anywhere, as Azure does; GitLab anywhere.
var runnerCommand = regexp.MustCompile(`:(:[A-Za-z])|#(#\[|#vso\[)|s(ection_(?:start|end):)`)

// inert puts a backslash into each command of a runner.
func inert(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##") && !strings.Contains(text, "section_") {
		return text
	}
	return runnerCommand.ReplaceAllStringFunc(text, func(c string) string { return c[:1] + `\` + c[1:] })
}

// XML is Terminal with escapes that are all \uNNNN, and holds no character that
// XML 1.0 forbids. Its markup is left to encoding/xml.
func (u Untrusted) XML() string { return visible(string(u), true, maxShown) }

// Markdown puts the text into a code span that it cannot leave, in one line,
// with what the hosts of Markdown act upon kept apart.
func (u Untrusted) Markdown() string {
	text := visible(string(u), false, maxShown)
	text = strings.ReplaceAll(text, "|", `\u007c`) // ends a cell even in a code span
	if text == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if text[0] == '`' || text[len(text)-1] == '`' || strings.TrimSpace(text) != text {
		text = " " + text + " "
	}
	return fence + text + fence
}

// CSV is the text as a cell that no spreadsheet takes for a formula. A number
// stays a number.
func (u Untrusted) CSV() string {
	text := string(u)
	if _, err := strconv.ParseFloat(text, 64); err == nil && len(text) <= maxShown {
		return text
	}
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		text = "'" + text
	}
	return visible(text, false, maxShown)
}

// CI is the text inside a line of a build log: no runner takes it for a command.
func (u Untrusted) CI() string {
	text := visible(string(u), false, maxShown)
	for _, command := range []string{"::", "##[", "##vso[", "section_start:", "section_end:"} {
		for strings.Contains(text, command) {
			text = strings.ReplaceAll(text, command, command[:1]+`\`+command[1:])
		}
	}
	return text
}

// Shell quotes words so that a shell takes each as one argument and runs nothing
// else.
func Shell(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

func quote(word string) string {
	plain := word != ""
	for _, r := range word {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r)) {
			plain = false
		}
	}
	if plain {
		return word
	}
	if strings.IndexFunc(word, func(r rune) bool { return !terminalSafe(r) }) < 0 && utf8.ValidString(word) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	// ANSI-C quoting keeps the command in one harmless line.
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(word) {
		if c >= 0x20 && c < 0x7f && c != '\'' && c != '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// visible writes every character that can do more than be seen as \xNN or
// \uNNNN; with unicodeOnly there is no \xNN. What is longer than limit
// characters is cut and says so; 0 is no limit.
func visible(text string, unicodeOnly bool, limit int) string {
	var b strings.Builder
	marks, written := 0, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		shown := string(r)
		switch {
		case r == utf8.RuneError && size == 1:
			shown = fmt.Sprintf(`\x%02x`, text[i])
		case terminalSafe(r) && marks <= 2: // a third mark on one letter climbs over its neighbours
		case r < 0x100 && !unicodeOnly:
			shown = fmt.Sprintf(`\x%02x`, r)
		case r < 0x10000:
			shown = fmt.Sprintf(`\u%04x`, r)
		default:
			shown = fmt.Sprintf(`\U%08x`, r)
		}
		if written += utf8.RuneCountInString(shown); limit > 0 && written > limit {
			b.WriteString("…")
			break
		}
		b.WriteString(shown)
		i += size
	}
	return b.String()
}

// terminalSafe reports whether r can do nothing but be seen.
func terminalSafe(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return false
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
		return false
	case r == 0x3164 || r == 0x115f || r == 0x1160 || r == 0xffa0: // fillers that look like nothing
		return false
	}
	return unicode.IsPrint(r) || unicode.In(r, unicode.M) || r == 0xa0
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
