package schema

import (
	"errors"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Reason groups what can be wrong with a value.
type Reason string

// The order is that in which one of several faults is chosen to speak for all.
const (
	Wrapper    Reason = "wrapper"     // what is asked for sits one level too deep
	MissingKey Reason = "missing_key" // a required key is not there
	Null       Reason = "null"        // null where another type is asked
	WrongType  Reason = "wrong_type"
	ExtraKey   Reason = "extra_key" // a key that the schema does not allow
	Enum       Reason = "enum"      // not one of the allowed values
	Format     Reason = "format"    // format or pattern
	Range      Reason = "range"     // size, length, number of items or properties
)

var ranks = map[Reason]int{Wrapper: 0, MissingKey: 1, Null: 2, WrongType: 2, ExtraKey: 3, Enum: 4, Format: 5, Range: 6}

// Fault is one way in which a value breaks a schema.
type Fault struct {
	Reason  Reason
	Path    string // JSON pointer into the value; for a missing key, where it should be
	Keyword string
	Detail  string // one sentence
}

func (f *Fault) before(g *Fault) bool {
	if g == nil {
		return true
	}
	if a, b := ranks[f.Reason], ranks[g.Reason]; a != b {
		return a < b
	}
	return false // the first one stays
}

var firstQuoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'`)

// fromLibrary turns the library's error into a Fault. It decides alone only for
// keywords that the walk does not know.
func fromLibrary(err error) *Fault {
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return &Fault{Reason: WrongType, Detail: "the value cannot be checked: " + err.Error()}
	}
	var best *Fault
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			walk(c)
		}
		if len(e.Causes) == 0 {
			if f := leaf(e); f.before(best) {
				best = f
			}
		}
	}
	walk(ve)
	return best
}

func leaf(e *jsonschema.ValidationError) *Fault {
	tokens := strings.Split(e.KeywordLocation, "/")
	keyword := tokens[len(tokens)-1]
	f := &Fault{Path: e.InstanceLocation, Keyword: keyword, Detail: e.Message}
	named := ""
	if m := firstQuoted.FindStringSubmatch(e.Message); m != nil {
		named = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(m[1])
	}
	switch keyword {
	case "required", "dependentRequired", "dependencies":
		f.Reason, f.Path = MissingKey, f.Path+named
	case "additionalProperties":
		f.Reason, f.Path = ExtraKey, f.Path+named
	case "unevaluatedProperties", "propertyNames":
		f.Reason = ExtraKey
	case "enum", "const", "not":
		f.Reason = Enum
	case "format", "pattern", "contentEncoding", "contentMediaType", "contentSchema":
		f.Reason = Format
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		"minContains", "maxContains", "contains", "uniqueItems", "minProperties", "maxProperties", "items", "additionalItems", "unevaluatedItems":
		f.Reason = Range
	default:
		f.Reason = WrongType
		if strings.HasSuffix(e.Message, "but got null") {
			f.Reason = Null
		}
	}
	return f
}
