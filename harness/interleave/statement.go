package interleave

import (
	"regexp"
	"strings"
)

var (
	remarks  = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)
	literals = regexp.MustCompile(`'(?:[^']|'')*'|\b[0-9]+\b`)
)

// plain is a statement without its remarks and the values in its text, so that two
// of one kind are equal.
func plain(sql string) string {
	return strings.Join(strings.Fields(literals.ReplaceAllString(remarks.ReplaceAllString(sql, " "), "?")), " ")
}

// describe names a statement for a person: what it does, and to which table.
func describe(sql string) string {
	words := strings.FieldsFunc(plain(sql), func(r rune) bool { return strings.ContainsRune(" ();", r) })
	if len(words) == 0 {
		return "nothing"
	}
	locks := ""
	for i, w := range words {
		if strings.EqualFold(w, "FOR") && i+1 < len(words) && (is(words[i+1], "UPDATE") || is(words[i+1], "SHARE") || is(words[i+1], "NO") || is(words[i+1], "KEY")) {
			locks = "lock "
		}
	}
	verb := ""
	for i, w := range words {
		next := func(n int) string {
			if i+n < len(words) {
				return strings.ToLower(strings.Trim(words[i+n], `",`))
			}
			return "?"
		}
		switch {
		case is(w, "UPDATE") && locks == "" || is(w, "UPDATE") && i == 0:
			return "update " + next(1)
		case is(w, "INSERT"):
			return "insert " + next(2)
		case is(w, "DELETE"):
			return "delete " + next(2)
		case is(w, "FROM") && verb == "":
			verb = "read " + next(1)
			if locks != "" {
				verb = locks + next(1)
			}
		}
	}
	if verb != "" {
		return verb
	}
	return strings.ToLower(words[0])
}

func is(word, want string) bool { return strings.EqualFold(word, want) }
