package syntax

import "strings"

// kind is what a token is.
type kind byte

const (
	initial kind = iota
	eof
	data
	blockBegin
	blockEnd
	variableBegin
	variableEnd
	name
	text
	integer
	float
	operator // Text says which
	failure  // the lexer's error, raised when the parser gets there
)

// token is one word of a template. Text is the operator, the name, or the
// template data; value holds literals, and the error of a failure.
type token struct {
	kind  kind
	line  int
	text  string
	value any
}

// is says whether t is the operator op.
func (t token) is(op string) bool { return t.kind == operator && t.text == op }

// named says whether t is the name s.
func (t token) named(s string) bool { return t.kind == name && t.text == s }

// operators are all operators, the longer ones first.
var operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";"}

// describe names a token as error messages do.
func (t token) describe() string {
	switch t.kind {
	case name, operator:
		return t.text
	}
	return t.kind.describe()
}

func (k kind) describe() string {
	switch k {
	case eof:
		return "end of template"
	case data:
		return "template data / text"
	case blockBegin:
		return "begin of statement block"
	case blockEnd:
		return "end of statement block"
	case variableBegin:
		return "begin of print statement"
	case variableEnd:
		return "end of print statement"
	case text:
		return "string"
	case integer:
		return "integer"
	case float:
		return "float"
	}
	return "name"
}

// alternatives joins quoted names with or.
func alternatives(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "'" + n + "'"
	}
	return strings.Join(quoted, " or ")
}
