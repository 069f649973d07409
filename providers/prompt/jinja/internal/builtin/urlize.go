package builtin

import (
	"regexp"
	"sort"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// urlPattern matches what becomes a link: with a scheme or www., by a well
// known top level, or by an address. Source: Jinja's urlize filter.
var (
	urlPattern = regexp.MustCompile(`(?i)^(?:` +
		`(?:https?://|www\.)(?:(?:[\p{L}\p{N}_%-]+\.)+)?(?:[a-z]{2,63}|xn--[\p{L}\p{N}_%]{2,59})` +
		`|(?:[\p{L}\p{N}_%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)` +
		`|https?://(?:\p{Nd}{1,3}(?:\.\p{Nd}{1,3}){3}|\[(?:[\p{Nd}a-f]{0,4}:){2}(?:[\p{Nd}a-f]{0,4}:?){1,6}\])` +
		`)(?::\p{Nd}{1,5})?(?:[/?#].*)?$`)
	emailPattern  = regexp.MustCompile(`^.+@[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[\p{L}\p{N}_]+$`)
	schemePattern = regexp.MustCompile(`^[\p{L}\p{N}_.+-]{2,}:/{0,2}$`)
	headPattern   = regexp.MustCompile(`^(?:[(<]|&lt;)+`)
	tailPattern   = regexp.MustCompile(`(?:[)>.,\n]|&gt;)+$`)
)

// urlize turns addresses in text into links.
func urlize(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_urlize", 0, "trim_url_limit", "nofollow", "target", "rel", "extra_schemes")
	u := &urlizer{t: t, limit: python.Or(p[0], nil)}
	u.attrs = relAttr(t, python.Or(p[3], nil), python.Truth(t, python.Or(p[1], false)))
	if target := python.Or(p[2], nil); target != nil && python.Truth(t, target) {
		u.attrs += ` target="` + string(python.Escape(t, target)) + `"`
	}
	if schemes := python.Or(p[4], nil); schemes != nil {
		for _, s := range python.Collect(t, schemes) {
			scheme, ok := python.Text(s)
			if !ok {
				python.Raise(python.TypeError, "expected string or bytes-like object, got '%s'", python.TypeName(s))
			}
			if !schemePattern.MatchString(scheme) {
				python.Raise(python.FilterArgumentError, "%s is not a valid URI scheme prefix.", python.Repr(t, s))
			}
			u.schemes = append(u.schemes, scheme)
		}
	}
	text := string(python.Escape(t, v))
	t.Spend(len(text))
	b := python.NewBuffer(t)
	for text != "" {
		end := strings.IndexFunc(text, python.IsSpace)
		if end < 0 {
			end = len(text)
		}
		b.WriteString(u.word(text[:end]))
		text = text[end:]
		end = strings.IndexFunc(text, func(r rune) bool { return !python.IsSpace(r) })
		if end < 0 {
			end = len(text)
		}
		b.WriteString(text[:end])
		text = text[end:]
	}
	if t.Autoescape {
		return python.Markup(b.String())
	}
	return b.String()
}

// relAttr joins what the caller wants with nofollow and Jinja's own noopener.
func relAttr(t *python.Thread, rel python.Value, nofollow bool) string {
	words := map[string]bool{"noopener": true}
	if rel != nil && python.Truth(t, rel) {
		for _, w := range python.Collect(t, python.CallMethod(t, rel, "split")) {
			words[textOf(w)] = true
		}
	}
	if nofollow {
		words["nofollow"] = true
	}
	var all []string
	for w := range words {
		all = append(all, w)
	}
	sort.Strings(all)
	return ` rel="` + string(python.EscapeText(t, strings.Join(all, " "))) + `"`
}

type urlizer struct {
	t       *python.Thread
	limit   python.Value
	attrs   string
	schemes []string
}

func (u *urlizer) word(word string) string {
	head := headPattern.FindString(word)
	middle, tail := word[len(head):], ""
	if at := tailPattern.FindStringIndex(middle); at != nil {
		middle, tail = middle[:at[0]], middle[at[0]:]
	}
	middle, tail = balance(middle, tail)
	return head + u.link(middle) + tail
}

// balance moves closing brackets from tail back to a middle that opens them.
func balance(middle, tail string) (string, string) {
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		opened := strings.Count(middle, pair[0])
		if opened <= strings.Count(middle, pair[1]) {
			continue
		}
		for range min(opened, strings.Count(tail, pair[1])) {
			end := strings.Index(tail, pair[1]) + len(pair[1])
			middle, tail = middle+tail[:end], tail[end:]
		}
	}
	return middle, tail
}

func (u *urlizer) link(s string) string {
	switch {
	case urlPattern.MatchString(s):
		href := s
		if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
			href = "https://" + s
		}
		return `<a href="` + href + `"` + u.attrs + `>` + u.trimmed(s) + `</a>`
	case strings.HasPrefix(s, "mailto:") && emailPattern.MatchString(s[7:]):
		return `<a href="` + s + `">` + s[7:] + `</a>`
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "www.") && !strings.Contains(s, ":") && emailPattern.MatchString(s):
		return `<a href="mailto:` + s + `">` + s + `</a>`
	}
	for _, scheme := range u.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			s = `<a href="` + s + `"` + u.attrs + `>` + s + `</a>`
		}
	}
	return s
}

// trimmed is the text of a link, cut to the limit.
func (u *urlizer) trimmed(s string) string {
	if u.limit == nil || !python.Compare(u.t, python.Greater, mustLen(u.t, s), u.limit) {
		return s
	}
	return textOf(python.GetSlice(u.t, s, nil, u.limit, nil)) + "..."
}
