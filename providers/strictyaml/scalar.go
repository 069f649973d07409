package strictyaml

import (
	"regexp"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

var (
	number    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	date      = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?$`)
	sixty     = regexp.MustCompile(`^[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?$`)
	otherBase = regexp.MustCompile(`^[-+]?0[xXoObB][0-9a-fA-F_]+$`)
	oddNumber = regexp.MustCompile(`^[-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?$`)
)

// quoted reports whether a scalar is a string beyond doubt.
func quoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// ambiguous says how a plain scalar may be misread; "" where it cannot be.
// true, false, null and JSON numbers are what they look like.
func ambiguous(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null":
		if s == strings.ToLower(s) {
			return ""
		}
		return "is a truth value or null for some readers"
	case "yes", "no", "on", "off":
		return "is a truth value for some readers"
	case "~":
		return "is null for some readers"
	case ".nan", ".inf", "-.inf", "+.inf":
		return "is no finite number"
	}
	switch {
	case number.MatchString(s):
		return ""
	case date.MatchString(s):
		return "is a date for some readers"
	case sixty.MatchString(s):
		return "is a number to base 60 for some readers"
	case otherBase.MatchString(s), oddNumber.MatchString(s):
		return "is another number for some readers"
	}
	return ""
}

// looksTyped reports whether a plain scalar is a number, a truth value or null.
func looksTyped(s string) bool {
	return s == "true" || s == "false" || s == "null" || s == "" || number.MatchString(s)
}
