package jinja

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// keywords are Python's reserved words. One of them as the name of an argument
// makes Jinja pass all named arguments as a dict.
var keywords = map[string]bool{}

func init() {
	for _, w := range []string{"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
		"elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
		"raise", "return", "try", "while", "with", "yield"} {
		keywords[w] = true
	}
}

// call compiles a call. With caller the call block's macro goes along as the
// argument caller.
func (c *compiler) call(n *syntax.Call, f frame, caller bool) expr {
	var extra []string
	if caller {
		extra = []string{"caller"}
	}
	if n.Callee == nil { // the generation tag prints its body
		return func(a *activation) python.Value { return called(a.t, a.caller, python.Args{}) }
	}
	callee := c.expr(n.Callee, f)
	args := c.args(n.Args, f, extra)
	return func(a *activation) python.Value {
		a.t.Step()
		v := callee(a)
		return called(a.t, v, args(a))
	}
}

// called calls f, which takes frames whatever f is.
func called(t *python.Thread, f python.Value, args python.Args) python.Value {
	t.Enter(callFrames)
	v := python.Call(t, f, args)
	t.Leave(callFrames)
	return v
}

// args compiles arguments in the order in which Python evaluates them: the
// positional ones, *star, the named ones, **starstar. extra names arguments
// that are added: caller.
func (c *compiler) args(n syntax.Args, f frame, extra []string) func(*activation) python.Args {
	if len(n.Pos)+len(n.Named)+len(extra) == 0 && n.Star == nil && n.StarStar == nil {
		return func(*activation) python.Args { return python.Args{} }
	}
	asDict := false
	for _, name := range n.Names {
		asDict = asDict || keywords[name]
	}
	if !asDict {
		noRepeats(append(append([]string(nil), n.Names...), extra...))
	}
	pos, named := c.exprs(n.Pos, f), c.exprs(n.Named, f)
	var star, starStar expr
	if n.Star != nil {
		star = c.expr(n.Star, f)
	}
	if n.StarStar != nil {
		starStar = c.expr(n.StarStar, f)
	}
	names := n.Names
	return func(a *activation) python.Args {
		args := python.Args{Pos: evaluate(a, pos)}
		if star != nil {
			args.Pos = append(args.Pos, starred(a.t, star(a))...)
		}
		if len(names) > 0 {
			args.Names, args.Named = names, evaluate(a, named)
		}
		if asDict {
			args = lastOfEach(args)
		}
		if len(extra) > 0 {
			args, _, _ = args.Without("caller") // as a dict would
			args = args.With("caller", a.caller)
		}
		if starStar != nil {
			args = doubleStarred(args, starStar(a), asDict)
		}
		return args
	}
}

// noRepeats refuses one name twice, as Python's compiler does.
func noRepeats(names []string) {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			python.Raise("SyntaxError", "keyword argument repeated: %s", name)
		}
		seen[name] = true
	}
}

// lastOfEach keeps the last value of a name that stands twice, as a dict does.
func lastOfEach(args python.Args) python.Args {
	d := args.Dict()
	out := python.Args{Pos: args.Pos}
	for i := range d.Len() {
		k, v := d.At(i)
		out = out.With(k.(string), v)
	}
	return out
}

func starred(t *python.Thread, v python.Value) []python.Value {
	if !python.CanIterate(t, v) {
		python.Raise(python.TypeError, "Value after * must be an iterable, not %s", python.TypeName(v))
	}
	return python.Collect(t, v)
}

// doubleStarred adds the items of the mapping v.
func doubleStarred(args python.Args, v python.Value, override bool) python.Args {
	d, ok := v.(*python.Dict)
	if !ok {
		if u, undefined := v.(*python.Undefined); undefined {
			u.Fail() // asked for its keys
		}
		python.Raise(python.TypeError, "argument after ** must be a mapping, not %s", python.TypeName(v))
	}
	for i := range d.Len() {
		k, value := d.At(i)
		name, ok := python.Text(k)
		if !ok {
			python.Raise(python.TypeError, "keywords must be strings")
		}
		if rest, _, found := args.Without(name); found {
			if !override {
				python.Raise(python.TypeError, "got multiple values for keyword argument '%s'", name)
			}
			args = rest
		}
		args = args.With(name, value)
	}
	return args
}
