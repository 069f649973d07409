package schema

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// formats are all formats that are asserted. They replace the library's, which
// take "+1:00:00Z" for a time, "a.-b" for a host name and "1.+2.3.4" for an
// address, and which do not know the international ones.
var formats = map[string]func(any) bool{
	"date":                  text(isDate),
	"time":                  text(isTime),
	"date-time":             text(isDateTime),
	"duration":              text(isDuration),
	"email":                 text(isEmail),
	"idn-email":             text(isIDNEmail),
	"hostname":              text(isHostname),
	"idn-hostname":          text(isIDNHostname),
	"ipv4":                  text(isIPv4),
	"ipv6":                  text(isIPv6),
	"uri":                   text(func(s string) bool { return isURI(s, true, false) }),
	"uri-reference":         text(func(s string) bool { return isURI(s, false, false) }),
	"iri":                   text(func(s string) bool { return isURI(s, true, true) }),
	"iri-reference":         text(func(s string) bool { return isURI(s, false, true) }),
	"uri-template":          text(isURITemplate),
	"uuid":                  text(uuid.MatchString),
	"regex":                 text(isRegex),
	"json-pointer":          text(jsonPointer.MatchString),
	"relative-json-pointer": text(relativePointer.MatchString),
}

var (
	uuid            = regexp.MustCompile(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
	jsonPointer     = regexp.MustCompile(`^(?:/(?:[^~/]|~[01])*)*$`)
	relativePointer = regexp.MustCompile(`^(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)$`)
	clock           = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(\.[0-9]+)?([Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))$`)
	day             = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	duration        = regexp.MustCompile(`^P(?:[0-9]+W|(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)(?:T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S))?|T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S))$`)
	label           = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	percent         = regexp.MustCompile(`%(?:[^0-9A-Fa-f]|[0-9A-Fa-f](?:[^0-9A-Fa-f]|$)|$)`)
	futureIP        = regexp.MustCompile(`^[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+$`)
	scheme          = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
)

// text makes a format apply to strings only.
func text(f func(string) bool) func(any) bool {
	return func(v any) bool {
		s, ok := v.(string)
		return !ok || f(s)
	}
}

// isDate is the full-date of RFC 3339: four, two and two digits, and a day that
// the calendar has.
func isDate(s string) bool {
	if !day.MatchString(s) {
		return false
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// isTime is the full-time of RFC 3339. A leap second is one only at 23:59:60 UTC.
func isTime(s string) bool {
	m := clock.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	if m[3] != "60" {
		return true
	}
	minutes := two(m[1])*60 + two(m[2])
	switch m[6] {
	case "+":
		minutes -= two(m[7])*60 + two(m[8])
	case "-":
		minutes += two(m[7])*60 + two(m[8])
	}
	return (minutes+24*60)%(24*60) == 23*60+59
}

func two(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

func isDateTime(s string) bool {
	return len(s) > 11 && (s[10] == 'T' || s[10] == 't') && isDate(s[:10]) && isTime(s[11:])
}

// isDuration is the duration of RFC 3339, appendix A.
func isDuration(s string) bool { return duration.MatchString(s) }

// isEmail is a bare address: no display name, no comment, ASCII only.
func isEmail(s string) bool { return isASCII(s) && isIDNEmail(s) }

func isIDNEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 {
		return false
	}
	host := s[at+1:]
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if six, is := strings.CutPrefix(inner, "IPv6:"); is {
			return ok && isIPv6(six) && isLocal(s[:at])
		}
		return ok && isIPv4(inner) && isLocal(s[:at])
	}
	return isIDNHostname(host) && isLocal(s[:at])
}

// isLocal lets the standard library read the local part with a plain host.
func isLocal(local string) bool {
	a, err := mail.ParseAddress(local + "@example.org")
	if err != nil || a.Name != "" {
		return false
	}
	return strings.HasPrefix(local, `"`) || a.Address == local+"@example.org"
}

func isHostname(s string) bool { return isASCII(s) && hostname(s, label.MatchString) }

func isIDNHostname(s string) bool {
	return hostname(s, func(l string) bool {
		if isASCII(l) {
			return label.MatchString(l)
		}
		return utf8.ValidString(l) && len(l) <= 252 && l[0] != '-' && l[len(l)-1] != '-' && !strings.ContainsAny(l, " \t\n\r@/:?#[]")
	})
}

func hostname(s string, valid func(string) bool) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for l := range strings.SplitSeq(s, ".") {
		if l == "" || !valid(l) {
			return false
		}
	}
	return true
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// isURI is RFC 3986 (ASCII) or, with iri, RFC 3987; absolute asks for a scheme.
func isURI(s string, absolute, iri bool) bool {
	if !iri && !isASCII(s) || absolute && !scheme.MatchString(s) || percent.MatchString(s) {
		return false
	}
	for _, r := range s {
		if r <= 0x20 || r == 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) {
			return false
		}
	}
	u, err := url.Parse(s)
	if err != nil || strings.Count(u.Host, "@") > 0 || u.User != nil && strings.Contains(u.User.String(), "@") {
		return false
	}
	if inner, ok := strings.CutPrefix(u.Host, "["); ok {
		inner, _, _ = strings.Cut(inner, "]")
		return strings.Count(s, "[") == 1 && strings.Count(s, "]") == 1 && (isIPv6(inner) || futureIP.MatchString(inner))
	}
	return strings.Count(u.Host, ":") <= 1 && !strings.ContainsAny(s, "[]")
}

func isURITemplate(s string) bool {
	open := false
	for _, r := range s {
		switch {
		case r == '{' && open, r == '}' && !open, r <= 0x20, strings.ContainsRune("\"<>\\^`", r):
			return false
		case r == '{' || r == '}':
			open = !open
		}
	}
	return !open
}

func isRegex(s string) bool {
	_, err := translate(s)
	return err == nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
