package python

import "fmt"

// Error is an exception: what Python or Jinja raises, by the name of its
// class, or one of the two refusals of our own (LimitError, UnsupportedError).
type Error struct {
	Class   string // "TypeError", "UndefinedError", "TemplateSyntaxError", ...
	Message string // str(exception)
	Line    int    // of the template, from 1, for errors found while parsing; else 0
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: %s (line %d)", e.Class, e.Message, e.Line)
	}
	if e.Message == "" {
		return e.Class
	}
	return e.Class + ": " + e.Message
}

// Classes that more than one place raises. The first four are Python's, the
// next Jinja's; the last two are ours and stand for no exception of Python.
const (
	TypeError      = "TypeError"
	ValueError     = "ValueError"
	OverflowError  = "OverflowError"
	RecursionError = "RecursionError"

	UndefinedError       = "UndefinedError"
	SecurityError        = "SecurityError"
	TemplateError        = "TemplateError"
	TemplateRuntimeError = "TemplateRuntimeError"
	FilterArgumentError  = "FilterArgumentError"

	// LimitError ends a render that used up its steps or grew too large.
	LimitError = "LimitError"
	// UnsupportedError ends a render whose text would not be the same twice
	// (random choices, addresses in memory), or that needs complex numbers or
	// sets.
	UnsupportedError = "UnsupportedError"
)

// Raise panics with an *Error.
func Raise(class, format string, args ...any) {
	panic(&Error{Class: class, Message: fmt.Sprintf(format, args...)})
}

// Catch runs f and returns the exception that it raised, or nil. Other panics
// pass through.
func Catch(f func()) (err *Error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	f()
	return nil
}
