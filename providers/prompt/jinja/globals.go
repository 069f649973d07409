package jinja

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/builtin"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// globals are the names that every template knows: Jinja's own, with the
// sandbox's range, and the two that transformers adds.
var globals = map[string]python.Value{
	"range":           builtin.Range,
	"dict":            builtin.Dict,
	"lipsum":          builtin.Lipsum,
	"cycler":          builtin.NewCycler,
	"joiner":          builtin.NewJoiner,
	"namespace":       builtin.NewNamespace,
	"raise_exception": raiseException,
	"strftime_now":    strftimeNow,
}

// raiseException is how a template refuses a conversation.
var raiseException = &python.Function{Kind: "function", Name: "raise_exception", Body: func(t *python.Thread, _ python.Value, a python.Args) python.Value {
	message := a.Bind("raise_exception", 1, "message")[0]
	python.Raise(python.TemplateError, "%s", python.Str(t, message))
	return nil
}}

// strftimeNow formats the time of the render.
var strftimeNow = &python.Function{Kind: "function", Name: "strftime_now", Body: func(t *python.Thread, _ python.Value, a python.Args) python.Value {
	format := a.Bind("strftime_now", 1, "format")[0]
	layout, ok := python.Text(format)
	if !ok {
		python.Raise(python.TypeError, "strftime() argument 1 must be str, not %s", python.TypeName(format))
	}
	return python.Strftime(t, t.Now(), layout)
}}
