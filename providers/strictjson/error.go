package strictjson

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind groups what can be wrong with a JSON text.
type Kind string

const (
	KindEmpty        Kind = "empty"         // nothing but white space
	KindSyntax       Kind = "syntax"        // not RFC 8259
	KindTruncated    Kind = "truncated"     // well-formed so far, but it ends too early
	KindTrailing     Kind = "trailing"      // something other than white space after the value
	KindDuplicateKey Kind = "duplicate_key" // a name twice in one object
	KindUTF8         Kind = "utf8"          // invalid UTF-8 or a lone surrogate
	KindNUL          Kind = "nul"           // \u0000 in a string
	KindNumber       Kind = "number"        // a number beyond the limits
	KindDepth        Kind = "depth"         // nested too deep
	KindKeys         Kind = "keys"          // too many keys in one object
	KindSize         Kind = "size"          // too many bytes
)

// Error says what is wrong, and where. It never quotes more than 64 bytes of
// the input, escaped.
type Error struct {
	Kind   Kind
	Offset int    // byte offset of the fault
	Path   string // JSON pointer of the value that holds it; "" is the root
	Detail string
}

func (e *Error) Error() string {
	where := ""
	if e.Path != "" {
		where = " at " + quote(e.Path)
	}
	return fmt.Sprintf("json: %s%s (byte %d)", e.Detail, where, e.Offset)
}

// quote shows at most 64 bytes of s, with everything that is not plain escaped.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strconv.QuoteToASCII(s)
}

// Pointer writes tokens as a JSON pointer (RFC 6901).
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(t))
	}
	return b.String()
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
